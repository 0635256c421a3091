"""The stock clients of the shared server, or of a module's own one, and its graphs in hand."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from tests.conftest import APPS
from tests.contract.remote import Half
from tests.servers import Server


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
