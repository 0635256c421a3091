"""Answers that stay open: heartbeats, hanging up, and how a stream stops early."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from protocol_adapter import sse
from protocol_adapter.sse import StreamCut, event_stream, frame, json_when_ready
from tests.protocol_adapter.asgi import Conversation


async def chunks_of(*chunks: bytes, cut: bool = False) -> AsyncGenerator[bytes, None]:
    for chunk in chunks:
        yield chunk
    if cut:
        raise StreamCut


class Silence:
    """A stream that says nothing and knows when it was closed."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        try:
            await asyncio.Event().wait()
            yield b""
        finally:
            self.closed.set()


def test_a_frame_is_event_data_id_with_carriage_returns() -> None:
    assert frame("values", "{}", event_id=3) == b"event: values\r\ndata: {}\r\nid: 3\r\n\r\n"
    assert frame("values", "{}", eol="\n") == b"event: values\ndata: {}\n\n"


async def test_a_stream_is_not_cached_not_buffered_and_utf8() -> None:
    answer = event_stream(chunks_of(b"a", b"b"), headers={"Location": "/here"})
    async with Conversation(answer, "GET", "/") as talk:
        assert talk.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert talk.headers["cache-control"] == "no-store"
        assert talk.headers["x-accel-buffering"] == "no"
        assert talk.headers["location"] == "/here"
        assert await talk.rest() == b"ab"
        assert talk.ended


async def test_a_silent_stream_sends_heartbeats() -> None:
    silence = Silence()
    answer = event_stream(silence.chunks(), heartbeat=b": hb\n\n", interval_seconds=0.01)
    async with Conversation(answer, "GET", "/") as talk:
        assert [await talk.chunk(), await talk.chunk()] == [b": hb\n\n"] * 2


async def test_a_client_that_hangs_up_closes_the_iterator() -> None:
    silence = Silence()
    async with Conversation(event_stream(silence.chunks()), "GET", "/") as talk:
        await talk.hang_up()
        await asyncio.wait_for(silence.closed.wait(), 5)


@pytest.mark.parametrize("interval", [0.01, 60.0], ids=["at a heartbeat", "at a frame"])
async def test_a_client_that_stops_reading_is_given_up(
    monkeypatch: pytest.MonkeyPatch, interval: float
) -> None:
    """It keeps its connection, but nothing is held for it any longer."""
    monkeypatch.setattr(sse, "STALLED_SECONDS", 0.05)
    closed = asyncio.Event()

    async def frames() -> AsyncGenerator[bytes, None]:
        try:
            while interval > 1:
                yield b"frame"
            await asyncio.Event().wait()
            yield b""
        finally:
            closed.set()

    talk = Conversation(event_stream(frames(), interval_seconds=interval), "GET", "/", room=1)
    async with talk:
        await asyncio.wait_for(closed.wait(), 5)
    assert not talk.ended


async def test_a_stream_that_stops_early_ends_its_body() -> None:
    async with Conversation(event_stream(chunks_of(b"a", cut=True)), "GET", "/") as talk:
        assert await talk.rest() == b"a"
        assert talk.ended


async def test_a_stream_may_rather_look_cut_off() -> None:
    answer = event_stream(chunks_of(b"a", cut=True), close_cleanly=False)
    async with Conversation(answer, "GET", "/") as talk:
        assert await talk.rest() == b"a"
        assert not talk.ended


async def test_json_answers_its_head_at_once_and_line_feeds_until_it_is_ready() -> None:
    answer = json_when_ready(text_after(asyncio.Event()), interval_seconds=0.01)
    async with Conversation(answer, "GET", "/") as talk:
        assert talk.headers["content-type"] == "application/json"
        assert [await talk.chunk(), await talk.chunk()] == [b"\n"] * 2


async def test_json_ends_its_body_with_its_text() -> None:
    ready = asyncio.Event()
    async with Conversation(json_when_ready(text_after(ready)), "GET", "/") as talk:
        ready.set()
        assert await talk.rest() == b"{}"
        assert talk.ended


async def text_after(ready: asyncio.Event) -> bytes:
    await ready.wait()
    return b"{}"


async def text_cut_off() -> bytes:
    raise StreamCut


async def test_json_that_never_got_ready_looks_cut_off() -> None:
    async with Conversation(json_when_ready(text_cut_off()), "GET", "/") as talk:
        assert await talk.rest() == b""
        assert not talk.ended
