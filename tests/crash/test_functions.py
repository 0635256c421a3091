"""A plain async function as the agent, served like any graph, at every door and through a crash."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import openai
import pytest

from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.crash.test_kill_responses import Stock, kinds, rest, stock
from tests.logs import query
from tests.servers import Server, until

__all__ = ["stock"]

THREAD = "function"
ASK: Any = {"messages": [{"role": "user", "content": "one"}]}
RESULTS = "SELECT task_id FROM checkpoint_writes WHERE channel = '__return__'"
STRATEGIES = ["agent_session", "event_log"]


def served(crash_server: CrashServer, strategy: str) -> Server:
    both = f"function={strategy},asking_function={strategy}"
    return crash_server(recovery_by_graph=both).start()


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_its_finished_tasks_and_its_memory_outlive_a_crash(
    strategy: str, crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str
) -> None:
    server = served(crash_server, strategy)
    client = sdk(server.url)
    await client.threads.create(thread_id=THREAD)
    gates.open("work")
    first = await client.runs.wait(THREAD, "function", input=ASK)
    assert first["remembered"] == ["ONE!"]
    (gates.folder / "work.open").unlink()
    gates.close("work")

    run = await client.runs.create(THREAD, "function", input=ASK, stream_mode=["custom"])
    gates.reached("work")
    until(lambda: len(query(database_url, RESULTS)) == 3, "the result of prepare is durable")
    server.kill()
    gates.open("work")
    server.start()
    await client.runs.join(THREAD, run["run_id"])

    again = strategy == "event_log"
    state = await client.threads.get_state(THREAD)
    assert state["values"]["remembered"] == ["ONE!", "ONE!"]
    assert state["values"]["messages"][0]["content"] == "Well: ONE!"
    assert {name: gates.count(name) for name in ("loop", "prepare", "work")} == {
        "loop": 3,
        "prepare": 3 if again else 2,
        "work": 3,
    }
    assert gates.count("loop was told of a crash") == int(again)
    assert (await client.runs.get(THREAD, run["run_id"]))["status"] == "success"
    frames = [f async for f in client.runs.join_stream(THREAD, run["run_id"], last_event_id="-1")]
    assert {"type": "progress", "at": "work"} in [f.data for f in frames if f.event == "custom"]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_what_it_writes_is_a_response_word_by_word(
    strategy: str, crash_server: CrashServer, gates: Gates, stock: Stock
) -> None:
    server = served(crash_server, strategy)
    client = stock(server)
    told: list[dict[str, Any]] = []
    stream = await client.responses.create(
        model="function", input="one", conversation=THREAD, background=True, stream=True
    )
    async for event in stream:
        told.append(event.to_dict())
        if event.type == "response.output_text.delta":
            break
    await stream.close()
    gates.reached("work")
    server.kill()
    gates.open("work")
    server.start()

    whole = [*told, *await rest(client, told)]

    assert [frame["sequence_number"] for frame in whole] == list(range(len(whole)))
    assert kinds(whole).count("resumed") == 1
    behind = whole[kinds(whole).index("resumed") :]
    deltas = [f["delta"] for f in behind if f["type"] == "response.output_text.delta"]
    assert deltas == ["Well: ", "ONE!"]
    last = whole[-1]["response"]
    assert [item["content"][0]["text"] for item in last["output"]] == ["Well: ONE!"]
    stored = await client.responses.retrieve(told[0]["response"]["id"])
    assert stored.to_dict() == last
    turn = await client.responses.create(model="function", input="two", conversation=THREAD)
    assert turn.output_text == "Well: TWO!"


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_it_asks_a_person_and_goes_on_behind_the_answer(
    strategy: str, crash_server: CrashServer, gates: Gates, stock: Stock, sdk: Sdk
) -> None:
    server = served(crash_server, strategy)
    client: openai.AsyncOpenAI = stock(server)
    asked = await client.responses.create(model="asking_function", input="one", conversation=THREAD)
    [question] = asked.output
    server.kill()
    server.start()
    yes: Any = {
        "type": "mcp_approval_response",
        "approval_request_id": question.id,
        "approve": True,
    }
    answered = await client.responses.create(
        model="asking_function", input=[yes], conversation=THREAD, background=True
    )
    gates.reached("work")
    server.kill()
    gates.open("work")
    server.start()

    run_id = answered.id.removeprefix("resp_")
    langgraph = sdk(server.url)
    await langgraph.runs.join(THREAD, str(UUID(run_id)))
    done = await client.responses.retrieve(answered.id)
    assert (done.status, done.output_text) == ("completed", "ONE!")
    assert gates.count("work") == 2
    found = await langgraph.threads.get(THREAD)
    assert (found["status"], found["interrupts"]) == ("idle", {})
