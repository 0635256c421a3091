"""Streams, waits and joins over HTTP, with an engine whose log the test writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from starlette.applications import Starlette

from langgraph_durable.model import RunStatus
from protocol_adapter.app import create_app
from tests.contract.frames import read_frames
from tests.protocol_adapter.asgi import Conversation
from tests.protocol_adapter.engine import ScriptedEngine
from tests.protocol_adapter.langgraph.samples import log, run

ECHO = b'{"assistant_id":"echo"}'
CREATED = ("created", {"run_id": "r1"})
DONE: tuple[str, Any] = ("end", {"status": "success", "error": None, "interrupts": []})
CANCELS = {"stream_modes": ["values"], "stream_subgraphs": False, "on_disconnect": "cancel"}


def app_of(engine: ScriptedEngine) -> Starlette:
    return create_app(cast(Any, engine), disconnect_grace_seconds=0)


@pytest.fixture
async def engine() -> AsyncIterator[ScriptedEngine]:
    engine = ScriptedEngine()
    yield engine
    await engine.drain()


async def test_a_stream_tells_where_to_go_on_and_whose_run_it_is(engine: ScriptedEngine) -> None:
    await engine.write(*log(CREATED, ("values", {"x": 1}), DONE))
    async with Conversation(app_of(engine), "POST", "/threads/t1/runs/stream", ECHO) as talk:
        assert talk.headers["content-location"] == "/threads/t1/runs/r1"
        query = "stream_mode=values&last_event_id=-1"
        assert talk.headers["location"] == f"/threads/t1/runs/r1/stream?{query}"
        frames = read_frames(await talk.rest())
    assert [frame.event for frame in frames] == ["metadata", "values", "end"]
    assert talk.ended


async def test_events_that_are_there_together_travel_together(engine: ScriptedEngine) -> None:
    await engine.write(*log(CREATED, *[("values", n) for n in range(50)], DONE))
    async with Conversation(app_of(engine), "POST", "/threads/t1/runs/stream", ECHO) as talk:
        assert len(read_frames(await talk.chunk() or b"")) == 52


async def test_paths_never_carry_the_mount_prefix() -> None:
    engine = ScriptedEngine(mount_prefix="/api")
    await engine.write(*log(CREATED, DONE))
    async with Conversation(app_of(engine), "POST", "/api/threads/t1/runs/stream", ECHO) as talk:
        assert talk.status == 200
        assert talk.headers["location"].startswith("/threads/t1/runs/r1/stream?")


async def test_a_draining_server_ends_a_stream_without_end(engine: ScriptedEngine) -> None:
    await engine.write(*log(CREATED))
    async with Conversation(app_of(engine), "POST", "/threads/t1/runs/stream", ECHO) as talk:
        first = read_frames(await talk.chunk() or b"")
        await engine.drain()
        assert await talk.rest() == b""
    assert [frame.event for frame in first] == ["metadata"]
    assert talk.ended


async def test_a_stateless_stream_looks_cut_off_by_a_drain(engine: ScriptedEngine) -> None:
    async with Conversation(app_of(engine), "POST", "/runs/stream", ECHO) as talk:
        query = "stream_mode=values&last_event_id=-1"
        assert talk.headers["location"] == f"/runs/r1/stream?{query}"
        assert talk.headers["content-location"] == "/runs/r1"
        await engine.drain()
        assert await talk.rest() == b""
    assert not talk.ended


async def test_a_wait_cut_short_by_a_drain_looks_cut_off(engine: ScriptedEngine) -> None:
    async with Conversation(app_of(engine), "POST", "/threads/t1/runs/wait", ECHO) as talk:
        assert talk.headers["location"] == "/threads/t1/runs/r1/join"
        await engine.drain()
        assert await talk.rest() == b""
    assert not talk.ended


async def test_a_wait_answers_the_last_values(engine: ScriptedEngine) -> None:
    async with Conversation(app_of(engine), "POST", "/threads/t1/runs/wait", ECHO) as talk:
        engine.the_run = run()
        await engine.write(*log(CREATED, DONE))
        assert await talk.rest() == b'{"x":1}'


async def test_a_live_join_starts_after_what_the_log_holds(engine: ScriptedEngine) -> None:
    engine.the_run = run(status=RunStatus.RUNNING, next_seq=2)
    events = log(CREATED, ("values", 1), ("values", 2), DONE)
    await engine.write(*events[:2])
    async with Conversation(app_of(engine), "GET", "/threads/t1/runs/r1/stream") as talk:
        await engine.write(*events[2:])
        frames = read_frames(await talk.rest())
    assert [frame.data for frame in frames[:-1]] == [2]


async def test_a_reconnect_gets_exactly_what_it_missed(engine: ScriptedEngine) -> None:
    engine.the_run = run(status=RunStatus.RUNNING, next_seq=3)
    await engine.write(*log(CREATED, ("values", 1), ("values", 2), DONE))
    path = "/threads/t1/runs/r1/stream?stream_mode=values"
    async with Conversation(app_of(engine), "GET", path, last_event_id="1") as talk:
        frames = read_frames(await talk.rest())
    assert [frame.id for frame in frames] == [2, 3]


async def test_growing_messages_go_on_growing_after_a_reconnect(engine: ScriptedEngine) -> None:
    engine.the_run = run(status=RunStatus.RUNNING, next_seq=3)
    words = [("messages", [{"type": "AIMessageChunk", "content": w, "id": "m"}, {}]) for w in "ab"]
    await engine.write(*log(CREATED, *words, DONE))
    path = "/threads/t1/runs/r1/stream?stream_mode=messages"
    async with Conversation(app_of(engine), "GET", path, last_event_id="1") as talk:
        first, _ = read_frames(await talk.rest())
    assert first.data[0]["content"] == "ab"


async def test_a_cursor_at_the_end_of_a_finished_run_gets_nothing() -> None:
    engine = ScriptedEngine(run(next_seq=3))
    path = "/threads/t1/runs/r1/stream"
    async with Conversation(app_of(engine), "GET", path, last_event_id="2") as talk:
        assert await talk.rest() == b""
    assert talk.ended


async def test_a_client_that_hangs_up_ends_the_run_it_asked_to_end(engine: ScriptedEngine) -> None:
    engine.the_run = run(status=RunStatus.RUNNING, request=CANCELS)
    async with Conversation(app_of(engine), "POST", "/threads/t1/runs/stream", ECHO) as talk:
        await asyncio.wait_for(engine.followed.wait(), 5)
        await talk.hang_up()
    await asyncio.wait_for(engine.cancelled.wait(), 5)
    assert engine.left.is_set()


async def test_a_client_that_hangs_up_on_a_wait_ends_its_run_too(engine: ScriptedEngine) -> None:
    engine.the_run = run(status=RunStatus.RUNNING, request=CANCELS)
    async with Conversation(app_of(engine), "POST", "/threads/t1/runs/wait", ECHO) as talk:
        await asyncio.wait_for(engine.followed.wait(), 5)
        await talk.hang_up()
    await asyncio.wait_for(engine.cancelled.wait(), 5)


async def test_a_joiner_may_ask_for_the_same(engine: ScriptedEngine) -> None:
    path = "/threads/t1/runs/r1/stream?cancel_on_disconnect=1"
    async with Conversation(app_of(engine), "GET", path) as talk:
        await asyncio.wait_for(engine.followed.wait(), 5)
        await talk.hang_up()
    await asyncio.wait_for(engine.cancelled.wait(), 5)


async def test_a_cancel_is_accepted_at_once_or_waits_for_the_end(engine: ScriptedEngine) -> None:
    """aegra#528: a cancel that waits was answered while the run was still at work."""
    app = app_of(engine)
    async with Conversation(app, "POST", "/threads/t1/runs/r1/cancel") as talk:
        assert (talk.status, await talk.rest()) == (202, b"")
    assert engine.cancelled.is_set()
    async with Conversation(app, "POST", "/threads/t1/runs/r1/cancel?wait=1") as talk:
        engine.the_run = run(status=RunStatus.INTERRUPTED)
        await engine.write(*log(CREATED, DONE))
        assert (talk.status, await talk.rest()) == (200, b"{}")
        assert talk.headers["location"] == "/threads/t1/runs/r1/join"


