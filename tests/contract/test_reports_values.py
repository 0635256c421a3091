"""Values that are no JSON, and values that change under the server's hands, as users reported.

What arrives is read by orjson, which is as strict as browsers are: NaN is no JSON to it.
"""

from __future__ import annotations

import asyncio
import threading
from datetime import date, datetime
from typing import Any
from uuid import UUID

import httpx
import orjson
import psycopg
import pytest
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict

from langgraph_durable.model import RunRequest
from langgraph_durable.serde import encode
from tests.conftest import MakeEngine
from tests.contract.frames import read_frames
from tests.logs import read_log

NUMBER = "12345678-1234-5678-1234-567812345678"
NOON = "2026-02-03T12:00:00.010000+00:00"


ON_THE_WIRE: dict[str, Any] = {
    "nan": None,
    "infinity": [None, None],
    "bytes": "AP8=",
    "bytes as keys": {"a2V5": "dmFsdWU="},
    "uuid": {"id": NUMBER, NUMBER: 1},
    "times": [NOON, "2026-02-03", "01:02:03", 90.0],
    "decimal": [1.5, 3, None],
    "enum": {"colour": "red", "red": 1},
    "set": [[1], [2]],
    "dataclass": {"text": "hi", "when": NOON},
    "pydantic": {"name": "Ada", "born": "1815-12-10"},
    "namedtuple": {"left": 1, "right": "Mg=="},
    "path": "/a/b",
    "large": [-(2**63), 2**64 - 1],
    "text": "a\ufffdb\u2028c😀",
}


@pytest.mark.parametrize("kind", ON_THE_WIRE)
async def test_a_value_that_is_no_json_reads_the_same_everywhere_and_breaks_nothing(
    http: httpx.AsyncClient, kind: str
) -> None:
    """CopilotKit#3851, azure-functions-langgraph-python#188, ragflow#14152: NaN was no JSON.

    aegra#451, #453: bytes broke every read. langchain-ai/langgraph#4181, #4184: UUIDs did.
    """
    value = ON_THE_WIRE[kind]
    thread = (await http.post("/threads", json={})).json()["thread_id"]
    body = {
        "assistant_id": "odd",
        "input": {"kind": kind},
        "stream_mode": ["values", "updates", "custom", "tasks", "checkpoints", "debug"],
    }
    streamed = await http.post(f"/threads/{thread}/runs/stream", json=body)
    told = [(frame.event, frame.data) for frame in read_frames(streamed.content)]
    kept = {"kind": kind, "value": value}
    assert told[-1][1]["status"] == "success"
    assert ("custom", {"value": value}) in told
    assert ("updates", {"keep": {"value": value}}) in told
    assert ("values", kept) in told
    [asked] = next(data["__interrupt__"] for _, data in told if "__interrupt__" in data)
    assert asked["value"] == {"value": value}

    at = f"/threads/{thread}"
    for read in (await http.get(at), await http.get(f"{at}/state")):
        assert orjson.loads(read.text)["values"] == kept
        assert "NaN" not in read.text
    state = orjson.loads((await http.get(f"{at}/state")).text)
    assert state["interrupts"] == [{"id": asked["id"], "value": {"value": value}}]
    assert state["metadata"]["share"] is None  # the graph's own metadata are no JSON either
    history = orjson.loads((await http.post(f"{at}/history", json={})).text)
    assert history[0]["values"] == kept

    done = await http.post(
        f"{at}/runs/wait", json={"assistant_id": "odd", "command": {"resume": "yes"}}
    )
    assert orjson.loads(done.text) == {**kept, "answer": "yes"}


class Patient(BaseModel):
    who: UUID
    born: date
    seen: list[str] = []


