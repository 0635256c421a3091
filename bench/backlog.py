"""A server that has more to do than it can: how long claims and submits take meanwhile."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.figures import Figures, in_ms
from bench.followers import number
from bench.rates import timed
from bench.raw import connected
from bench.served import Served

PENDING = "SELECT count(*) FROM langgraph_durable.runs WHERE status = 'pending'"
DURATION = re.compile(r"duration: ([\d.]+) ms")
ENTRIES = re.compile(r"\n(?=\d{4}-\d\d-\d\d )")
SUBMIT = {"assistant_id": "echo", "input": {"n": 7}}
SUBMIT_EVERY_SECONDS = 0.05
LOOK_SECONDS = 0.01
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Backlog:
    """A server, the database it works on, and the log of that PostgreSQL."""

    server: Served
    url: str
    log: Path

    async def measure(self, name: str, seconds: float) -> Figures:
        """Figures of the claim, of submits, and of the rate at which runs are worked off.

        Runs must be due already, more than can be worked off meanwhile for the rate to be one.
        """
        with self._logged() as claims:
            submits, drained = await self._submits(seconds)
        return {
            **in_ms(f"growth.claim.{name}", claims),
            **in_ms(f"growth.submit.{name}", submits),
            f"growth.drained.{name}.per_s": drained,
        }

    async def until_first(self) -> float:
        """Seconds until the first of the runs that wait does so no more."""
        before, began = number(self.url, PENDING), time.perf_counter()
        async with connected(self.server.port) as connection:
            await connection.ask("POST", "/runs", SUBMIT)
        while number(self.url, PENDING) >= before:
            if time.perf_counter() > began + PATIENCE_SECONDS:
                raise TimeoutError(f"no run of {before} in {PATIENCE_SECONDS:.0f} s")
            await asyncio.sleep(LOOK_SECONDS)
        return time.perf_counter() - began

    async def _submits(self, seconds: float) -> tuple[list[float], float]:
        """What each submit took, one now and then, and how many runs ended in a second."""
        took: list[float] = []
        before, began = number(self.url, PENDING), time.perf_counter()
        async with connected(self.server.port) as connection:
            while time.perf_counter() < began + seconds and number(self.url, PENDING):
                took.append(await timed(connection.ask("POST", "/runs", SUBMIT)))
                await asyncio.sleep(SUBMIT_EVERY_SECONDS)
        worked_off = before + len(took) - number(self.url, PENDING)
        return took, worked_off / (time.perf_counter() - began)

    @contextmanager
    def _logged(self) -> Iterator[list[float]]:
        """Seconds of each claim meanwhile, as PostgreSQL's log has them."""
        claims: list[float] = []
        start = self.log.stat().st_size
        self._set("log_min_duration_statement = 0")
        try:
            yield claims
        finally:
            self._set("log_min_duration_statement = -1")
        with self.log.open() as lines:
            lines.seek(start)
            claims += _claims(lines.read())

    def _set(self, setting: str) -> None:
        """For every session, from its next statement on or so."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET {setting}")
            connection.execute("SELECT pg_reload_conf()")


def _claims(text: str) -> Iterator[float]:
    """Seconds of the statements that make runs running and skip what others have locked."""
    for entry in ENTRIES.split(text):
        match = DURATION.search(entry)
        if match and "SET status = 'running'" in entry and "SKIP LOCKED" in entry:
            yield float(match[1]) / 1000
