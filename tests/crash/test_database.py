"""The database goes away under running work: nothing is lost, no strike is counted."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from langgraph_durable.embedded import EmbeddedPostgres
from tests.conftest import MakeServer
from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query, read_log
from tests.servers import until


def terminate_all(database_url: str) -> None:
    query(
        database_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )


async def collect(stream: Any) -> list[Any]:
    return [part async for part in stream]


async def test_runs_survive_all_backends_being_terminated_three_times(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str
) -> None:
    server = crash_server().start()
    client = sdk(server.url)
    threads = [await client.threads.create() for _ in range(3)]
    streams = [
        asyncio.create_task(
            collect(
                client.runs.stream(
                    t["thread_id"], "nested", input={"items": []}, stream_mode=["updates"]
                )
            )
        )
        for t in threads
    ]
    await asyncio.to_thread(gates.reached, "in2")
    for _ in range(3):
        terminate_all(database_url)
        await asyncio.to_thread(until, lambda: holds_lock(database_url), "the worker is back")
    gates.open("in2")
    for parts in await asyncio.wait_for(asyncio.gather(*streams), 30):
        assert [p.event for p in parts][-1] == "end"
    rows = query(database_url, "SELECT run_id::text, status, crashes FROM runs")
    assert [(r["status"], r["crashes"]) for r in rows] == [("success", 0)] * 3
    for row in rows:
        assert [e.name for e in read_log(database_url, row["run_id"])].count("end") == 1


def holds_lock(database_url: str) -> bool:
    held = query(
        database_url,
        "SELECT count(*) AS n FROM pg_locks l JOIN worker_locks w ON l.objid = w.lock_key::oid"
        " WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2",
    )
    return bool(held[0]["n"])


@pytest.fixture
def own_postgres(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    postgres = EmbeddedPostgres(tmp_path / "own")
    postgres.start()
    yield postgres
    postgres.stop()


async def test_a_killed_postmaster_is_started_again_and_the_run_goes_on(
    make_server: MakeServer, gates: Gates, sdk: Sdk, own_postgres: EmbeddedPostgres
) -> None:
    home = {"LANGGRAPH_DURABLE_HOME": str(own_postgres.home)}
    server = make_server("crash", env={**gates.env, **home}).start()
    client = sdk(server.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "steps", input={"items": []})
    await asyncio.to_thread(gates.reached, "two")
    pid = int((own_postgres.data / "postmaster.pid").read_text().splitlines()[0])
    os.kill(pid, signal.SIGKILL)
    gates.open("two")
    url = own_postgres.start()
    await asyncio.to_thread(until, server.ready, "the server answers")
    await asyncio.to_thread(
        until,
        lambda: query(url, "SELECT status FROM runs")[0]["status"] == "success",
        "the run succeeds",
    )
    found = await client.runs.join(thread["thread_id"], run["run_id"])
    assert found["items"] == ["one", "two", "three"]
    assert query(url, "SELECT crashes FROM runs") == [{"crashes": 0}]
    assert gates.count("one") == 1
