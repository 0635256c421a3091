"""Answers that stay open: server-sent events, and JSON that is not ready yet.

The sole importer of ``sse_starlette``, which brings the heartbeat, notices a client that hung up
and ends streams when uvicorn shuts down. Chunks are bytes that hold whole frames, so several
frames travel in one send and nothing is encoded twice. JSON that is not ready yet needs less than
that library does: most of it is ready after a few milliseconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from sse_starlette import EventSourceResponse
from sse_starlette.sse import SendTimeoutError
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

CRLF = "\r\n"
STALLED_SECONDS = 60.0
"""How long a client may leave what was sent to it unread."""


class StreamCut(Exception):
    """Raised by a chunk iterator that has to stop before its end, when the server drains."""


def frame(event: str, data: str, *, event_id: int | str | None = None, eol: str = CRLF) -> bytes:
    """One frame; ``data`` is text without line breaks. Without ``event_id`` it has no ``id:``."""
    tail = "" if event_id is None else f"id: {event_id}{eol}"
    return f"event: {event}{eol}data: {data}{eol}{tail}{eol}".encode()


def event_stream(
    chunks: AsyncIterator[bytes],
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
    chunks: AsyncIterator[bytes],
    *,
    headers: Mapping[str, str] | None = None,
    interval_seconds: float = 5.0,
) -> Response:
    """Status and headers at once, the JSON text of ``chunks`` later, line feeds meanwhile.

    An answer that stops early leaves a cut connection: half a JSON text must not look whole.
    """
    return _Later(chunks, headers, interval_seconds)


class _Later(Response):
    """An answer that is sent whole, when its chunks have ended."""

    media_type = "application/json"

    def __init__(
        self,
        chunks: AsyncIterator[bytes],
        headers: Mapping[str, str] | None,
        interval_seconds: float,
    ) -> None:
        super().__init__(headers=headers)
        del self.headers["content-length"]
        self._chunks = chunks
        self._interval_seconds = interval_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        whole = asyncio.create_task(_whole(self._chunks))
        gone = asyncio.create_task(_hung_up(receive))
        try:
            while not await _done(whole, gone, self._interval_seconds):
                async with asyncio.timeout(STALLED_SECONDS):
                    await send(_body(b"\n", more=True))
            if whole.done():
                await send(_body(whole.result(), more=False))
        except (StreamCut, TimeoutError):
            return
        finally:
            whole.cancel()
            gone.cancel()
            await asyncio.wait({whole, gone})


async def _whole(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _done(whole: asyncio.Task[bytes], gone: asyncio.Task[None], seconds: float) -> bool:
    """Is there nothing more to wait for?"""
    await asyncio.wait({whole, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    return whole.done() or gone.done()


def _body(text: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": text, "more_body": more}


class _OpenAnswer(EventSourceResponse):
    """Decides how an answer ends that stopped early; the parent always leaves it in mid-body."""

    def __init__(
        self,
        chunks: AsyncIterator[bytes],
        media_type: str,
        headers: Mapping[str, str] | None,
        heartbeat: bytes,
        interval_seconds: float,
        close_cleanly: bool,
    ) -> None:
        super().__init__(
            chunks,
            headers=headers,
            media_type=media_type,
            ping=interval_seconds,
            ping_message_factory=lambda: heartbeat,  # type: ignore[arg-type, return-value]
            send_timeout=STALLED_SECONDS,
        )
        self.close_cleanly = close_cleanly

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ended = False

        async def watched(message: Message) -> None:
            nonlocal ended
            ended = ended or not message.get("more_body", True)
            await send(message)

        try:
            await super().__call__(scope, receive, watched)
        except StreamCut:
            self.active = False
        except SendTimeoutError:
            return  # nothing more can be sent; whoever still lives comes back with its cursor
        if self.close_cleanly and not ended:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
