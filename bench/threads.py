"""Threads and their states, and a run of ten steps."""

from __future__ import annotations

import time

from bench.clients import Client
from bench.figures import Figures, in_ms
from bench.rates import Ask, rate, timed
from bench.stage import Stage

AT_ONCE = 32


async def measure(stage: Stage) -> Figures:
    figures: Figures = {}
    for kind in ("bare", "sdk", "raw"):
        figures |= await _steps(stage, kind)
        figures |= await _reads(stage, kind)
        if kind != "bare":
            created = await _rate(stage, kind, AT_ONCE, _create)
            figures[f"create.{kind}.{AT_ONCE}.per_s"] = created
    return figures


async def _steps(stage: Stage, kind: str) -> Figures:
    async with stage.clients(kind, 1) as clients:
        counted = await rate(stage, clients, _ten_steps, stage.scale.seconds)
    return in_ms(f"ten_steps.{kind}", counted.took)


async def _reads(stage: Stage, kind: str) -> Figures:
    async with stage.clients(kind, 1) as [client]:
        thread = await client.thread()
        await client.wait(thread, "steps", {"done": []})
        histories = [await timed(client.history(thread)) for _ in range(stage.scale.repeats)]

    async def state(asking: Client) -> float:
        return await timed(asking.state(thread))

    return {
        f"state.{kind}.1.per_s": await _rate(stage, kind, 1, state),
        f"state.{kind}.{AT_ONCE}.per_s": await _rate(stage, kind, AT_ONCE, state),
        **in_ms(f"history.{kind}", histories),
    }


async def _rate(stage: Stage, kind: str, level: int, ask: Ask) -> float:
    async with stage.clients(kind, level) as clients:
        return (await rate(stage, clients, ask, stage.scale.seconds / 2)).per_s


async def _ten_steps(client: Client) -> float:
    thread = await client.thread()
    before = time.perf_counter()
    await client.wait(thread, "steps", {"done": []})
    return time.perf_counter() - before


async def _create(client: Client) -> float:
    return await timed(client.thread())
