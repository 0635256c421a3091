"""What more processes give to a graph that computes: ``serve --workers N`` beside one."""

from __future__ import annotations

import asyncio
import os
import time

from bench.figures import Figures
from bench.raw import Connection, Raw
from bench.stage import Stage

AT_ONCE = 16
ROUNDS = 200_000  # some 15 ms
WARM_UP_SECONDS = 1.0


async def measure(stage: Stage) -> Figures:
    figures: Figures = {}
    for count in (1, *stage.scale.processes):
        options = ("--workers", str(count)) if count > 1 else ()
        async with stage.another(*options, command="serve") as (server, _):
            await _per_s(server.port, WARM_UP_SECONDS)
            figures[f"workers_{count}.raw.per_s"] = await _per_s(server.port, stage.scale.seconds)
    alone = figures["workers_1.raw.per_s"]
    for count in stage.scale.processes:
        figures[f"workers_{count}.to_one_x"] = figures[f"workers_{count}.raw.per_s"] / alone
        figures[f"workers_{count}.processors_x"] = min(count, len(os.sched_getaffinity(0)))
    return figures


async def _per_s(port: int, seconds: float) -> float:
    """Runs in a second; a connection for each few, since one process answers a connection."""
    done = 0
    began = time.perf_counter()

    async def work() -> None:
        nonlocal done
        while time.perf_counter() < began + seconds:
            connection = await Connection.open(port)
            client = Raw(connection)
            await client.wait(await client.thread(), "burn", {"n": ROUNDS})
            connection.close()
            done += 1

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return done / (time.perf_counter() - began)
