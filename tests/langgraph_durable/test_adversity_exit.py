"""SIGTERM ends a process in time, whatever its nodes are doing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import RunRequest
from langgraph_durable.settings import Settings
from tests.conftest import MakeServer
from tests.graphs import chain, says
from tests.logs import query
from tests.servers import until


async def submitted(database_url: str) -> None:
    """A run for whoever works."""
    settings = Settings(database_url=database_url)
    async with DurableEngine(chain(n=says("never")), settings=settings, works=False) as asking:
        await asking.submit(RunRequest(assistant="agent", input={}))


@pytest.mark.parametrize("command", ["dev", "serve", "worker"])
def test_a_thread_that_still_works_does_not_keep_the_process(
    make_server: MakeServer, database_url: str, tmp_path: Path, command: str
) -> None:
    reached = tmp_path / "reached"
    server = make_server(
        "deaf",
        database_url=database_url,
        command=command,
        env={"REACHED": str(reached), "LANGGRAPH_DURABLE_SHUTDOWN_GRACE_SECONDS": "0.2"},
    ).start()
    asyncio.run(submitted(database_url))
    until(reached.exists, "the node works")
    assert server.terminate(12) < 10
    assert server.process is not None
    assert server.process.returncode == 0
    rows = query(database_url, "SELECT status, crashes, worker_id FROM runs")
    assert rows == [{"status": "pending", "crashes": 0, "worker_id": None}]
    assert "although" in server.log.read_text()
