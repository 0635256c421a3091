"""Answers that stay open: server-sent events, and JSON that is not ready yet.

Thousands of clients may follow runs that say nothing for hours: an open answer is two tasks, and
keeps nothing of what it has sent. Chunks are bytes that hold whole frames, so several frames travel
in one send and nothing is encoded twice. Whoever makes the chunks ends them when the server drains.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

CRLF = "\r\n"
KEPT_BY_NOBODY = {"cache-control": "no-store", "x-accel-buffering": "no"}
"""An open answer must neither be stored nor be gathered by a proxy."""

LOOKS_SECONDS = 0.5
STALLED_SECONDS = 60.0
"""How long a client may leave what was sent to it unread."""


class StreamCut(Exception):
    """Raised by a chunk iterator that has to stop before its end, when the server drains."""


def frame(event: str, data: str, *, event_id: int | str | None = None, eol: str = CRLF) -> bytes:
    """One frame; ``data`` is text without line breaks. Without ``event_id`` it has no ``id:``."""
    tail = "" if event_id is None else f"id: {event_id}{eol}"
    return f"event: {event}{eol}data: {data}{eol}{tail}{eol}".encode()


def event_stream(
    chunks: AsyncGenerator[bytes, None],
    *,
    headers: Mapping[str, str] | None = None,
    heartbeat: bytes = b": heartbeat\r\n\r\n",
    interval_seconds: float = 5.0,
    close_cleanly: bool = True,
) -> Response:
    """Streams ``chunks``, each one or more whole frames, with ``heartbeat`` in between.

    The iterator is closed (cancelled where it waits) when the client hangs up or the server
    shuts down, so its ``finally`` blocks run. ``close_cleanly`` says what a client sees when the
    stream stops early (shutdown, :class:`StreamCut`): the end of the body, or a cut connection.
    """
    return _OpenAnswer(
        chunks, "text/event-stream", headers, heartbeat, interval_seconds, close_cleanly
    )


def json_when_ready(
    chunks: AsyncGenerator[bytes, None],
    *,
    headers: Mapping[str, str] | None = None,
    interval_seconds: float = 5.0,
) -> Response:
    """Status and headers at once, the JSON text of ``chunks`` later, line feeds meanwhile.

    An answer that stops early leaves a cut connection: half a JSON text must not look whole.
    """
    return _OpenAnswer(chunks, "application/json", headers, b"\n", interval_seconds, False)


class _OpenAnswer(Response):
    """Sends what comes, a sign of life meanwhile, and stops when nobody reads."""

    def __init__(
        self,
        chunks: AsyncGenerator[bytes, None],
        media_type: str,
        headers: Mapping[str, str] | None,
        heartbeat: bytes,
        interval_seconds: float,
        close_cleanly: bool,
    ) -> None:
        super().__init__(headers={**KEPT_BY_NOBODY, **(headers or {})}, media_type=media_type)
        del self.headers["content-length"]
        self.close_cleanly = close_cleanly
        self._chunks = chunks
        self._heartbeat = heartbeat
        self._interval_seconds = interval_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        gone = asyncio.create_task(_hung_up(receive))
        answers = _open_answers()
        answers.add(gone)
        try:
            ended = await self._send_all(send, gone)
            if ended or (self.close_cleanly and (gone.cancelled() or not gone.done())):
                await send(_body(b"", more=False))
        except TimeoutError:
            pass  # nothing more can be sent; whoever still lives comes back with its cursor
        finally:
            answers.discard(gone)
            await _cancelled(gone)

    async def _send_all(self, send: Send, gone: asyncio.Task[None]) -> bool:
        """Did the chunks come to their end? Raises TimeoutError when the client does not read."""
        async with aclosing(self._chunks) as chunks:
            reading = asyncio.create_task(_next(chunks))
            beat_at = time.monotonic() + self._interval_seconds
            try:
                while await _something_to_send(reading, gone, beat_at - time.monotonic()):
                    if not reading.done():
                        await _sent(send, self._heartbeat)
                        beat_at += self._interval_seconds
                    elif (chunk := reading.result()) is None:
                        return True
                    else:
                        await _sent(send, chunk)
                        del chunk
                        reading = asyncio.create_task(_next(chunks))
            except StreamCut:
                pass
            finally:
                await _cancelled(reading)
        return False


async def _something_to_send(
    reading: asyncio.Task[bytes | None], gone: asyncio.Task[None], seconds: float
) -> bool:
    """A chunk or, after so many seconds, a heartbeat; false when there is nobody to send to."""
    await asyncio.wait(
        {reading, gone}, timeout=max(seconds, 0), return_when=asyncio.FIRST_COMPLETED
    )
    return not gone.done()


Answers = set[asyncio.Task[None]]
_open: dict[asyncio.AbstractEventLoop, tuple[Answers, asyncio.Task[None]]] = {}


def _open_answers() -> Answers:
    """This loop's; they are let go when the server around us goes."""
    loop = asyncio.get_running_loop()
    if loop not in _open:
        answers: Answers = set()
        _open[loop] = answers, loop.create_task(_let_go(answers), name="open-answers")
    return _open[loop][0]


async def _let_go(answers: Answers) -> None:
    """Uvicorn waits for open answers before it tells the app that it goes: they must end first."""
    try:
        while not _server_goes():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(LOOKS_SECONDS)
        for gone in answers:
            gone.cancel()
    finally:
        del _open[asyncio.get_running_loop()]


def _server_goes() -> bool:
    """Has the uvicorn that serves us, by whoever's hand, got its signal?"""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False))


async def _next(chunks: AsyncGenerator[bytes, None]) -> bytes | None:
    return await anext(chunks, None)


async def _sent(send: Send, text: bytes) -> None:
    async with asyncio.timeout(STALLED_SECONDS):
        await send(_body(text, more=True))


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait([task])


def _body(text: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": text, "more_body": more}
