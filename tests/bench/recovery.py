"""How long a reader waits for the standby: ``python -m tests.bench.recovery --times 30``.

Two servers share an embedded PostgreSQL. Again and again the owner of a run is killed (or stopped
by SIGTERM) while a client follows the run at the other server; the clock runs from the kill (or
from the owner's last breath) to the frame of the second attempt.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from langgraph_sdk import get_client

from tests.crash.gates import Gates
from tests.crash.test_two_processes import owner_pid
from tests.servers import ROOT, Databases, Server

CONFIG = ROOT / "tests" / "apps" / "crash" / "langgraph.json"


async def measured(servers: list[Server], gates: Gates, database_url: str, how: str) -> float:
    """Seconds until a follower sees the second attempt."""
    gates.close("two")
    (gates.folder / "two.open").unlink(missing_ok=True)
    asking = get_client(url=servers[0].url)
    thread = await asking.threads.create()
    run = await asking.runs.create(thread["thread_id"], "steps", input={"items": []})
    await asyncio.to_thread(gates.reached, "two")
    owner = next(s for s in servers if s.pid == owner_pid(database_url, run["run_id"]))
    survivor = next(s for s in servers if s is not owner)
    following = get_client(url=survivor.url)
    stream = following.runs.join_stream(thread["thread_id"], run["run_id"], last_event_id="-1")
    resumed: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    async def read() -> None:
        async for part in stream:
            if part.event == "metadata" and part.data["attempt"] == 2:
                resumed.set_result(time.monotonic())

    reading = asyncio.create_task(read())
    await asyncio.sleep(0.3)  # the follower is connected
    if how == "kill":
        began = time.monotonic()
        await asyncio.to_thread(owner.kill)
    else:
        await asyncio.to_thread(owner.terminate)
        began = time.monotonic()
    waited = await asyncio.wait_for(resumed, 60) - began
    gates.open("two")
    await asyncio.wait_for(reading, 60)
    await asyncio.to_thread(owner.start)
    return waited


async def main(times: int) -> None:
    from langgraph_durable.embedded import EmbeddedPostgres

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        postgres = EmbeddedPostgres(place / "database")
        database_url = Databases(postgres.start()).create()
        gates = Gates(place / "gates")
        gates.folder.mkdir()
        servers = [
            Server(CONFIG, database_url=database_url, env=gates.env, log=place / f"{n}.log")
            for n in range(2)
        ]
        try:
            for server in servers:
                server.start()
            for how in ("kill", "terminate"):
                waits = sorted(
                    [await measured(servers, gates, database_url, how) for _ in range(times)]
                )
                tell(how, waits)
        finally:
            for server in servers:
                server.close()
            postgres.stop()


def tell(how: str, waits: list[float]) -> None:
    """``waits`` are sorted."""
    p95 = waits[min(len(waits) - 1, round(0.95 * len(waits)))]
    middle = statistics.median(waits)
    print(f"{how:9} p50 {middle:.2f} s  p95 {p95:.2f} s  max {waits[-1]:.2f} s  {len(waits)} times")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=30)
    asyncio.run(main(parser.parse_args().times))
