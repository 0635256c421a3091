"""What every measure is given: a server, the same graphs without one, and one PostgreSQL."""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from langgraph_sdk import get_client

from bench.bare import Bare, bare
from bench.clients import Client
from bench.raw import Connection, Raw
from bench.scale import Scale
from bench.sdk import Sdk
from bench.served import Postgres, Served, served
from tests.servers import Databases

SDK_AT_ONCE = 64
"""How many share one SDK client; it has 100 connections, and gives up waiting for one."""


@dataclass(frozen=True)
class Stage:
    scale: Scale
    home: Path
    server: Served
    postgres: Postgres
    databases: Databases
    bare: Bare
    bare_url: str

    @asynccontextmanager
    async def clients(self, kind: str, count: int) -> AsyncIterator[list[Client]]:
        """``count`` who ask at once: ``sdk``, ``raw`` (a connection each) or ``bare``."""
        async with AsyncExitStack() as leaving:
            if kind == "bare":
                yield [self.bare] * count
            elif kind == "sdk":
                pools = [get_client(url=self.server.url) for _ in range(0, count, SDK_AT_ONCE)]
                shared = [Sdk(await leaving.enter_async_context(pool)) for pool in pools]
                yield [shared[number // SDK_AT_ONCE] for number in range(count)]
            else:
                connections = [await Connection.open(self.server.port) for _ in range(count)]
                for connection in connections:
                    leaving.callback(connection.close)
                yield [Raw(connection) for connection in connections]

    def cpu_seconds(self, kind: str) -> tuple[float, float]:
        """Of whoever executes runs for such a client, and of PostgreSQL."""
        working = time.process_time() if kind == "bare" else self.server.cpu_seconds()
        return working, self.postgres.cpu_seconds()

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a database of its own."""
        url = self.databases.create()
        try:
            yield url
        finally:
            self.databases.drop(url)

    @asynccontextmanager
    async def another(
        self, *options: str, command: str = "dev", env: dict[str, str] | None = None
    ) -> AsyncIterator[tuple[Served, str]]:
        """A server on a database of its own, in the same PostgreSQL; and that database's URL."""
        with self.database() as url:
            async with served(
                self.home, *options, command=command, database_url=url, env=env
            ) as server:
                yield server, url


@asynccontextmanager
async def stage(scale: Scale) -> AsyncIterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        home = Path(folder)
        async with served(home) as server:
            postgres = Postgres.of(home)
            databases = Databases(postgres.url)
            bare_url = databases.create()
            async with bare(bare_url) as langgraph:
                yield Stage(scale, home, server, postgres, databases, langgraph, bare_url)
