"""Notifications are hints: whoever misses one is later by a poll, and misses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from langgraph_durable.engine import DurableEngine
from langgraph_durable.eventlog import followers
from langgraph_durable.model import Event, RunStatus
from tests.conftest import MakeEngine
from tests.graphs import Gate, chain, ended, eventually, says, submit
from tests.logs import query, read_log
from tests.proxies import PostgresProxy

LISTEN = b"LISTEN langgraph_durable"
GO: dict[str, Any] = {"input": {"said": []}}


@pytest.fixture
def proxy(database_url: str) -> Iterator[PostgresProxy]:
    made = PostgresProxy(database_url)
    yield made
    made.close()


async def test_a_worker_that_hears_nothing_begins_a_run_within_two_seconds(
    proxy: PostgresProxy, make_engine: MakeEngine, database_url: str
) -> None:
    """langchain-ai/langgraph#7417: some runs waited for minutes, their call went to a dead line."""
    proxy.hold(LISTEN)
    await make_engine(chain(one=says("done")), database_url=proxy.conninfo)
    await eventually(proxy.held.is_set, "the worker listens to a line that is dead")
    asker: DurableEngine = await make_engine(chain(one=says("done")), works=False)
    for number in range(3):
        run = await ended(asker, await submit(asker, f"thread-{number}", **GO))
        assert run.status is RunStatus.SUCCESS
    statement = "SELECT extract(epoch FROM max(started_at - created_at)) AS waited FROM runs"
    assert query(database_url, statement)[0]["waited"] < 2
    proxy.resume()


async def read(engine: DurableEngine, run_id: str) -> list[Event]:
    return [event async for event in engine.follow(run_id)]


@pytest.mark.parametrize("hears", [True, False], ids=["some hints", "all hints"])
async def test_a_reader_whose_hints_are_lost_reads_the_whole_log_in_order(
    make_engine: MakeEngine, database_url: str, monkeypatch: pytest.MonkeyPatch, hears: bool
) -> None:
    """dynatrace-oss/ask-o11y-plugin#202: one lost notification was a hole in the stream."""
    monkeypatch.setattr(followers, "POLL_SECONDS" if hears else "DEAF_POLL_SECONDS", 0.05)
    gates = [Gate() for _ in range(4)]
    nodes = {f"n{number}": stops_at(gate) for number, gate in enumerate(gates)}
    await make_engine(chain(**nodes))
    reader: DurableEngine = await make_engine(chain(**nodes), works=False)
    monkeypatch.setattr(reader._machinery.followers, "wake", lambda run_ids: None)
    monkeypatch.setattr(reader._machinery.followers, "_hears", lambda: hears)
    run = await submit(reader, **GO)
    reading = asyncio.create_task(read(reader, run.run_id))
    for gate in gates:
        await gate.reached.wait()
        gate.open()
    told = [(event.seq, event.name, event.data) for event in await asyncio.wait_for(reading, 10)]
    log = read_log(database_url, run.run_id)
    assert told == [(event.seq, event.name, event.data) for event in log]
    assert len(told) > 4


def stops_at(gate: Gate) -> Any:
    async def node(state: Any) -> Any:
        await gate.wait()
        return {"said": ["passed"]}

    return node


async def test_a_cancel_that_nobody_was_told_of_is_read_with_the_next_heartbeat(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ibbybuilds/aegra#528, #539: the message was lost, and the run worked on for ever."""
    gate = Gate()
    owner: DurableEngine = await make_engine(
        chain(one=says("first"), two=stops_at(gate)), heartbeat_seconds=0.2
    )
    monkeypatch.setattr(owner._machinery.notifier, "_cancel", lambda run_id: None)
    other: DurableEngine = await make_engine(chain(one=says("first")), works=False)
    run = await submit(other, **GO)
    await gate.reached.wait()
    await other.cancel(run.run_id)
    settled = await ended(other, run, 5)
    assert settled.status is RunStatus.INTERRUPTED
    assert (await other.thread("t")).status == "interrupted"
