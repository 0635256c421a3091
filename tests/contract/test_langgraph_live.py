"""The stock Python client against a run in progress: cancel, queue, join, cut, answer."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import ConflictError
from langgraph_sdk.schema import StreamPart

STEPS = ["1", "2", "3", "4", "5"]
SLOW = {"delay": 0.3}


async def begun(client: LangGraphClient, thread_id: str, graph: str = "slow") -> str:
    """The id of a run that has finished its first node and is still at work."""
    run = await client.runs.create(thread_id, graph, input=SLOW, stream_mode=["updates"])
    async for part in client.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"):
        if part.event == "updates":
            break
    return str(run["run_id"])


async def collect(parts: Any) -> list[StreamPart]:
    return [part async for part in parts]


def names(parts: list[StreamPart]) -> list[str]:
    return [part.event for part in parts]


@pytest.mark.parametrize("wait", [False, True])
async def test_a_cancelled_run_stops_keeps_its_steps_and_can_go_on(
    client: LangGraphClient, thread_id: str, wait: bool
) -> None:
    run_id = await begun(client, thread_id)
    watching = asyncio.create_task(collect(client.runs.join_stream(thread_id, run_id)))
    await client.runs.cancel(thread_id, run_id, wait=wait)
    done: Any = await client.runs.join(thread_id, run_id)
    parts = await watching
    assert (await client.runs.get(thread_id, run_id))["status"] == "interrupted"
    assert parts[-1].data == {"run_id": run_id, "status": "interrupted"}
    assert "error" not in names(parts)
    assert (await client.threads.get(thread_id))["status"] == "interrupted"
    steps = len(done["steps"])
    assert (await client.threads.get_state(thread_id))["next"] == [f"n{steps + 1}"]
    went_on: Any = await client.runs.wait(thread_id, "slow")
    assert went_on["steps"] == STEPS


async def test_a_waiting_run_is_cancelled_before_it_starts(
    client: LangGraphClient, thread_id: str
) -> None:
    first = await begun(client, thread_id)
    second = (await client.runs.create(thread_id, "slow", input=SLOW))["run_id"]
    await client.runs.cancel(thread_id, second)
    assert (await client.runs.get(thread_id, second))["status"] == "interrupted"
    assert (await client.runs.join(thread_id, first))["steps"] == STEPS


async def test_runs_of_a_thread_wait_for_each_other_in_order(
    client: LangGraphClient, thread_id: str
) -> None:
    first = await begun(client, thread_id)
    second = await client.runs.create(thread_id, "slow", input={"tag": "b", "delay": 0})
    assert second["status"] == "pending"
    assert (await client.threads.get(thread_id))["status"] == "busy"
    done: Any = await client.runs.join(thread_id, second["run_id"])
    assert done["steps"] == [*STEPS, *[f"b{step}" for step in STEPS]]
    assert (await client.runs.get(thread_id, first))["status"] == "success"
    listed = await client.runs.list(thread_id)
    assert [run["run_id"] for run in listed] == [second["run_id"], first]


async def test_a_busy_thread_refuses_what_would_get_in_its_way(
    client: LangGraphClient, thread_id: str
) -> None:
    run_id = await begun(client, thread_id)
    with pytest.raises(ConflictError, match="already running a task"):
        await client.runs.create(thread_id, "slow", input=SLOW, multitask_strategy="reject")
    with pytest.raises(ConflictError):
        await client.threads.update_state(thread_id, {"tag": "z"})
    with pytest.raises(ConflictError):
        await client.runs.delete(thread_id, run_id)
    await client.runs.cancel(thread_id, run_id, wait=True)


async def test_a_joiner_sees_what_happens_from_now_on(
    client: LangGraphClient, thread_id: str
) -> None:
    run_id = await begun(client, thread_id)
    parts = await collect(client.runs.join_stream(thread_id, run_id))
    assert "metadata" not in names(parts)
    assert {"n1": {"steps": ["1"]}} not in [part.data for part in parts]
    assert parts[-2].data == {"n5": {"steps": ["5"]}}
    assert parts[-1].event == "end"


@pytest.mark.parametrize("mode", ["updates", "messages", "messages-tuple"])
async def test_every_cut_of_a_stream_can_be_healed(
    client: LangGraphClient, thread_id: str, mode: Any
) -> None:
    asked: Any = {"messages": [{"role": "user", "content": "add"}]}
    made: list[Any] = []
    whole = await collect(
        client.runs.stream(
            thread_id, "agent", input=asked, stream_mode=[mode], on_run_created=made.append
        )
    )
    cursors = list(dict.fromkeys(part.id for part in whole if part.id))
    assert len(cursors) > 4
    for cursor in cursors:
        last = next(i for i, part in enumerate(whole) if part.id == cursor)
        rest = await collect(
            client.runs.join_stream(thread_id, made[0]["run_id"], last_event_id=cursor)
        )
        assert [(p.event, p.data) for p in rest] == [(p.event, p.data) for p in whole[last + 1 :]]


async def test_a_client_that_walks_away_does_not_stop_its_run(
    client: LangGraphClient, thread_id: str
) -> None:
    made: list[Any] = []
    async for part in client.runs.stream(
        thread_id, "slow", input=SLOW, stream_mode="updates", on_run_created=made.append
    ):
        if part.event == "updates":
            break
    assert made[0]["thread_id"] == thread_id
    assert (await client.runs.join(thread_id, made[0]["run_id"]))["steps"] == STEPS


async def test_when_a_stream_ends_everything_shows_the_end(
    client: LangGraphClient, thread_id: str
) -> None:
    """langchain-ai/langgraph#6362, #6378: the stream asked, and the state held no question."""
    made: list[Any] = []
    await collect(
        client.runs.stream(thread_id, "hitl", input={"q": "ok?"}, on_run_created=made.append)
    )
    assert (await client.runs.get(thread_id, made[0]["run_id"]))["status"] == "success"
    thread = await client.threads.get(thread_id)
    assert thread["status"] == "interrupted"
    [[question]] = thread["interrupts"].values()
    assert question["value"] == {"question": "ok?"}
    assert (await client.threads.get_state(thread_id))["interrupts"] == [question]


