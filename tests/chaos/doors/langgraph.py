"""The LangGraph protocol in plain HTTP: streams that go on by ``Last-Event-ID``."""

from __future__ import annotations

from typing import Any

import httpx

from tests.chaos.doors.door import Door, Question
from tests.chaos.plans import Turn
from tests.chaos.transcript import Connection, Transcript


class LangGraphDoor(Door):
    """Names its threads itself; what a broken connection has made is found by its metadata."""

    terminal = frozenset({"end"})

    async def submit(self, told: Transcript, turn: Turn, command: Any) -> None:
        tries = 0
        while True:
            nonce = f"{turn.nonce}.{tries}"
            tries += 1
            if command is None:
                told.nonce = nonce
            path = f"/threads/{told.thread_id}/runs" + ("" if turn.fetches else "/stream")
            try:
                async with self.posting(path, self.body(told, nonce, command)) as (server, answer):
                    if answer.status_code == 200:
                        self.acknowledged(told, _run_id(answer))
                        if not turn.fetches:
                            await self._first(told, turn, server, answer)
                        return
                    await self.refused(told, answer)
            except httpx.HTTPError as error:
                if told.run_id is not None:
                    _closed(told, error)
                    return
            await self.talk.pause()
            if await self._found(told, nonce):
                return

    async def _first(
        self, told: Transcript, turn: Turn, server: int, answer: httpx.Response
    ) -> None:
        connection = Connection(server=server, after=-1)
        told.connections.append(connection)
        await self.take(connection, answer, turn.leaves_after[0] if turn.leaves_after else None)

    async def _found(self, told: Transcript, nonce: str) -> bool:
        """Was the run of a request made whose answer never came?"""
        answer = await self.get(f"/threads/{told.thread_id}/runs", limit=100)
        runs = answer.json() if answer.status_code == 200 else []
        for run in runs:
            if run["metadata"].get("nonce") == nonce:
                self.acknowledged(told, run["run_id"])
                return True
        return False

    def body(self, told: Transcript, nonce: str, command: Any) -> dict[str, Any]:
        """The request of a run."""
        said = {"messages": [{"role": "user", "content": f"{nonce} {told.graph}"}]}
        return {
            "assistant_id": told.graph,
            **({"input": said} if command is None else {"command": {"resume": command}}),
            "metadata": {"nonce": nonce},
            "stream_mode": list(told.modes),
            "stream_subgraphs": told.subgraphs,
            "if_not_exists": "create",
        }

    def reading(self, told: Transcript, after: int) -> tuple[str, dict[str, Any], dict[str, str]]:
        path = f"/threads/{told.thread_id}/runs/{told.run_id}/stream"
        return path, {}, {"Last-Event-ID": str(after)}

    async def questions(self, told: Transcript) -> list[Question]:
        answer = await self.get(f"/threads/{told.thread_id}/state")
        if answer.status_code != 200:
            await self.refused(told, answer)
            return []
        return [
            Question(i["id"], (i["value"] or {}).get("type") == "unconfirmed_call")
            for i in answer.json()["interrupts"]
        ]

    async def cancel(self, told: Transcript) -> bool:
        path = f"/threads/{told.thread_id}/runs/{told.run_id}/cancel"
        async with self.posting(path, {}) as (_, answer):
            return answer.status_code in (200, 202, 204)


def _run_id(answer: httpx.Response) -> str:
    return answer.headers["content-location"].rsplit("/", 1)[-1]


def _closed(told: Transcript, error: Exception) -> None:
    if told.connections and not told.connections[-1].closed_by:
        told.connections[-1].closed_by = type(error).__name__
