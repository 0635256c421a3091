"""The stock clients of the shared server, or of a module's own one, and its graphs in hand."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import openai
import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from tests.conftest import APPS
from tests.contract.people import People
from tests.contract.remote import Half
from tests.contract.stock import stock
from tests.crash.gates import Gates
from tests.servers import Databases, Server


@pytest.fixture
async def client(server: Server) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server.url) as client:
        yield client


@pytest.fixture
def sync_client(server: Server) -> Iterator[SyncLangGraphClient]:
    with get_sync_client(url=server.url) as client:
        yield client


@pytest.fixture
async def http(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        yield client


@pytest.fixture
async def thread_id(client: LangGraphClient) -> str:
    """A new thread."""
    return str((await client.threads.create())["thread_id"])


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest) -> Half:
    """Calls a graph's methods, once through each half of its interface."""
    return Half(request.param)


RemoteOf = Callable[[str], RemoteGraph]


@pytest.fixture
def remote(client: LangGraphClient, sync_client: SyncLangGraphClient) -> RemoteOf:
    """The graph of a name as it is served."""
    return lambda name: RemoteGraph(name, client=client, sync_client=sync_client)


@pytest.fixture(scope="package")
def serve_app(
    databases: Databases, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Server]]:
    """Starts a server of an app in ``tests/apps`` that this package's tests share."""
    made: list[Server] = []

    def serve(app: str) -> Server:
        log = tmp_path_factory.mktemp(app) / "log"
        config = APPS / app / "langgraph.json"
        made.append(Server(config, database_url=databases.create(template), log=log))
        return made[-1].start()

    yield serve
    for one in made:
        one.close()


@pytest.fixture(scope="package")
def talk(serve_app: Callable[[str], Server]) -> Server:
    """Its graph answers by what it is asked."""
    return serve_app("talk")


@pytest.fixture(scope="package")
def compliance(serve_app: Callable[[str], Server]) -> Server:
    """It serves one graph only."""
    return serve_app("compliance")


@pytest.fixture
async def openai_client(talk: Server) -> AsyncIterator[openai.AsyncOpenAI]:
    async with stock(talk) as client:
        yield client


@pytest.fixture
async def talk_sdk(talk: Server) -> AsyncIterator[LangGraphClient]:
    """The other door of the same server."""
    async with get_client(url=talk.url) as sdk:
        yield sdk


@pytest.fixture(scope="session")
def served() -> Any:
    """The module of the served graphs, for LangGraph itself to run them."""
    place = APPS / "basic" / "graphs.py"
    spec = importlib.util.spec_from_file_location("served_graphs", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # type hints are looked up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def people(
    databases: Databases, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[People]:
    """A server of ``tests/apps/people`` that contract tests share."""
    folder = tmp_path_factory.mktemp("people")
    running = Server(
        APPS / "people" / "langgraph.json",
        database_url=databases.create(template),
        env={"GATES": str(folder)},
        log=folder / "log",
    )
    client = People(running.start(), Gates(folder))
    yield client
    client.close()
    running.close()
