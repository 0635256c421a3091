"""The Responses protocol: background streams that go on by ``starting_after``."""

from __future__ import annotations

import json
import uuid
from typing import Any

import httpx

from tests.chaos.doors.door import Door, Question
from tests.chaos.plans import Turn
from tests.chaos.transcript import Connection, Frame, Transcript

_TERMINAL = ("completed", "failed", "incomplete")


class ResponsesDoor(Door):
    """Asks under an idempotency key, so that asking again is harmless."""

    terminal = frozenset(f"response.{name}" for name in _TERMINAL)

    async def submit(self, told: Transcript, turn: Turn, command: Any) -> None:
        body = self._body(told, turn, command)
        while True:
            try:
                async with self.posting("/v1/responses", body, {"Idempotency-Key": turn.nonce}) as (
                    server,
                    answer,
                ):
                    if answer.status_code == 200:
                        self.acknowledged(told, run_id_of(answer.headers["x-response-id"]))
                        if not turn.fetches:
                            await self._first(told, turn, server, answer)
                        return
                    await self.refused(told, answer)
            except httpx.HTTPError as error:
                if told.run_id is not None:
                    if told.connections:
                        told.connections[-1].closed_by = type(error).__name__
                    return
            await self.talk.pause()

    async def _first(
        self, told: Transcript, turn: Turn, server: int, answer: httpx.Response
    ) -> None:
        connection = Connection(server=server, after=-1)
        told.connections.append(connection)
        await self.take(connection, answer, turn.leaves_after[0] if turn.leaves_after else None)

    async def take(
        self, connection: Connection, answer: httpx.Response, leaves_after: int | None
    ) -> None:
        try:
            await super().take(connection, answer, leaves_after)
        finally:
            connection.frames[:] = [numbered(f) for f in connection.frames if f.data != "[DONE]"]

    def _body(self, told: Transcript, turn: Turn, command: Any) -> dict[str, Any]:
        said: Any = f"{told.nonce} {told.graph}"
        if command is not None:
            said = [
                {"type": "mcp_approval_response", "approval_request_id": name, "approve": True}
                for name in command
            ]
            told.answers = ["True"] * len(said)
        return {
            "model": told.graph,
            "input": said,
            "background": True,
            "stream": not turn.fetches,
            "conversation": told.thread_id,
        }

    def reading(self, told: Transcript, after: int) -> tuple[str, dict[str, Any], dict[str, str]]:
        query = {"stream": "true"} | ({"starting_after": str(after)} if after >= 0 else {})
        return f"/v1/responses/{response_id(str(told.run_id))}", query, {}

    async def questions(self, told: Transcript) -> list[Question]:
        answer = await self.get(f"/v1/responses/{response_id(str(told.run_id))}")
        if answer.status_code != 200:
            await self.refused(told, answer)
            return []
        items = [i for i in answer.json()["output"] if i["type"] == "mcp_approval_request"]
        return [Question(i["id"], "unconfirmed_call" in i["arguments"]) for i in items]

    async def cancel(self, told: Transcript) -> bool:
        path = f"/v1/responses/{response_id(str(told.run_id))}/cancel"
        async with self.posting(path, {}) as (_, answer):
            return answer.status_code == 200


def numbered(frame: Frame) -> Frame:
    """The frame under the number that it carries in its data."""
    return Frame(json.loads(frame.data)["sequence_number"], frame.event, frame.data)


def response_id(run_id: str) -> str:
    return f"resp_{run_id.replace('-', '')}"


def run_id_of(name: str) -> str:
    return str(uuid.UUID(name.removeprefix("resp_")))
