"""Two servers on one database: take-over after a kill, a freeze, and a freeze inside a write."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from langgraph_durable.model import Event
from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query, read_log
from tests.proxies import PostgresProxy
from tests.servers import Server, until

FROZEN = {"lease_seconds": 2, "heartbeat_seconds": 0.5}


def owner_pid(database_url: str, run_id: str) -> int:
    rows = query(database_url, "SELECT worker_id FROM runs WHERE run_id = %s", (run_id,))
    return int(rows[0]["worker_id"].split("-")[-2])


def attempt_of(database_url: str, run_id: str) -> int:
    return int(
        query(database_url, "SELECT attempt FROM runs WHERE run_id = %s", (run_id,))[0]["attempt"]
    )


async def started(client: Any, gates: Gates, graph: str, gate: str) -> tuple[str, str]:
    thread = await client.threads.create()
    run = await client.runs.create(
        thread["thread_id"], graph, input={"items": []}, stream_mode=["values", "updates"]
    )
    await asyncio.to_thread(gates.reached, gate)
    return thread["thread_id"], run["run_id"]


async def test_the_survivor_goes_on_within_three_seconds_and_its_reader_does_not_notice(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str
) -> None:
    servers = [crash_server().start(), crash_server().start()]
    thread_id, run_id = await started(sdk(servers[0].url), gates, "steps", "two")
    owner = next(s for s in servers if s.pid == owner_pid(database_url, run_id))
    survivor = next(s for s in servers if s is not owner)
    client = sdk(survivor.url)
    parts: list[tuple[float, Any]] = []

    async def read() -> None:
        stream = client.runs.join_stream(thread_id, run_id, last_event_id="-1")
        async for part in stream:
            parts.append((time.monotonic(), part))

    reading = asyncio.create_task(read())
    killed_at = time.monotonic()
    owner.kill()
    gates.open("two")
    await asyncio.wait_for(reading, 20)
    resumed_at = next(at for at, p in parts if p.event == "metadata" and p.data["attempt"] == 2)
    assert resumed_at - killed_at < 3
    assert [next(iter(p.data)) for _, p in parts if p.event == "updates"] == ["one", "two", "three"]
    assert gates.count("one") == 1


def check_one_ending(log: list[Event]) -> None:
    assert [e.name for e in log].count("end") == 1
    assert log[-1].name == "end"
    attempts = [e.attempt for e in log]
    assert attempts == sorted(attempts)


async def healthy(client: Any) -> None:
    result = await client.runs.wait(None, "quick", input={"items": []})
    assert result["items"] == ["quick"]


def everything(database_url: str) -> dict[str, Any]:
    """All that an attempt writes."""
    tables = ("runs", "events", "checkpoints", "checkpoint_writes", "checkpoint_blobs", "threads")
    return {t: query(database_url, f"SELECT * FROM {t}") for t in tables}


@pytest.fixture
def proxy(database_url: str) -> Iterator[PostgresProxy]:
    made = PostgresProxy(database_url)
    yield made
    made.close()


async def test_a_frozen_owner_that_wakes_up_writes_nothing(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str
) -> None:
    """aegra#547: a lease ran out while it was renewed, and both owners wrote."""
    frozen = crash_server(**FROZEN).start()
    thread_id, run_id = await started(sdk(frozen.url), gates, "steps", "two")
    other = crash_server(**FROZEN).start()
    frozen.signal(signal.SIGSTOP)
    gates.open("two")
    await finished_elsewhere(sdk(other.url), thread_id, run_id)
    before = everything(database_url)
    await wakes_up_and_works(frozen, sdk)
    await healthy(sdk(other.url))
    unchanged(before, everything(database_url), run_id, thread_id)
    check_one_ending(read_log(database_url, run_id))
    assert [gates.count(name) for name in ("one", "two", "three")] == [1, 2, 1]


@pytest.mark.parametrize("behind", [0, 7], ids=["between-messages", "inside-a-message"])
async def test_an_owner_frozen_inside_its_fenced_transaction_writes_nothing(
    proxy: PostgresProxy,
    crash_server: CrashServer,
    gates: Gates,
    sdk: Sdk,
    database_url: str,
    behind: int,
) -> None:
    """aegra#547: the same, in the middle of a write."""
    frozen = crash_server(**FROZEN, database_url=proxy.conninfo).start()
    client = sdk(frozen.url)
    thread_id, run_id = await started(client, gates, "steps", "two")
    # The events of the second node's end are sent in a pipeline that never arrives whole.
    proxy.hold(rb"{\"two\":{\"items", behind=behind)
    gates.open("two")
    await asyncio.to_thread(until, proxy.held.is_set, "half a pipeline is sent")
    frozen.signal(signal.SIGSTOP)
    other = crash_server(**FROZEN).start()
    await finished_elsewhere(sdk(other.url), thread_id, run_id)
    before = everything(database_url)
    proxy.resume()
    await wakes_up_and_works(frozen, sdk)
    await healthy(sdk(other.url))
    unchanged(before, everything(database_url), run_id, thread_id)
    check_one_ending(read_log(database_url, run_id))


async def finished_elsewhere(client: Any, thread_id: str, run_id: str) -> None:
    await asyncio.wait_for(client.runs.join(thread_id, run_id), 30)
    assert (await client.runs.get(thread_id, run_id))["status"] == "success"


async def wakes_up_and_works(frozen: Server, sdk: Sdk) -> None:
    frozen.signal(signal.SIGCONT)
    await asyncio.to_thread(until, frozen.ready, "the frozen server answers again")
    await healthy(sdk(frozen.url))
    await asyncio.to_thread(
        until, lambda: "not ours any more" in frozen.log.read_text(), "the old attempt gave up"
    )


def unchanged(before: dict[str, Any], after: dict[str, Any], run_id: str, thread_id: str) -> None:
    for table in before:
        was, now = (about(rows[table], run_id, thread_id) for rows in (before, after))
        assert now == was, table


def about(rows: list[dict[str, Any]], *ids: str) -> list[str]:
    """Rows that name one of the ids, comparable."""
    return sorted(repr(r) for r in rows if set(ids) & set(map(str, r.values())))
