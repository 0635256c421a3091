"""What grows: the tables, a conversation, a run. Nothing may become slower by it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator

from bench import filling
from bench.backlog import Backlog
from bench.clients import Client
from bench.figures import Figures, in_ms, quantile
from bench.pace import delays_behind
from bench.rates import echoes
from bench.stage import Stage

PACED_SECONDS = 2.0
EARLY = 1000
A_MOMENT_SECONDS = 0.1
AROUND = 5
"""How many turns the time of one turn is the middle of."""


async def measure(stage: Stage) -> Figures:
    figures = await _tables(stage)
    for kind in ("bare", "sdk"):
        figures |= await _conversation(stage, kind)
    return figures | await _long_run(stage)


async def _tables(stage: Stage) -> Figures:
    scale = stage.scale
    async with stage.another() as (server, url):
        backlog = Backlog(server, url, stage.home / "postgres" / "postgres.log")
        few = await echoes(server.port, scale.seconds)
        await asyncio.to_thread(filling.add_pending, url, "few-", scale.few_pending)
        figures = await backlog.measure("few", scale.seconds)
        await asyncio.to_thread(filling.drop_pending, url)
        await asyncio.to_thread(filling.add_finished, url, scale.finished)
        many = await echoes(server.port, scale.seconds)
        await asyncio.to_thread(filling.add_pending, url, "sudden-", scale.sudden, known=False)
        figures["growth.sudden.until_first_s"] = await backlog.until_first()
        await asyncio.to_thread(filling.drop_pending, url)
        await echoes(server.port, A_MOMENT_SECONDS)  # a claim that began before is over
        await asyncio.to_thread(filling.add_pending, url, "many-", scale.pending)
        figures |= await backlog.measure("many", scale.seconds)
        await asyncio.to_thread(filling.drop_pending, url)
    figures |= in_ms("growth.wait.few_finished", few) | in_ms("growth.wait.many_finished", many)
    return figures


async def _conversation(stage: Stage, kind: str) -> Figures:
    """The last turn of a long conversation beside its tenth."""
    async with stage.clients(kind, 1) as [client]:
        turns = [seconds async for seconds in _turns(client, stage.scale.turns)]
    tenth, last = quantile(turns[9 - AROUND : 9 + AROUND], 0.5), quantile(turns[-2 * AROUND :], 0.5)
    name = f"growth.turn.{kind}"
    return {
        f"{name}.10th_ms": 1000 * tenth,
        f"{name}.last_ms": 1000 * last,
        f"{name}.last_to_10th_x": last / tenth,
    }


async def _turns(client: Client, count: int) -> AsyncIterator[float]:
    thread = await client.thread()
    for number in range(count):
        message = {"role": "user", "content": f"turn {number}", "id": str(uuid.uuid4())}
        before = time.perf_counter()
        await client.wait(thread, "chat", {"messages": [message]})
        yield time.perf_counter() - before


async def _long_run(stage: Stage) -> Figures:
    """From a node's ``write`` to the client, early in a run and very late in another one."""
    figures: Figures = {}
    for name, quickly in (("early", EARLY), ("late", stage.scale.long_events)):
        began = time.perf_counter()
        gate = stage.home / f"{uuid.uuid4()}.gate"
        took = await delays_behind(stage.server.port, quickly, gate, PACED_SECONDS)
        figures |= in_ms(f"growth.event.{name}", took)
        figures[f"growth.event.{name}.run_s"] = time.perf_counter() - began
    late, early = figures["growth.event.late.p50_ms"], figures["growth.event.early.p50_ms"]
    return figures | {"growth.event.late_to_early_x": late / early}
