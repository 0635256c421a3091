"""The crowd: clients that hold one conversation after the other until it is time to stop."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence

import httpx

from tests.chaos.doors import DOORS
from tests.chaos.doors.door import Door, GaveUp, Question, Talk
from tests.chaos.options import Options
from tests.chaos.plans import Plan, plan
from tests.chaos.transcript import Transcript


class Crowd:
    """``transcripts`` grows with every run; ``broken`` are clients that failed themselves."""

    def __init__(self, options: Options, urls: Sequence[str]) -> None:
        self.transcripts: list[Transcript] = []
        self.broken: list[str] = []
        self.graphs = tuple(options.graphs)
        self._options = options
        self._urls = urls
        self._stop_at = float("inf")
        self._give_up_at = float("inf")

    async def run(self) -> None:
        """Hold conversations until ``stop`` was called, and end those that are held."""
        async with asyncio.TaskGroup() as group:
            for client in range(self._options.clients):
                group.create_task(self._client(client))

    def stop(self, *, give_up_seconds: float) -> None:
        """Begin no conversation any more; give up what has not ended within some seconds."""
        self._stop_at = time.monotonic()
        self._give_up_at = self._stop_at + give_up_seconds

    async def _client(self, client: int) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=8)
        timeout = httpx.Timeout(8.0, connect=3.0)
        async with httpx.AsyncClient(limits=limits, timeout=timeout) as http:
            number = 0
            while time.monotonic() < self._stop_at:
                await self._conversation(
                    http, plan(self._options.seed, client, number, graphs=self.graphs)
                )
                number += 1

    async def _conversation(self, http: httpx.AsyncClient, wish: Plan) -> None:
        talk = Talk(
            plan=wish,
            http=http,
            urls=self._urls,
            chance=random.Random(f"talk {wish.seed}"),
            gives_up=lambda: time.monotonic() > self._give_up_at,
            transcripts=self.transcripts,
        )
        door = DOORS[wish.door](talk)
        try:
            if wish.crowded:
                await asyncio.gather(*(door.say(turn) for turn in wish.turns))
                return
            for turn in wish.turns:
                await _turn(door, talk, await door.say(turn))
        except GaveUp:
            return
        except Exception as error:
            self.broken.append(f"{wish.seed} ({wish.door}): {type(error).__name__}: {error}")


async def _turn(door: Door, talk: Talk, told: Transcript) -> None:
    """Answer what is asked until nothing is."""
    for number in range(12):
        questions = [] if told.cancelled else await door.questions(told)
        if not questions:
            return
        told = await door.answer(told, _answered(questions, f"a{number}"), number)


def _answered(questions: list[Question], word: str) -> dict[str, object]:
    """An answer to each question, by its id."""
    return {q.id: {"retry": True} if q.about_call else word for q in questions}
