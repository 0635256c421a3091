"""A client that costs next to nothing: HTTP/1.1 by hand on connections that are kept."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

_LIMIT = 2**20


class Connection:
    """One connection; one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int, *, receive_bytes: int = 0) -> Self:
        """``receive_bytes``: how much the kernel may take in for a reader that does not read."""
        end = socket.socket()
        if receive_bytes:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(end, ("127.0.0.1", port))
        except OSError:
            end.close()
            raise
        return cls(*await asyncio.open_connection(sock=end, limit=receive_bytes or _LIMIT))

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of the answer."""
        self.send(method, path, body)
        text = b"".join([chunk async for chunk in self._answer()])
        return json.loads(text) if text.strip() else None

    async def follow(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> AsyncIterator[bytes]:
        """A stream's chunks, as the server has sent them: whole frames."""
        self.send(method, path, body, **headers)
        async for chunk in self._answer():
            yield chunk

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> None:
        """Ask, and leave the answer to be read."""
        data = b"" if body is None else json.dumps(body).encode()
        named = {"host": "127.0.0.1", "content-type": "application/json", **headers}
        lines = [
            f"{method} {path} HTTP/1.1",
            *(f"{k.replace('_', '-')}: {named[k]}" for k in named),
        ]
        head = "\r\n".join((*lines, f"content-length: {len(data)}", "", ""))
        self._writer.write(head.encode() + data)

    def close(self) -> None:
        self._writer.close()

    async def _answer(self) -> AsyncIterator[bytes]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith(b"http/1.1 200"):
            raise ConnectionError(head.decode())
        if b"content-length:" in head:
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            yield await self.reader.readexactly(length)
            return
        while size := int(await self.reader.readline(), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Connection]:
    connection = await Connection.open(port)
    try:
        yield connection
    finally:
        connection.close()


@dataclass(frozen=True)
class Raw:
    """The LangGraph door on one connection."""

    connection: Connection
    name: str = "raw"

    async def thread(self) -> str:
        return str((await self.connection.ask("POST", "/threads", {}))["thread_id"])

    async def wait(self, thread: str, graph: str, given: dict[str, Any]) -> Any:
        body = {"assistant_id": graph, "input": given}
        return await self.connection.ask("POST", f"/threads/{thread}/runs/wait", body)

    async def stream(
        self, thread: str, graph: str, given: dict[str, Any], mode: str
    ) -> AsyncIterator[int]:
        asked = "messages-tuple" if mode == "messages" else mode
        body = {"assistant_id": graph, "input": given, "stream_mode": asked}
        mark = f"event: {mode}".encode()
        async for chunk in self.connection.follow("POST", f"/threads/{thread}/runs/stream", body):
            if count := chunk.count(mark):
                yield count

    async def state(self, thread: str) -> None:
        await self.connection.ask("GET", f"/threads/{thread}/state")

    async def history(self, thread: str) -> None:
        await self.connection.ask("POST", f"/threads/{thread}/history", {"limit": 10})
