"""Driving an ASGI app in-process, one open answer at a time, with a client that can hang up."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

from starlette.types import ASGIApp, Message


class Conversation:
    """One request whose answer is read chunk by chunk. A cut is an answer without an end.

    ``room`` is how many messages fit before the app has to wait for a reader; 0 is any number.
    """

    def __init__(
        self,
        app: ASGIApp,
        method: str,
        path: str,
        body: bytes = b"",
        room: int = 0,
        **headers: str,
    ):
        target, _, query = path.partition("?")
        self._app = app
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": target,
            "raw_path": target.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()],
            "server": ("test", 80),
            "client": ("test", 1),
        }
        self._to_app: asyncio.Queue[Message] = asyncio.Queue()
        self._from_app: asyncio.Queue[Message] = asyncio.Queue(room)
        self._to_app.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self.ended = False

    async def __aenter__(self) -> Conversation:
        self._task = asyncio.create_task(self._serve())
        start = await asyncio.wait_for(self._from_app.get(), 5)
        self.status: int = start["status"]
        self.headers = {k.decode(): v.decode() for k, v in start["headers"]}
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.hang_up()

    async def chunk(self) -> bytes | None:
        """The next piece of the body; None once the answer is over, ended or cut."""
        getting = asyncio.create_task(self._from_app.get())
        await asyncio.wait({getting, self._task}, timeout=5, return_when=asyncio.FIRST_COMPLETED)
        if not getting.done():
            getting.cancel()
            assert self._task.done(), "nothing came"
            return None
        message = getting.result()
        self.ended = not message.get("more_body", False)
        return None if self.ended and not message["body"] else bytes(message["body"])

    async def rest(self) -> bytes:
        """The body to its end or its cut."""
        chunks = []
        while not self.ended and (chunk := await self.chunk()) is not None:
            chunks.append(chunk)
        return b"".join(chunks)

    async def hang_up(self) -> None:
        self._to_app.put_nowait({"type": "http.disconnect"})
        await asyncio.wait_for(self._task, 5)

    async def _serve(self) -> Any:
        await self._app(self._scope, self._to_app.get, self._from_app.put)