async def test_a_typed_state_keeps_what_was_sent_and_ids_in_metadata_become_text(
    make_engine: MakeEngine, database_url: str
) -> None:
    """langchain-ai/langgraph#4181, #4184: an id that is no text was the end of the run."""

    async def look(state: Patient) -> dict[str, Any]:
        return {"seen": [type(state.who).__name__, type(state.born).__name__]}

    engine = await make_engine(StateGraph(Patient).add_node(look).add_edge(START, "look").compile())
    given = {"who": UUID(NUMBER), "born": date(1815, 12, 10)}
    run = await engine.submit(
        RunRequest(
            assistant="agent",
            thread_id="t",
            if_not_exists="create",
            input=given,
            metadata={"tenant": UUID(NUMBER)},
            config={"metadata": {"since": datetime.fromisoformat(NOON)}},
        )
    )
    run = await engine.wait(run.run_id)
    sent = {"who": NUMBER, "born": "1815-12-10"}
    kept = {**sent, "seen": ["UUID", "date"]}
    assert (run.status, run.error) == ("success", None)
    assert (run.metadata["tenant"], run.metadata["since"]) == (NUMBER, NOON)
    told = [orjson.loads(e.data) for e in read_log(database_url, run.run_id) if e.name == "values"]
    assert told == [sent, kept]
    state = await engine.state("t")
    assert orjson.loads(encode(state.values)) == kept
    assert state.metadata["tenant"] == NUMBER


class Shared(TypedDict, total=False):
    value: Any


async def test_what_a_node_changes_after_it_was_emitted_is_logged_as_it_was_emitted(
    make_engine: MakeEngine, database_url: str
) -> None:
    """Even when nothing can be committed before the change.

    langchain-ai/langgraph#4168: what was changed meanwhile was written half old, half new.
    """
    reached, locked, changed = threading.Event(), threading.Event(), threading.Event()

    async def emit(state: Shared) -> Shared:
        note = {"n": 1}
        reached.set()
        await asyncio.to_thread(locked.wait, 10)
        get_stream_writer()(note)
        await asyncio.sleep(0.05)
        note["n"] = 2
        changed.set()
        return {"value": 1}

    graph = StateGraph(Shared).add_node("emit", emit).add_edge(START, "emit").compile()
    engine = await make_engine(graph)
    run = await engine.submit(RunRequest(assistant="agent", input={"value": 0}))
    await asyncio.to_thread(reached.wait, 10)

    await asyncio.to_thread(while_nothing_commits, database_url, locked, changed)

    assert (await engine.wait(run.run_id)).status == "success"
    custom = [event.data for event in read_log(database_url, run.run_id) if event.name == "custom"]
    assert custom == ['{"n":1}']


def while_nothing_commits(
    database_url: str, locked: threading.Event, changed: threading.Event
) -> None:
    with psycopg.connect(database_url) as conn:
        conn.execute("LOCK TABLE langgraph_durable.events IN EXCLUSIVE MODE")
        locked.set()
        assert changed.wait(10)


async def test_state_that_grows_while_it_is_saved_is_saved_whole(make_engine: MakeEngine) -> None:
    """langchain-ai/langgraph#4168: a checkpoint was corrupt when its state changed meanwhile."""
    grown: list[int] = []
    tasks: list[asyncio.Task[None]] = []

    async def grow() -> None:
        for number in range(300):
            grown.append(number)
            await asyncio.sleep(0)

    async def share(state: Shared) -> Shared:
        tasks.append(asyncio.create_task(grow()))
        await asyncio.sleep(0)
        return {"value": grown}

    async def look(state: Shared) -> Shared:
        await tasks[0]
        return {}

    builder = StateGraph(Shared).add_sequence([("share", share), ("look", look)])
    engine = await make_engine(builder.add_edge(START, "share").compile())
    run = await engine.submit(
        RunRequest(assistant="agent", thread_id="t", if_not_exists="create", input={"value": []})
    )
    assert (await engine.wait(run.run_id)).status == "success"
    for snapshot in await engine.history("t"):
        held = snapshot.values.get("value", [])
        assert held == list(range(len(held)))
