"""A thread's own stream through the stock SDK: all of its runs, from any place on."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import NotFoundError

LIFECYCLE = {"channels": ["lifecycle", "input"]}


async def until_done(client: LangGraphClient, thread_id: str, runs: int, **more: Any) -> list[Any]:
    """Parts until that many runs are done."""
    parts: list[Any] = []
    stream: Any = client.threads.join_stream(thread_id, **more)
    async for part in stream if hasattr(stream, "__aiter__") else await stream:
        parts.append(part)
        done = [p for p in parts if p.event == "metadata" and p.data.get("status") == "run_done"]
        if len(done) == runs:
            break
    return parts


async def two_runs(client: LangGraphClient) -> str:
    thread_id = str((await client.threads.create())["thread_id"])
    for x in (1, 2):
        await client.runs.wait(thread_id, "echo", input={"x": x})
    return thread_id


async def test_it_replays_all_runs_and_goes_on_from_any_id(client: LangGraphClient) -> None:
    thread_id = await two_runs(client)
    whole = await until_done(client, thread_id, 2, last_event_id="-")
    assert [p.data["y"] for p in whole if p.event == "values" and "y" in p.data] == [1, 1, 2]
    ids = [p.id for p in whole]
    assert len(set(ids)) == len(ids)
    for place, part in enumerate(whole[:-1]):
        left = sum(1 for p in whole[place + 1 :] if p.data.get("status") == "run_done")
        rest = await until_done(client, thread_id, left, last_event_id=part.id)
        assert [(p.event, p.data, p.id) for p in rest] == [
            (p.event, p.data, p.id) for p in whole[place + 1 :]
        ]


async def test_without_an_id_it_shows_what_happens_from_now_on(client: LangGraphClient) -> None:
    thread_id = await two_runs(client)
    reading = asyncio.create_task(until_done(client, thread_id, 1))
    while not reading.done():
        await client.runs.wait(thread_id, "echo", input={"x": 7})
        await asyncio.wait([reading], timeout=0.3)
    values = [p.data for p in reading.result() if p.event == "values"]
    assert values[-1] == {"x": 7, "y": 7}


async def test_the_first_run_of_a_new_thread_is_seen_as_it_happens(
    client: LangGraphClient,
) -> None:
    thread_id = str((await client.threads.create())["thread_id"])
    opened = asyncio.Event()

    async def read() -> list[Any]:
        parts: list[Any] = []
        stream: Any = client.threads.join_stream(thread_id, headers={"accept": "text/event-stream"})
        opened.set()
        async for part in stream if hasattr(stream, "__aiter__") else await stream:
            parts.append(part)
            if part.event == "metadata" and part.data.get("status") == "run_done":
                break
        return parts

    reading = asyncio.create_task(read())
    await opened.wait()
    run = await client.runs.create(thread_id, "echo", input={"x": 4}, after_seconds=2)
    parts = await asyncio.wait_for(reading, 8)
    assert parts[0].data == {"run_id": run["run_id"], "attempt": 1}
    assert parts[-1].data == {"status": "run_done", "run_id": run["run_id"]}


async def test_lifecycle_and_state_updates(client: LangGraphClient) -> None:
    thread_id = await two_runs(client)
    modes: Any = ["lifecycle", "state_update"]
    parts = await until_done(client, thread_id, 2, stream_mode=modes, last_event_id="-")
    assert [p.event for p in parts] == [
        *("metadata", "metadata", "state_update"),
        *("metadata", "metadata"),
    ]


async def test_a_thread_nobody_knows_has_no_stream(client: LangGraphClient) -> None:
    with pytest.raises(NotFoundError):
        await until_done(client, "nobody", 1)


@pytest.mark.parametrize("name", ["stream_mode", "stream_modes"])
@pytest.mark.parametrize("form", ["comma", "repeated"])
async def test_what_it_shows_is_asked_for_by_either_name(
    client: LangGraphClient, http: httpx.AsyncClient, name: str, form: str
) -> None:
    thread_id = await two_runs(client)
    modes = ["lifecycle,state_update"] if form == "comma" else ["lifecycle", "state_update"]
    asked = {"params": {name: modes}, "headers": {"last-event-id": "-"}}
    told: list[str] = []
    async with http.stream("GET", f"/threads/{thread_id}/stream", **asked) as answer:
        assert answer.headers["location"].endswith(
            "?stream_mode=lifecycle&stream_mode=state_update"
        )
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                told.append(line[7:])
            if len(told) == 6:
                break
    assert told == ["metadata", "metadata", "state_update"] * 2


async def test_it_ends_with_its_thread(client: LangGraphClient) -> None:
    thread_id = await two_runs(client)
    done = 0
    stream: Any = client.threads.join_stream(thread_id, last_event_id="-")
    async with asyncio.timeout(5):
        async for part in stream if hasattr(stream, "__aiter__") else await stream:
            done += part.data.get("status") == "run_done"
            if done == 2:
                await client.threads.delete(thread_id)
    assert done == 2


async def test_protocol_events_are_cut_off_when_their_thread_is_deleted(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    waiting = http.stream("POST", f"/threads/{thread_id}/stream/events", json=LIFECYCLE)
    async with asyncio.timeout(5), waiting as answer:
        assert (await http.delete(f"/threads/{thread_id}")).status_code == 204
        with pytest.raises(httpx.RemoteProtocolError):
            await answer.aread()
