"""The database restarts, crashes, is cut off or falls silent: no run is lost, none is struck."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from langgraph_durable.embedded import EmbeddedPostgres
from langgraph_durable.embedded_guard import postmaster
from tests.conftest import MakeServer
from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query, read_log
from tests.proxies import PostgresProxy
from tests.servers import Server, until

SHORT = {"lease_seconds": 2, "heartbeat_seconds": 0.2, "liveness_grace_seconds": 0.5}


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    made = EmbeddedPostgres(tmp_path / "own")
    made.start()
    yield made
    made.stop()


def pid_of(postgres: EmbeddedPostgres) -> int:
    pid = postmaster(postgres.data)
    assert pid is not None
    return pid


def restart(postgres: EmbeddedPostgres) -> None:
    """As a package manager does: sessions are ended, everything is written, it starts again."""
    before = pid_of(postgres)
    os.kill(before, signal.SIGINT)
    until(lambda: postmaster(postgres.data) not in (None, before), "it is there again")


def crash(postgres: EmbeddedPostgres) -> None:
    before = pid_of(postgres)
    os.kill(before, signal.SIGKILL)
    until(lambda: postmaster(postgres.data) not in (None, before), "it is there again")


def kill_one_backend(postgres: EmbeddedPostgres) -> None:
    """PostgreSQL ends all other sessions too, and recovers: the lock table is empty then."""
    (row,) = query(
        postgres.dsn,
        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'langgraph-durable %%'"
        " ORDER BY pid LIMIT 1",
    )
    os.kill(row["pid"], signal.SIGKILL)
    until(lambda: not Path(f"/proc/{row['pid']}").exists(), "the backend is gone")


@pytest.mark.parametrize("outage", [restart, crash, kill_one_backend])
async def test_runs_and_streams_go_on_behind_an_outage_of_postgres(
    make_server: MakeServer,
    gates: Gates,
    sdk: Sdk,
    postgres: EmbeddedPostgres,
    outage: Callable[[EmbeddedPostgres], None],
) -> None:
    url = postgres.dsn
    server = make_server("crash", database_url=url, env=gates.env).start()
    client = sdk(server.url)
    thread = await client.threads.create()
    streaming = asyncio.create_task(
        collect(client.runs.stream(thread["thread_id"], "steps", input={"items": []}))
    )
    await asyncio.to_thread(gates.reached, "two")
    for _ in range(2):
        await asyncio.to_thread(outage, postgres)
        await asyncio.to_thread(until, lambda: answers(server), "the server reaches it again")
    gates.open("two")
    parts = await asyncio.wait_for(streaming, 40)
    assert parts[-1].event == "end"
    assert parts[-2].data["items"] == ["one", "two", "three"]
    (run,) = query(url, "SELECT run_id::text, status, crashes FROM runs")
    assert (run["status"], run["crashes"]) == ("success", 0)
    assert [e.name for e in read_log(url, run["run_id"])].count("end") == 1
    assert gates.count("one") == 1


async def collect(stream: Any) -> list[Any]:
    return [part async for part in stream]


def answers(server: Server) -> bool:
    try:
        return httpx.get(f"{server.url}/ok?check_db=1", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


# -- the network -----------------------------------------------------------------------------------


@pytest.fixture
def proxy(database_url: str) -> Iterator[PostgresProxy]:
    made = PostgresProxy(database_url)
    yield made
    made.close()


async def test_a_cut_longer_than_a_lease_costs_a_lonely_worker_no_strike(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str, proxy: PostgresProxy
) -> None:
    server = crash_server(database_url=proxy.conninfo, **SHORT).start()
    client = sdk(server.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "steps", input={"items": []})
    await asyncio.to_thread(gates.reached, "two")
    proxy.leave()
    await asyncio.to_thread(
        until,
        lambda: "not ours any more: the lease ran out" in server.log.read_text(),
        "the attempt gives up",
    )
    gates.open("two")
    proxy.come_back()
    values = await client.runs.join(thread["thread_id"], run["run_id"])
    assert values["items"] == ["one", "two", "three"]
    (row,) = query(database_url, "SELECT status, crashes FROM runs")
    assert row == {"status": "success", "crashes": 0}
    assert gates.count("one") == 1


@pytest.mark.parametrize("how", ["cut", "half open"])
async def test_another_worker_goes_on_for_one_that_is_cut_off_and_whose_late_words_are_refused(
    crash_server: CrashServer,
    gates: Gates,
    sdk: Sdk,
    database_url: str,
    proxy: PostgresProxy,
    how: str,
) -> None:
    owner = crash_server(database_url=proxy.conninfo, **SHORT).start()
    client = sdk(owner.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "steps", input={"items": []})
    await asyncio.to_thread(gates.reached, "two")
    other = crash_server(**SHORT).start()
    gates.close("two")
    proxy.leave() if how == "cut" else proxy.stall()
    await asyncio.to_thread(gates.reached, "two")
    gates.open("two")
    values = await sdk(other.url).runs.join(thread["thread_id"], run["run_id"])
    assert values["items"] == ["one", "two", "three"]
    proxy.come_back()
    proxy.flow()
    await asyncio.to_thread(until, lambda: answers(owner), "the owner is back")
    (row,) = query(database_url, "SELECT status, attempt, crashes FROM runs")
    assert row == {"status": "success", "attempt": 2, "crashes": 0}
    log = read_log(database_url, run["run_id"])
    assert [e.name for e in log].count("end") == 1
    assert [e.name for e in log].count("recovered") == 1
    assert (gates.count("one"), gates.count("three")) == (1, 1)
    fresh = await client.threads.create()
    assert await client.runs.wait(fresh["thread_id"], "quick", input={"items": []})


# -- the embedded database -------------------------------------------------------------------------


def left_over(home: Path) -> list[str]:
    """Command lines of processes that have to do with a folder; zombies have none."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            told = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(home) in told and int(entry.name) != os.getpid():
            found.append(told)
    return found


