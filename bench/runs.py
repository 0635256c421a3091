"""A run of one node on a fresh thread: how long one waits, and how many there are in a second."""

from __future__ import annotations

from bench.figures import Figures
from bench.rates import echoed, rate
from bench.stage import Stage

WARM_UP_SECONDS = 0.3


async def measure(stage: Stage) -> Figures:
    figures: Figures = {}
    for kind in ("bare", "sdk", "raw"):
        async with stage.clients(kind, 1) as clients:
            await rate(stage, clients, echoed, WARM_UP_SECONDS)
        for level in stage.scale.levels:
            figures |= await _level(stage, kind, level)
    return figures


async def _level(stage: Stage, kind: str, level: int) -> Figures:
    async with stage.clients(kind, level) as clients:
        counted = await rate(stage, clients, echoed, stage.scale.seconds)
    name = f"wait.{kind}.{level}"
    figures = counted.told(name)
    if level == 1:
        figures[f"{name}.p99_to_p50_x"] = figures[f"{name}.p99_ms"] / figures[f"{name}.p50_ms"]
    return figures
