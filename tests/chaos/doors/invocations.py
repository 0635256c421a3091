"""The generic protocol: the client names its invocation, so asking again is harmless."""

from __future__ import annotations

import uuid
from typing import Any

import httpx

from tests.chaos.doors.door import Door, Question
from tests.chaos.plans import Turn
from tests.chaos.transcript import Connection, Transcript

_TERMINAL = ("completed", "failed", "cancelled", "requires_action")


class InvocationsDoor(Door):
    """Its ids are UUIDs, which the runs behind them share."""

    terminal = frozenset(f"run.{name}" for name in _TERMINAL)

    async def submit(self, told: Transcript, turn: Turn, command: Any) -> None:
        name = str(uuid.uuid5(uuid.NAMESPACE_OID, turn.nonce))
        body = self._body(told, turn, command) | {"id": name}
        while True:
            try:
                async with self.posting("/invocations", body) as (server, answer):
                    if answer.status_code in (200, 202):
                        self.acknowledged(told, name)
                        if not turn.fetches:
                            connection = Connection(server=server, after=-1)
                            told.connections.append(connection)
                            leaves = turn.leaves_after[0] if turn.leaves_after else None
                            await self.take(connection, answer, leaves)
                        return
                    await self.refused(told, answer)
            except httpx.HTTPError as error:
                if told.run_id is not None:
                    if told.connections:
                        told.connections[-1].closed_by = type(error).__name__
                    return
            await self.talk.pause()

    def _body(self, told: Transcript, turn: Turn, command: Any) -> dict[str, Any]:
        said = {"messages": [{"role": "user", "content": f"{told.nonce} {told.graph}"}]}
        return {
            "session_id": told.thread_id,
            "graph": told.graph,
            "input": said if command is None else {"resume": command},
            "background": True,
            "stream": not turn.fetches,
        }

    def reading(self, told: Transcript, after: int) -> tuple[str, dict[str, Any], dict[str, str]]:
        query = {"after": str(after)} if after >= 0 else {}
        return f"/invocations/{told.run_id}/events", query, {"Accept": "text/event-stream"}

    async def questions(self, told: Transcript) -> list[Question]:
        answer = await self.get(f"/invocations/{told.run_id}")
        if answer.status_code != 200:
            await self.refused(told, answer)
            return []
        asked = answer.json()["questions"]
        return [Question(q["id"], q["value"].get("type") == "unconfirmed_call") for q in asked]

    async def cancel(self, told: Transcript) -> bool:
        async with self.posting(f"/invocations/{told.run_id}/cancel", {}) as (_, answer):
            return answer.status_code == 200
