"""How long a reader waits for the standby: ``python -m bench.recovery --times 30``.

Two servers share an embedded PostgreSQL. Again and again the owner of a run is killed, or stopped
by SIGTERM in the middle of a step that does not end, while a client follows the run at the other
server. By that client's clock: from the kill, from the SIGTERM, and from the moment at which the
stopped owner no longer holds the run, each to the frame of the second attempt.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from langgraph_sdk import get_client

from langgraph_durable.embedded import EmbeddedPostgres
from tests.crash.gates import Gates
from tests.crash.test_two_processes import owner_pid
from tests.servers import ROOT, Databases, Server

CONFIG = ROOT / "tests" / "apps" / "crash" / "langgraph.json"
GRACE_SECONDS = 1.0
PATIENCE_SECONDS = 60.0
LOOK_SECONDS = 0.005

OWNER = "SELECT worker_id FROM langgraph_durable.runs WHERE run_id = %s"


@dataclass(frozen=True)
class Bench:
    """Two servers, what they share, and where their graph waits."""

    servers: list[Server]
    gates: Gates
    database_url: str

    async def killed(self) -> float:
        """Seconds from kill -9 to the second attempt."""
        began: list[float] = []

        def leave(owner: Server, run_id: str) -> None:
            began.append(time.monotonic())
            owner.kill()

        return await self._continued_at(leave) - began[0]

    async def stopped(self) -> tuple[float, float]:
        """Seconds from SIGTERM to the second attempt, and from the release of the lease."""
        marks: list[float] = []

        def leave(owner: Server, run_id: str) -> None:
            with psycopg.connect(self.database_url, autocommit=True) as conn:
                owned = conn.execute(OWNER, (run_id,)).fetchone()
                marks.append(time.monotonic())
                owner.signal(signal.SIGTERM)
                while conn.execute(OWNER, (run_id,)).fetchone() == owned:
                    time.sleep(LOOK_SECONDS)
                marks.append(time.monotonic())
            assert owner.process is not None
            owner.process.wait(PATIENCE_SECONDS)

        continued_at = await self._continued_at(leave)
        return continued_at - marks[0], continued_at - marks[1]

    async def _continued_at(self, leave: Callable[[Server, str], None]) -> float:
        """When a follower sees the second attempt of a run whose owner ``leave`` sends away."""
        self.gates.shut("two")
        async with get_client(url=self.servers[0].url) as asking:
            thread_id = (await asking.threads.create())["thread_id"]
            run = await asking.runs.create(thread_id, "steps", input={"items": []})
        run_id = run["run_id"]
        await asyncio.to_thread(self.gates.reached, "two")
        pid = owner_pid(self.database_url, run_id)
        owner, survivor = sorted(self.servers, key=lambda server: server.pid != pid)
        async with asyncio.timeout(PATIENCE_SECONDS), get_client(url=survivor.url) as following:
            stream = following.runs.join_stream(thread_id, run_id, last_event_id="-1")
            first = await anext(stream)
            assert first.data["attempt"] == 1, first
            leaving = asyncio.create_task(asyncio.to_thread(leave, owner, run_id))
            async for part in stream:
                if part.event == "metadata":
                    assert part.data["attempt"] == 2, part
                    continued_at = time.monotonic()
                    self.gates.open("two")
            await leaving
        await asyncio.to_thread(owner.start)
        return continued_at


@contextmanager
def two_servers(place: Path, database_url: str) -> Iterator[Bench]:
    """Ready, on an empty database, with their logs and gates in ``place``."""
    gates = Gates(place / "gates")
    gates.folder.mkdir()
    env = {**gates.env, "BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS": str(GRACE_SECONDS)}
    servers = [
        Server(CONFIG, database_url=database_url, env=env, log=place / f"{n}.log") for n in range(2)
    ]
    try:
        for server in servers:
            server.start()
        yield Bench(servers, gates, database_url)
    finally:
        for server in servers:
            server.close()


async def main(times: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        postgres = EmbeddedPostgres(place / "database")
        try:
            with two_servers(place, Databases(postgres.start()).create()) as bench:
                await measure(bench, times)
        finally:
            postgres.stop()


async def measure(bench: Bench, times: int) -> None:
    tell("kill -9", [await bench.killed() for _ in range(times)])
    stops = [await bench.stopped() for _ in range(times)]
    tell(f"SIGTERM, {GRACE_SECONDS:.0f} s of grace", [signalled for signalled, _ in stops])
    tell("lease given back", [released for _, released in stops])


def tell(since: str, waits: list[float]) -> None:
    waits = sorted(waits)
    p95 = waits[min(len(waits) - 1, round(0.95 * len(waits)))]
    middle = statistics.median(waits)
    print(
        f"{since:24} p50 {middle:.3f} s  p95 {p95:.3f} s  max {waits[-1]:.3f} s"
        f"  {len(waits)} times",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=30)
    asyncio.run(main(parser.parse_args().times))