EmbeddedServer = Callable[[], Server]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Where servers keep their database; nothing of it runs when the test has ended."""
    place = tmp_path / "home"
    yield place
    until(lambda: left_over(place) == [], "nothing is left")


@pytest.fixture
def embedded_server(home: Path, make_server: MakeServer, gates: Gates) -> EmbeddedServer:
    env = {**gates.env, "LANGGRAPH_DURABLE_HOME": str(home)}
    return lambda: make_server("crash", env=env)


async def test_all_processes_killed_at_once_lose_nothing(
    embedded_server: EmbeddedServer, gates: Gates, sdk: Sdk, home: Path
) -> None:
    """As when the power goes: the server, PostgreSQL and whoever looks after it."""
    server = embedded_server().start()
    client = sdk(server.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "steps", input={"items": []})
    await asyncio.to_thread(gates.reached, "two")
    queued = await client.runs.create(thread["thread_id"], "quick", input={"items": []})
    database = EmbeddedPostgres(home)
    pid = pid_of(database)
    os.kill(server.pid, signal.SIGSTOP)
    os.kill(pid, signal.SIGKILL)
    server.kill()
    gates.open("two")
    server.start()
    values = await client.runs.join(thread["thread_id"], queued["run_id"])
    assert values["items"] == ["one", "two", "three", "quick"]
    (first,) = query(
        database.dsn, "SELECT status, crashes FROM runs WHERE run_id = %s", (run["run_id"],)
    )
    assert first == {"status": "success", "crashes": 0}
    assert gates.count("one") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_no_process_is_left_however_a_server_ends_and_the_next_one_starts(
    embedded_server: EmbeddedServer, gates: Gates, sdk: Sdk, home: Path, number: signal.Signals
) -> None:
    server = embedded_server().start()
    client = sdk(server.url)
    run = await client.runs.create(None, "quick", input={"items": []})
    assert left_over(home)
    server.signal(number)
    assert server.process is not None
    await asyncio.to_thread(server.process.wait, 20)
    await asyncio.to_thread(until, lambda: left_over(home) == [], "nothing is left")
    server.start()
    (row,) = query(EmbeddedPostgres(home).dsn, "SELECT run_id::text FROM runs")
    assert row["run_id"] == run["run_id"]


async def test_a_postmaster_that_was_killed_while_nobody_served_is_no_obstacle(
    embedded_server: EmbeddedServer, sdk: Sdk, home: Path
) -> None:
    database = EmbeddedPostgres(home)
    database.start()
    server = embedded_server().start()
    await asyncio.to_thread(server.terminate)
    pid = pid_of(database)
    os.kill(pid, signal.SIGKILL)
    server.start()
    client = sdk(server.url)
    assert await client.runs.wait(None, "quick", input={"items": ["a"]}) == {
        "items": ["a", "quick"]
    }
    await asyncio.to_thread(server.terminate)
    database.stop()