async def test_two_questions_are_answered_by_their_ids(
    client: LangGraphClient, thread_id: str
) -> None:
    asked: Any = await client.runs.wait(thread_id, "two_questions", input={"answers": []})
    answers = {each["id"]: f"yes-{each['value']}" for each in asked["__interrupt__"]}
    assert len(answers) == 2
    done: Any = await client.runs.wait(thread_id, "two_questions", command={"resume": answers})
    assert sorted(done["answers"]) == ["left:yes-left", "right:yes-right"]


async def test_an_answer_of_false_is_an_answer(client: LangGraphClient, thread_id: str) -> None:
    await client.runs.wait(thread_id, "hitl", input={"q": "sure?"})
    done: Any = await client.runs.wait(thread_id, "hitl", command={"resume": False})
    assert done["a"] is False


async def test_a_stateless_stream_names_its_run_and_no_thread(client: LangGraphClient) -> None:
    made: list[Any] = []
    parts = await collect(
        client.runs.stream(None, "echo", input={"x": 3}, on_run_created=made.append)
    )
    assert names(parts) == ["metadata", "values", "values", "end"]
    assert made == [{"run_id": parts[0].data["run_id"], "thread_id": None}]


async def test_ids_of_another_protocol_name_threads_too(client: LangGraphClient) -> None:
    name = "conv_1::attempt-7"
    await client.threads.create(thread_id=name, if_exists="do_nothing")
    made: list[Any] = []
    await client.runs.wait(name, "echo", input={"x": 1}, on_run_created=made.append)
    assert made[0]["thread_id"] == name
    assert (await client.threads.get_state(name))["values"] == {"x": 1, "y": 1}


def test_the_sync_client_raises_what_a_run_raised(server: Any) -> None:
    with get_sync_client(url=server.url) as client:
        thread = client.threads.create()
        with pytest.raises(Exception, match="ValueError: boom"):
            client.runs.wait(thread["thread_id"], "boom", input={"x": 1})
        events = [part.event for part in client.runs.stream(None, "boom", input={"x": 1})]
    assert events[-2:] == ["error", "end"]


async def test_a_wait_has_its_head_before_its_result(server: Any, thread_id: str) -> None:
    body = {"assistant_id": "slow", "input": SLOW}
    async with (
        httpx.AsyncClient(base_url=server.url) as http,
        http.stream("POST", f"/threads/{thread_id}/runs/wait", json=body) as answer,
    ):
        location = answer.headers["location"]
        async with httpx.AsyncClient(base_url=server.url) as other:
            run = (await other.get(location.removesuffix("/join"))).json()
        assert run["status"] in ("pending", "running")
        await answer.aread()
    assert answer.json()["steps"] == STEPS
