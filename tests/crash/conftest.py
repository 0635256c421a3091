"""Servers for crash tests: fast detection, and gates to stop graphs at."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.conftest import MakeServer
from tests.crash.gates import Gates
from tests.servers import Server

# Mounting a small disk takes root, which the tests of every change have.
collect_ignore = [] if os.geteuid() == 0 else ["test_disk_full.py"]


@pytest.fixture
def gates(tmp_path: Path) -> Gates:
    folder = tmp_path / "gates"
    folder.mkdir()
    return Gates(folder)


CrashServer = Callable[..., Server]


@pytest.fixture
def crash_server(database_url: str, gates: Gates, make_server: MakeServer) -> CrashServer:
    """A server of ``tests/apps/crash`` on the test's database. ``knobs`` are settings by name."""

    def make(*, command: str = "dev", options: tuple[str, ...] = (), **knobs: Any) -> Server:
        env = {f"LANGGRAPH_DURABLE_{name.upper()}": str(value) for name, value in knobs.items()}
        url = env.pop("LANGGRAPH_DURABLE_DATABASE_URL", database_url)
        return make_server(
            "crash", database_url=url, env={**gates.env, **env}, command=command, options=options
        )

    return make


Sdk = Callable[[str], LangGraphClient]


@pytest.fixture
async def sdk() -> AsyncIterator[Sdk]:
    """Makes stock clients that are closed with the test."""
    async with AsyncExitStack() as stack:

        def make(url: str) -> LangGraphClient:
            client = get_client(url=url)
            stack.push_async_callback(client.aclose)
            return client

        yield make
