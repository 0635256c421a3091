"""A server and its PostgreSQL, started by the command line that everybody uses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import quote

from bench.processes import cpu_seconds, resident_mb
from bench.raw import connected
from tests.servers import Server

CONFIG = Path(__file__).parent / "app" / "langgraph.json"
PATIENCE_SECONDS = 60.0
LOOK_SECONDS = 0.005


@dataclass(frozen=True)
class Postgres:
    """An embedded PostgreSQL that runs: its first process, and where it listens."""

    pid: int
    url: str

    @classmethod
    def of(cls, home: Path) -> Self:
        """Of a server's home."""
        lines = (home / "postgres" / "postmaster.pid").read_text().splitlines()
        return cls(int(lines[0]), f"postgresql://postgres@/postgres?host={quote(lines[4], '')}")

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)


@dataclass(frozen=True)
class Served:
    """A server that answers, and how many seconds that took."""

    process: Server
    started_in: float

    @property
    def port(self) -> int:
        return self.process.port

    @property
    def url(self) -> str:
        return self.process.url

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)

    def resident_mb(self) -> float:
        return resident_mb(self.process.pid)


@asynccontextmanager
async def served(
    home: Path,
    *options: str,
    command: str = "dev",
    database_url: str | None = None,
    env: dict[str, str] | None = None,
) -> AsyncIterator[Served]:
    """Until it answers, and until it has ended. Without ``database_url`` on one in ``home``."""
    process = Server(
        CONFIG,
        command=command,
        database_url=database_url,
        env={"LANGGRAPH_DURABLE_HOME": str(home), **(env or {})},
        options=("--log-level", "warning", *options),
        log=home / "server.log",
    )
    began = time.perf_counter()
    process.start(wait=False)
    try:
        await _answers(process)
        yield Served(process, time.perf_counter() - began)
    finally:
        await asyncio.to_thread(process.close)


async def _answers(process: Server) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            async with connected(process.port) as connection:
                await connection.ask("GET", "/ok")
        except OSError:
            assert process.process is not None
            if process.process.poll() is not None:
                break
            await asyncio.sleep(LOOK_SECONDS)
        else:
            return
    raise TimeoutError(f"no answer from {process.url}; see {process.log.read_text()[-3000:]}")
