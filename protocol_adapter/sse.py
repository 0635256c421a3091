"""Answers that stay open: server-sent events, and JSON that is not ready yet.

Thousands of clients may follow runs that say nothing for hours: an open answer is two tasks, and
keeps nothing of what it has sent. Chunks are bytes that hold whole frames, so several frames travel
in one send and nothing is encoded twice. Whoever makes the chunks ends them when the server drains.
"""

from __future__ import annotations

import asyncio
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing, suppress
from typing import Any, Generic, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

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
    return _Stream(chunks, "text/event-stream", headers, heartbeat, interval_seconds, close_cleanly)


def json_when_ready(
    text: Coroutine[Any, Any, bytes],
    *,
    headers: Mapping[str, str] | None = None,
    interval_seconds: float = 5.0,
    sent: Callable[[], None] | None = None,
) -> Response:
    """Status and headers at once, the JSON ``text`` later, line feeds meanwhile.

    An answer that stops early leaves a cut connection: half a JSON text must not look whole.
    ``sent`` is called behind a whole one.
    """
    return _LateJson(text, "application/json", headers, b"\n", interval_seconds, False, sent)


T = TypeVar("T")


class _OpenAnswer(Response, ABC, Generic[T]):
    """Sends what comes, a sign of life meanwhile, and stops when nobody reads."""

    def __init__(
        self,
        source: T,
        media_type: str,
        headers: Mapping[str, str] | None,
        heartbeat: bytes,
        interval_seconds: float,
        close_cleanly: bool,
        sent: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(headers={**KEPT_BY_NOBODY, **(headers or {})}, media_type=media_type)
        del self.headers["content-length"]
        self.close_cleanly = close_cleanly
        self._source = source
        self._heartbeat = heartbeat
        self._interval_seconds = interval_seconds
        self._beats_at = 0.0
        self._when_sent = sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        self._beats_at = time.monotonic() + self._interval_seconds
        gone = asyncio.create_task(_hung_up(receive))
        answers = _open_answers()
        answers.add(gone)
        try:
            last = await self._send_all(send, gone)
            if last is None and self.close_cleanly and (gone.cancelled() or not gone.done()):
                last = b""
            if last is not None:
                await _sent(send, last, more=False)
                if self._when_sent is not None:
                    self._when_sent()
        except TimeoutError:
            pass  # nothing more can be sent; whoever still lives comes back with its cursor
        finally:
            answers.discard(gone)
            gone.cancel()

    @abstractmethod
    async def _send_all(self, send: Send, gone: asyncio.Task[None]) -> bytes | None:
        """All but the last of it, which is returned; None when it has to stop before.

        Raises TimeoutError when the client does not read.
        """

    async def _awaited(
        self, coming: Coroutine[Any, Any, bytes | None], send: Send, gone: asyncio.Task[None]
    ) -> bytes | None:
        """What comes next. Raises StreamCut when there is nobody to send it to."""
        reading = asyncio.create_task(coming)
        try:
            while not await _has_come(reading, gone, self._beats_at - time.monotonic()):
                await _sent(send, self._heartbeat)
                self._beats_at += self._interval_seconds
            return reading.result()
        finally:
            await _cancelled(reading)


class _Stream(_OpenAnswer[AsyncGenerator[bytes, None]]):
    async def _send_all(self, send: Send, gone: asyncio.Task[None]) -> bytes | None:
        async with aclosing(self._source) as chunks:
            with suppress(StreamCut):
                while (chunk := await self._awaited(_next(chunks), send, gone)) is not None:
                    await _sent(send, chunk)
                    del chunk
                return b""
        return None


class _LateJson(_OpenAnswer[Coroutine[Any, Any, bytes]]):
    async def _send_all(self, send: Send, gone: asyncio.Task[None]) -> bytes | None:
        with suppress(StreamCut):
            return await self._awaited(self._source, send, gone)
        return None


async def _has_come(
    reading: asyncio.Task[bytes | None], gone: asyncio.Task[None], seconds: float
) -> bool:
    """Has it come, or is it, after so many seconds, time for a sign of life?

    Raises StreamCut when there is nobody to send to.
    """
    await asyncio.wait(
        {reading, gone}, timeout=max(seconds, 0), return_when=asyncio.FIRST_COMPLETED
    )
    if gone.done():
        raise StreamCut
    return reading.done()


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


async def _sent(send: Send, text: bytes, *, more: bool = True) -> None:
    async with asyncio.timeout(STALLED_SECONDS):
        await send({"type": "http.response.body", "body": text, "more_body": more})


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cancelled(task: asyncio.Task[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
