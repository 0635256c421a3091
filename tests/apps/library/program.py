"""A program with the engine inside: it submits its one run, follows it and tells how it ended.

Killed and started again it finds its run by the key, and goes on reading from the beginning.
"""

from __future__ import annotations

import asyncio

from graphs import steps

from langgraph_durable import DurableEngine


async def main() -> None:
    async with DurableEngine(steps) as engine:
        run = await engine.submit({"items": ["in"]}, thread_id="order-7", idempotency_key="once")
        async for event in engine.follow(run):
            print(event.seq, event.attempt, event.name, flush=True)
        print((await engine.run(run.run_id)).output)


asyncio.run(main())
