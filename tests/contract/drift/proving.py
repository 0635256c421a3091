"""Proofs: small calls of a real server, each for the places of requests that it shows to act."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from langgraph_sdk.client import LangGraphClient

from tests.receiver import Receiver

Place = tuple[str, str]
"""An endpoint and what a request to it carries, such as ``body.metadata``."""


@dataclass(frozen=True)
class World:
    """The server that proofs call, and a receiver of webhooks."""

    client: LangGraphClient
    http: httpx.AsyncClient
    hook: Receiver
    database_url: str

    async def thread(self, **asked: Any) -> str:
        return str((await self.client.threads.create(**asked))["thread_id"])


@dataclass(frozen=True)
class Proof:
    """``run`` fails unless what a client sends at ``places`` acts or is refused."""

    name: str
    run: Callable[[World], Awaitable[None]]
    places: frozenset[Place]


PROOFS: list[Proof] = []
Check = Callable[[World], Awaitable[None]]


def proves(endpoint: str, *carried: str) -> Callable[[Check], Check]:
    """Marks a proof for what is carried to an endpoint; may be given several times."""

    def mark(check: Check) -> Check:
        places = frozenset((endpoint, each) for each in carried)
        if PROOFS and PROOFS[-1].run is check:
            places |= PROOFS.pop().places
        PROOFS.append(Proof(check.__name__, check, places))
        return check

    return mark


@dataclass(frozen=True)
class Made:
    """A run that a door has made, and has seen to its end."""

    thread_id: str
    run_id: str
    values: Any
    parts: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Door:
    """One endpoint that makes runs, through the SDK."""

    endpoint: str
    how: str
    of_thread: bool

    async def __call__(self, world: World, graph: str = "echo", **asked: Any) -> Made:
        """Make a run and wait for its end; on a new thread unless one is named.

        The temporary thread of a run without one is kept, to be looked at.
        """
        if not self.of_thread:
            asked = {"on_completion": "keep", **asked}
            return await self._make(world, None, graph, asked)
        thread_id = asked.pop("thread_id", None) or await world.thread()
        return await self._make(world, thread_id, graph, asked)

    async def _make(
        self, world: World, thread_id: str | None, graph: str, asked: dict[str, Any]
    ) -> Made:
        runs: Any = world.client.runs
        told: list[Any] = []
        parts: list[Any] = []
        if self.how == "batch":
            told = await runs.create_batch([{"assistant_id": graph, **asked}])
        elif self.how == "create":
            told = [await runs.create(thread_id, graph, **asked)]
        elif self.how == "wait":
            await runs.wait(
                thread_id, graph, on_run_created=told.append, raise_error=False, **asked
            )
        else:
            made = runs.stream(thread_id, graph, on_run_created=told.append, **asked)
            parts = [part async for part in made]
        run_id = told[0]["run_id"]
        row = (await world.http.get(f"/runs/{run_id}")).json()
        values = (await world.http.get(f"/runs/{run_id}/join")).json()
        return Made(row["thread_id"], run_id, values, parts)


def _doors() -> list[Door]:
    found = [Door("POST /runs/batch", "batch", of_thread=False)]
    for how, end in (("create", ""), ("stream", "/stream"), ("wait", "/wait")):
        found.append(Door(f"POST /threads/{{thread_id}}/runs{end}", how, of_thread=True))
        found.append(Door(f"POST /runs{end}", how, of_thread=False))
    return found


DOORS = _doors()
OF_THREADS = [door for door in DOORS if door.of_thread]
WITHOUT = [door for door in DOORS if not door.of_thread]
STREAMED = [door for door in DOORS if door.how in ("create", "stream")]
ATTENDED = [door for door in DOORS if door.how in ("stream", "wait")]
DoorCheck = Callable[[World, Door], Awaitable[None]]


def at_doors(*keys: str, doors: list[Door] = DOORS) -> Callable[[DoorCheck], DoorCheck]:
    """Marks a proof for keys of a run's body, made at each of the doors."""

    def mark(check: DoorCheck) -> DoorCheck:
        for door in doors:

            async def run(world: World, door: Door = door) -> None:
                await check(world, door)

            places = frozenset((door.endpoint, f"body.{key}") for key in keys)
            PROOFS.append(Proof(f"{check.__name__}, {door.endpoint}", run, places))
        return check

    return mark
