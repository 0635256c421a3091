"""How long each takes, and how many there are in a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from bench.clients import Client
from bench.figures import Figures, in_ms
from bench.raw import Raw, connected
from bench.stage import Stage

Ask = Callable[[Client], Awaitable[float]]
"""One piece of work; the seconds of it that count."""


@dataclass(frozen=True)
class Rate:
    """What several clients did for a while; ``cpu_ms`` of each, by whoever used it."""

    took: list[float]
    per_s: float
    cpu_ms: tuple[float, float]

    def told(self, name: str) -> Figures:
        """All there is to say of it."""
        executing, postgres = self.cpu_ms
        return {
            f"{name}.per_s": self.per_s,
            **in_ms(name, self.took),
            f"{name}.server_cpu_ms": executing,
            f"{name}.postgres_cpu_ms": postgres,
        }


async def rate(stage: Stage, clients: Sequence[Client], ask: Ask, seconds: float) -> Rate:
    """All ``clients`` at once, each one thing after the other; at least one, until time is up."""
    took: list[float] = []
    kind = clients[0].name
    began, before = time.perf_counter(), stage.cpu_seconds(kind)

    async def work(client: Client) -> None:
        took.append(await ask(client))
        while time.perf_counter() < began + seconds:
            took.append(await ask(client))

    await asyncio.gather(*map(work, clients))
    per_s = len(took) / (time.perf_counter() - began)
    return Rate(took, per_s, _share(before, stage.cpu_seconds(kind), len(took)))


def _share(
    before: tuple[float, float], after: tuple[float, float], count: int
) -> tuple[float, float]:
    """Milliseconds of each, for one of ``count``."""
    executing, postgres = (
        1000 * (a - b) / max(1, count) for b, a in zip(before, after, strict=True)
    )
    return executing, postgres


async def timed(doing: Awaitable[object]) -> float:
    """Seconds until it is done."""
    before = time.perf_counter()
    await doing
    return time.perf_counter() - before


@dataclass(frozen=True)
class Heard:
    """A stream as its reader saw it; in seconds from the request."""

    first: float
    total: float
    events: int


async def heard(counts: AsyncIterator[int], expected: int) -> Heard:
    """Read a stream to its end; it must be whole."""
    began, first, events = time.perf_counter(), 0.0, 0
    async for count in counts:
        first = first or time.perf_counter() - began
        events += count
    if events != expected:
        raise AssertionError(f"{events} of {expected} events")
    return Heard(first, time.perf_counter() - began, events)


async def echoed(client: Client) -> float:
    """A run on a fresh thread: from the request to its output."""
    thread = await client.thread()
    before = time.perf_counter()
    answer = await client.wait(thread, "echo", {"n": 7})
    took = time.perf_counter() - before
    if answer["n"] != 7:
        raise AssertionError(answer)
    return took


async def echoes(port: int, seconds: float) -> list[float]:
    """What runs take one after the other, at any server."""
    took: list[float] = []
    async with connected(port) as connection:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            took.append(await echoed(Raw(connection)))
    return took
