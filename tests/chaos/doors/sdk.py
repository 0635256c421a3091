"""The stock LangGraph client, which reconnects by itself as long as it can."""

from __future__ import annotations

from typing import Any

import httpx
import orjson
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.chaos.doors.door import Talk
from tests.chaos.doors.langgraph import LangGraphDoor
from tests.chaos.plans import Turn
from tests.chaos.transcript import Connection, Frame, Transcript


class SdkDoor(LangGraphDoor):
    """When its own reconnecting fails, it joins the stream where it left off, elsewhere."""

    def __init__(self, talk: Talk) -> None:
        super().__init__(talk)
        timeout = (3.0, 8.0, 8.0, 8.0)
        self._clients = [get_client(url=url, timeout=timeout) for url in self.talk.urls]

    async def submit(self, told: Transcript, turn: Turn, command: Any) -> None:
        tries = 0
        while True:
            nonce = f"{turn.nonce}.{tries}"
            tries += 1
            if command is None:
                told.nonce = nonce
            server = self.talk.server()
            connection = Connection(server=server, after=-1)
            stream = self._stream(self._clients[server], told, nonce, command)
            await self._take(told, connection, stream)
            if told.run_id is not None:
                return
            await self.talk.pause()
            if await self._found(told, nonce):
                return

    def _stream(self, client: LangGraphClient, told: Transcript, nonce: str, command: Any) -> Any:
        body = self.body(told, nonce, command)
        return client.runs.stream(
            told.thread_id,
            body.pop("assistant_id"),
            **body,
            on_run_created=lambda run: self.acknowledged(told, run["run_id"]),
        )

    async def _connect(self, told: Transcript, leaves_after: int | None) -> int:
        server = self.talk.server()
        stream = self._clients[server].runs.join_stream(
            told.thread_id, str(told.run_id), last_event_id=str(told.cursor)
        )
        connection = Connection(server=server, after=told.cursor)
        return await self._take(told, connection, stream)

    async def _take(self, told: Transcript, connection: Connection, stream: Any) -> int:
        told.connections.append(connection)
        try:
            last = connection.after
            async for part in stream:
                # The client repeats the last id that it saw where a frame has none.
                named = int(part.id) if part.id and int(part.id) != last else None
                seen = Frame(named, part.event, orjson.dumps(part.data).decode())
                if named is not None or connection.frames[-1:] != [seen]:
                    connection.frames.append(seen)
                last = last if named is None else named
        except httpx.HTTPStatusError as error:
            connection.closed_by = f"status {error.response.status_code}"
            if error.response.status_code not in (429, 502, 503, 504):
                told.refusals.append(f"{error.response.status_code} {error.request.url.path}")
            return error.response.status_code
        except Exception as error:
            # The client raises errors of its own for frames that say one, too.
            connection.closed_by = type(error).__name__
            return 0
        connection.closed_by = "server"
        return 200
