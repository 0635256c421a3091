"""What a client of every protocol does: ask until it is acknowledged, read until the end."""

from __future__ import annotations

import asyncio
import random
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.chaos.lines import frames
from tests.chaos.plans import Plan, Turn
from tests.chaos.transcript import Connection, Transcript

TRY_AGAIN = (429, 502, 503, 504)
LOST_PATIENCE = 6
"""How often a client hears that its acknowledged run does not exist before it believes it."""


class GaveUp(Exception):
    """The harness is over and this client has not come to its end."""


@dataclass(slots=True, kw_only=True)
class Talk:
    """What a client needs for one conversation."""

    plan: Plan
    http: httpx.AsyncClient
    urls: Sequence[str]
    chance: random.Random
    gives_up: Callable[[], bool]
    transcripts: list[Transcript]

    async def pause(self) -> None:
        """A short rest between two tries. Raises GaveUp when it is too late for another."""
        if self.gives_up():
            raise GaveUp
        await asyncio.sleep(self.chance.uniform(0.05, 0.4))

    def server(self) -> int:
        """Where to go next."""
        return self.chance.randrange(len(self.urls))


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person; ``about_call`` when the ledger asks whether a call has happened."""

    id: str
    about_call: bool


class Door(ABC):
    """A client of one protocol in one conversation."""

    terminal: frozenset[str] = frozenset()

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.plan = talk.plan

    # -- what a protocol says ----------------------------------------------------------------

    @abstractmethod
    async def submit(self, told: Transcript, turn: Turn, command: Any) -> None:
        """Ask until it is acknowledged: ``told`` gets its run id, and perhaps a first connection.

        ``command`` holds the answers to questions; None says what the turn says.
        """

    @abstractmethod
    def reading(self, told: Transcript, after: int) -> tuple[str, dict[str, Any], dict[str, str]]:
        """Path, query and headers of a stream behind a cursor."""

    @abstractmethod
    async def questions(self, told: Transcript) -> list[Question]:
        """What the run that has ended asks."""

    @abstractmethod
    async def cancel(self, told: Transcript) -> bool:
        """Ask for the run's end; was it taken?"""

    def over(self, connection: Connection) -> bool:
        """Has the terminal frame been seen?"""
        return any(f.event in self.terminal for f in connection.frames[-2:])

    # -- what all of them do -----------------------------------------------------------------

    async def say(self, turn: Turn) -> Transcript:
        """Say something and read the run to its end."""
        told = self._transcript(turn.nonce)
        await self.submit(told, turn, None)
        await self._read(told, turn)
        return told

    async def answer(
        self, asked: Transcript, answers: dict[str, object], number: int
    ) -> Transcript:
        """Answer questions and read that run to its end."""
        turn = Turn(
            nonce=f"{asked.key}-a{number}", leaves_after=(), cancels_after=None, fetches=False
        )
        told = self._transcript(turn.nonce)
        told.nonce = asked.nonce
        told.answers = [*asked.answers, *map(str, answers.values())]
        await self.submit(told, turn, answers)
        await self._read(told, turn)
        return told

    def _transcript(self, nonce: str) -> Transcript:
        told = Transcript(
            door=self.plan.door,
            graph=self.plan.graph,
            thread_id=self.plan.thread_id,
            nonce=nonce,
            modes=self.plan.modes,
            subgraphs=self.plan.subgraphs,
            key=nonce,
        )
        self.talk.transcripts.append(told)
        return told

    def acknowledged(self, told: Transcript, run_id: str) -> None:
        told.run_id, told.acknowledged_at = run_id, time.time()

    async def _read(self, told: Transcript, turn: Turn) -> None:
        missing = 0
        leaves = list(turn.leaves_after)
        while not told.finished:
            await self._maybe_cancel(told, turn)
            if told.connections and self.over(told.connections[-1]):
                told.finished = True
                return
            status = await self._connect(told, leaves.pop(0) if leaves else None)
            missing = missing + 1 if status == 404 else 0
            if missing >= LOST_PATIENCE:
                return
            if not (told.connections and self.over(told.connections[-1])):
                await self.talk.pause()

    async def _maybe_cancel(self, told: Transcript, turn: Turn) -> None:
        wanted = turn.cancels_after is not None and told.read >= turn.cancels_after
        if wanted and not told.cancelled:
            told.cancels = True
            try:
                told.cancelled = await self.cancel(told)
            except httpx.HTTPError:
                return

    async def _connect(self, told: Transcript, leaves_after: int | None) -> int:
        """Read one connection to wherever it leads; the status of its answer, 0 without one."""
        server = self.talk.server()
        path, query, headers = self.reading(told, told.cursor)
        url = f"{self.talk.urls[server]}{path}"
        try:
            async with self.talk.http.stream("GET", url, params=query, headers=headers) as answer:
                if answer.status_code != 200:
                    await self.refused(told, answer)
                    return answer.status_code
                connection = Connection(server=server, after=told.cursor)
                told.connections.append(connection)
                await self.take(connection, answer, leaves_after)
        except httpx.HTTPError as error:
            if told.connections and not told.connections[-1].closed_by:
                told.connections[-1].closed_by = type(error).__name__
            return 0
        return 200

    async def take(
        self, connection: Connection, answer: httpx.Response, leaves_after: int | None
    ) -> None:
        """Frames of one answer, until it ends or this client hangs up."""
        async with aclosing(frames(answer)) as told:
            async for frame in told:
                connection.frames.append(frame)
                if leaves_after is not None and len(connection.frames) >= leaves_after:
                    connection.closed_by = "client"
                    return
        connection.closed_by = "server"

    async def refused(self, told: Transcript, answer: httpx.Response) -> None:
        """Remember an answer that only a broken server gives."""
        if answer.status_code not in TRY_AGAIN:
            text = (await answer.aread()).decode(errors="replace")[:300]
            told.refusals.append(f"{answer.status_code} {answer.request.url.path}: {text}")

    @asynccontextmanager
    async def posting(
        self, path: str, body: Any, headers: dict[str, str] | None = None
    ) -> AsyncIterator[tuple[int, httpx.Response]]:
        """A POST to some server, answered with that server's number."""
        server = self.talk.server()
        url = f"{self.talk.urls[server]}{path}"
        async with self.talk.http.stream("POST", url, json=body, headers=headers) as answer:
            yield server, answer

    async def get(self, path: str, **query: Any) -> httpx.Response:
        """A GET that is tried until some server gives an answer of its own."""
        while True:
            url = f"{self.talk.urls[self.talk.server()]}{path}"
            try:
                answer = await self.talk.http.get(url, params=query)
            except httpx.HTTPError:
                await self.talk.pause()
                continue
            if answer.status_code not in TRY_AGAIN:
                return answer
            await self.talk.pause()
