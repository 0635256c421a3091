"""Runs through the stock SDK: deleted ones, strict answers, merged metadata, narrow streams."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import ConflictError, NotFoundError

from tests.contract.frames import Frame, read_frames


async def test_a_deleted_run_takes_its_checkpoints_along(
    client: LangGraphClient, thread_id: str
) -> None:
    runs = []
    for x in (1, 2):
        run = await client.runs.create(thread_id, "echo", input={"x": x})
        await client.runs.join(thread_id, run["run_id"])
        runs.append(run["run_id"])
    await client.runs.delete(thread_id, runs[1])
    state = await client.threads.get_state(thread_id)
    thread = await client.threads.get(thread_id)
    assert state["values"] == thread["values"] == {"x": 1, "y": 1}
    history = await client.threads.get_history(thread_id, limit=20)
    assert {past["metadata"]["run_id"] for past in history} == {runs[0]}
    assert [run["run_id"] for run in await client.runs.list(thread_id)] == [runs[0]]
    with pytest.raises(NotFoundError):
        await client.runs.delete(thread_id, runs[1])


async def test_a_deleted_run_takes_its_question_along(
    client: LangGraphClient, thread_id: str
) -> None:
    await client.runs.wait(thread_id, "echo", input={"x": 1})
    asks = await client.runs.create(thread_id, "hitl", input={"q": "sure?"})
    await client.runs.join(thread_id, asks["run_id"])
    assert (await client.threads.get(thread_id))["status"] == "interrupted"
    await client.runs.delete(thread_id, asks["run_id"])
    thread = await client.threads.get(thread_id)
    assert (thread["status"], thread["interrupts"]) == ("idle", {})


async def test_a_running_run_is_not_deleted(client: LangGraphClient, thread_id: str) -> None:
    run = await client.runs.create(thread_id, "slow", input={"delay": 30})
    async for part in client.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"):
        if part.event == "values":
            break
    with pytest.raises(ConflictError):
        await client.runs.delete(thread_id, run["run_id"])
    await client.runs.cancel(thread_id, run["run_id"], wait=True)
    await client.runs.delete(thread_id, run["run_id"])
    assert await client.runs.list(thread_id) == []


async def test_a_strict_answer_to_nothing_is_an_error_and_the_question_stays(
    client: LangGraphClient, http: httpx.AsyncClient, thread_id: str
) -> None:
    assert (await http.get("/info")).json()["flags"]["strict_resume"] is True
    await client.runs.wait(thread_id, "hitl", input={"q": "sure?"})
    wrong: Any = await client.runs.wait(
        thread_id,
        "hitl",
        command={"resume": {"f" * 32: "yes"}},
        strict_resume=True,
        raise_error=False,
    )
    assert wrong["__error__"]["error"] == "UnknownInterruptError"
    thread = await client.threads.get(thread_id)
    assert thread["status"] == "interrupted"
    [[question]] = thread["interrupts"].values()
    done: Any = await client.runs.wait(
        thread_id, "hitl", command={"resume": {question["id"]: "yes"}}, strict_resume=True
    )
    assert done["a"] == "yes"


async def test_metadata_come_from_the_assistant_the_thread_the_config_and_the_run(
    client: LangGraphClient,
) -> None:
    levels = ("assistant", "thread", "config", "run")
    # Each tells of itself and of all that count more.
    told = [dict.fromkeys(levels[number:], level) for number, level in enumerate(levels)]
    of_assistant, of_thread, of_config, of_run = told
    assistant = await client.assistants.create("echo", metadata=of_assistant)
    thread = await client.threads.create(metadata=of_thread)
    config: Any = {"metadata": of_config, "configurable": {"colour": "red"}}
    run = await client.runs.create(
        thread["thread_id"],
        assistant["assistant_id"],
        input={"x": 1},
        config=config,
        metadata=of_run,
    )
    ids = {"assistant_id": assistant["assistant_id"], "graph_id": "echo"}
    merged = {level: level for level in levels} | ids
    assert run["metadata"] == merged
    await client.runs.join(run["thread_id"], run["run_id"])
    state: Any = await client.threads.get_state(run["thread_id"])
    assert merged.items() <= state["metadata"].items()
    private = [key for key in state["metadata"] if key.startswith(("__", "langgraph_"))]
    assert private == []
    rest = state["metadata"].keys() - merged.keys()
    assert rest == {"source", "step", "parents", "run_id", "conversation_id", "colour"}
    found = await client.threads.get_history(run["thread_id"], metadata={"run": "run"})
    assert len(found) == 3
    assert (await client.threads.get(run["thread_id"]))["metadata"] == of_thread | ids


async def test_a_page_past_the_end_tells_how_many_there_are(
    client: LangGraphClient, http: httpx.AsyncClient
) -> None:
    mark = {"page": "past"}
    for _ in range(3):
        thread = await client.threads.create(metadata=mark)
        await client.assistants.create("echo", metadata=mark)
        await client.crons.create_for_thread(
            thread["thread_id"], "echo", schedule="0 0 1 1 *", input={}, metadata=mark
        )
    for path in ("/threads", "/assistants", "/runs/crons"):
        for offset, rows, following in ((0, 2, "2"), (2, 1, None), (3, 0, None), (99, 0, None)):
            body = {"metadata": mark, "limit": 2, "offset": offset}
            page = await http.post(f"{path}/search", json=body)
            assert len(page.json()) == rows
            assert page.headers["x-pagination-total"] == "3"
            assert page.headers.get("x-pagination-next") == following
        assert (await http.post(f"{path}/count", json={"metadata": mark})).json() == 3
    for cron in await client.crons.search(metadata=mark):
        await client.crons.delete(cron["cron_id"])


@pytest.fixture
async def told(http: httpx.AsyncClient, thread_id: str) -> tuple[str, list[Frame]]:
    """Where the stream of a finished run with a subgraph is, and all of its frames."""
    body = {
        "assistant_id": "subgraph",
        "input": {"x": 1},
        "stream_mode": ["values", "updates"],
        "stream_subgraphs": True,
    }
    made = await http.post(f"/threads/{thread_id}/runs/stream", json=body)
    return made.headers["location"].partition("?")[0], read_frames(made.content)


def event_parts(frames: list[Frame]) -> list[Frame]:
    return [f for f in frames if f.event.partition("|")[0] in ("values", "updates")]


async def test_a_stream_of_some_namespaces_shows_these_and_not_what_is_in_them(
    http: httpx.AsyncClient, told: tuple[str, list[Frame]]
) -> None:
    assert (await http.get("/info")).json()["flags"]["stream_namespaces"] is True
    path, frames = told
    spaces = sorted({frame.event.partition("|")[2] for frame in event_parts(frames)})
    assert len(spaces) > 1
    for space in spaces:
        again = await http.get(path, params={"namespace": space}, headers={"last-event-id": "-1"})
        shown = read_frames(again.content)
        assert event_parts(shown) == [
            f for f in event_parts(frames) if f.event.partition("|")[2] == space
        ]
        assert (shown[0].event, shown[-1].event) == ("metadata", "end")
        tail = await http.get(again.headers["location"], headers={"last-event-id": "-1"})
        assert event_parts(read_frames(tail.content)) == event_parts(shown)


async def test_a_page_that_shows_a_checkpoint_is_told_what_came_after_it(
    client: LangGraphClient, http: httpx.AsyncClient, told: tuple[str, list[Frame]], thread_id: str
) -> None:
    path, frames = told
    history = await client.threads.get_history(thread_id, limit=20)
    of_graph = [f for f in frames if f.event == "values"]
    for number, past in enumerate(reversed(history[: len(of_graph)])):
        assert past["values"] == of_graph[number].data
        shown = past["checkpoint"]["checkpoint_id"]
        query = {"checkpoint_id": shown, "stream_subgraphs": "true"}
        rest = await http.get(path, params=query, headers={"last-event-id": "-1"})
        cursor = of_graph[number].id
        assert cursor is not None
        assert read_frames(rest.content) == [f for f in frames if (f.id or 0) > cursor]
    foreign = await http.get(path, params={"checkpoint_id": "nobody's", "stream_subgraphs": "1"})
    assert read_frames(foreign.content) == frames


async def test_who_is_cut_off_before_the_first_frame_misses_nothing(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    """Such a client has no id to come back with, only the Location of the stream it asked for."""
    body = {"assistant_id": "echo", "input": {"x": 1}, "stream_mode": ["updates"]}
    made = await http.post(f"/threads/{thread_id}/runs/stream", json=body)
    frames = read_frames(made.content)
    again = await http.get(made.headers["location"])
    assert read_frames(again.content) == frames
    seen = {"last-event-id": str(frames[-2].id)}
    tail = await http.get(made.headers["location"], headers=seen)
    assert read_frames(tail.content) == frames[-1:]