async def test_another_cancel_is_refused(engine: ScriptedEngine) -> None:
    path = "/threads/t1/runs/r1/cancel?action=zzz"
    async with Conversation(app_of(engine), "POST", path) as talk:
        assert talk.status == 422
    assert not engine.cancelled.is_set()


@pytest.mark.parametrize(
    "query",
    ["stream_mode=nope", "stream_subgraphs=perhaps"],
)
async def test_a_join_refuses_what_it_cannot_do(engine: ScriptedEngine, query: str) -> None:
    path = f"/threads/t1/runs/r1/stream?{query}"
    async with Conversation(app_of(engine), "GET", path) as talk:
        assert talk.status == 422


@pytest.mark.parametrize(
    "query",
    [
        "stream_mode=values&stream_mode=custom",
        "stream_mode=values,custom",
        'stream_mode=["values","custom"]',
    ],
)
async def test_a_filter_has_three_spellings(engine: ScriptedEngine, query: str) -> None:
    path = f"/threads/t1/runs/r1/stream?{query}"
    async with Conversation(app_of(engine), "GET", path) as talk:
        assert talk.headers["location"].endswith("?stream_mode=custom&stream_mode=values")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/threads/t1/runs/r1/stream"), ("POST", "/threads/t1/runs/stream")]
)
async def test_namespaces_are_shown_alone_and_survive_a_reconnect(
    engine: ScriptedEngine, method: str, path: str
) -> None:
    parts = [
        ("values", 1),
        ("values|child:1", 2),
        ("values|child:1|deep:2", 3),
        ("values|other", 4),
    ]
    await engine.write(*log(CREATED, *parts, DONE))
    path += "?namespace=child%3A1&namespace="
    for _ in range(2):
        async with Conversation(app_of(engine), method, path, ECHO) as talk:
            frames = read_frames(await talk.rest())
            again = talk.headers["location"]
        assert [frame.data for frame in frames if "values" in frame.event] == [1, 2]
        assert "runs/r1/stream?stream_mode=values&namespace=&namespace=child%3A1" in again
        method, path = "GET", again


async def test_a_reader_goes_on_behind_the_checkpoint_it_shows(engine: ScriptedEngine) -> None:
    engine.the_run = run(status=RunStatus.RUNNING, next_seq=5)
    await engine.write(*log(CREATED, *[("values", n) for n in range(4)], DONE))
    engine.checkpoints["c2"] = 3

    async def read(checkpoint_id: str, **cursor: str) -> list[Any]:
        path = f"/threads/t1/runs/r1/stream?checkpoint_id={checkpoint_id}"
        async with Conversation(app_of(engine), "GET", path, **cursor) as talk:
            assert talk.headers["location"].endswith(f"checkpoint_id={checkpoint_id}")
            frames = read_frames(await talk.rest())
        return [frame.data for frame in frames if frame.event == "values"]

    assert await read("c2") == [3]
    assert await read("c2", last_event_id="-1") == [3]
    assert await read("c2", last_event_id="1") == [1, 2, 3]
    assert await read("c9", last_event_id="-1") == [0, 1, 2, 3]
