"""From a node's ``write`` to the client, while many runs emit 50 events a second each."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

from bench.figures import Figures, in_ms
from bench.raw import connected
from bench.stage import Stage

INTERVAL_SECONDS = 0.02
WARM_UP_SECONDS = 1.0
AT = re.compile(rb'"at": ?(\d+)')
CUSTOM = b"event: custom"


async def measure(stage: Stage) -> Figures:
    runs, events = stage.scale.pace_runs, _events(WARM_UP_SECONDS + stage.scale.pace_seconds)
    async with stage.another("--n-jobs-per-worker", str(runs)) as (server, _):
        each = await asyncio.gather(*(_delays(server.port, _paced(events)) for _ in range(runs)))
    warm = [delay for run in each for delay in run[_events(WARM_UP_SECONDS) :]]
    return {"pace.emitted_per_s": runs / INTERVAL_SECONDS, **in_ms("pace.raw", warm, 50, 90, 99)}


async def delays_behind(port: int, quickly: int, gate: Path, seconds: float) -> list[float]:
    """Seconds that events take behind so many others of their run, all of which have arrived."""
    given = _paced(_events(seconds)) | {"quickly": quickly, "gate": str(gate)}
    return await _delays(port, given, quickly, gate)


async def _delays(
    port: int, given: dict[str, Any], quickly: int = 0, gate: Path | None = None
) -> list[float]:
    """Seconds from each event's making to its arrival."""
    body = {"assistant_id": "pace", "input": given, "stream_mode": "custom"}
    took: list[float] = []
    arrived = 0
    async with connected(port) as connection:
        async for chunk in connection.follow("POST", "/runs/stream", body):
            now = time.time_ns()
            took += [(now - int(at)) / 1e9 for at in AT.findall(chunk)]
            arrived += chunk.count(CUSTOM)
            if gate is not None and arrived == quickly:
                await asyncio.to_thread(gate.touch)
    if arrived != quickly + given["n"]:
        raise AssertionError(f"{arrived} events of {quickly} and {given['n']}")
    return took


def _paced(events: int) -> dict[str, Any]:
    return {"n": events, "interval": INTERVAL_SECONDS}


def _events(seconds: float) -> int:
    return round(seconds / INTERVAL_SECONDS)
