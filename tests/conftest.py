"""One embedded PostgreSQL for the session, a database of its own for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from langgraph_durable.embedded import EmbeddedPostgres
from langgraph_durable.engine import DurableEngine
from langgraph_durable.postgres import Database
from langgraph_durable.settings import Settings
from langgraph_durable.store.migrations import migrate
from tests.servers import Databases, Server

APPS = Path(__file__).parent / "apps"


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    postgres = EmbeddedPostgres(tmp_path_factory.mktemp("database"), max_connections=400)
    url = postgres.start()
    _spare_the_disk(url)
    yield Databases(url)
    postgres.stop()


def _spare_the_disk(url: str) -> None:
    """Nobody kills this server: tests that kill a database make one of their own."""
    with psycopg.connect(url, autocommit=True) as conn:
        for setting in ("fsync", "full_page_writes"):
            conn.execute(f"ALTER SYSTEM SET {setting} = off")
        conn.execute("SELECT pg_reload_conf()")


@pytest.fixture(scope="session")
def template(databases: Databases) -> str:
    """The name of a migrated, empty database."""
    url = databases.create()
    migrate(Database(Settings(database_url=url), "template"))
    return url.partition("dbname=")[2].split()[0].strip("'")


@pytest.fixture
def database_url(databases: Databases, template: str) -> Iterator[str]:
    """A migrated, empty database for one test."""
    url = databases.create(template)
    yield url
    databases.drop(url)


@pytest.fixture(scope="session")
def server(
    databases: Databases, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server of ``tests/apps/basic`` that contract tests share."""
    log = tmp_path_factory.mktemp("server") / "log"
    running = Server(
        APPS / "basic" / "langgraph.json", database_url=databases.create(template), log=log
    )
    yield running.start()
    running.close()


MakeServer = Callable[..., Server]


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[MakeServer]:
    """Makes servers that end with the test. Takes the app's name and Server's options."""
    made: list[Server] = []

    def make(app: str, **options: Any) -> Server:
        log = tmp_path / f"server-{len(made)}.log"
        made.append(Server(APPS / app / "langgraph.json", log=log, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


MakeEngine = Callable[..., Any]


@pytest.fixture
async def make_engine(database_url: str) -> AsyncIterator[MakeEngine]:
    """Starts engines in this process that end with the test."""
    async with AsyncExitStack() as stack:

        async def make(graph: Any, *, hook: Any = None, works: bool = True, **knobs: Any) -> Any:
            given = {"database_url": database_url, "shutdown_grace_seconds": 2.0, **knobs}
            settings = Settings(**given)
            engine = DurableEngine(
                graph, settings=settings, build_recovery_request=hook, works=works
            )
            return await stack.enter_async_context(engine)

        yield make
