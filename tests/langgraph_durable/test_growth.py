"""Nothing that is done for every run costs more because there are many: PostgreSQL counts rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import BEGINNING, RunRequest, RunStatus
from langgraph_durable.policy import RunPolicy
from langgraph_durable.postgres import transaction
from langgraph_durable.served import Served
from langgraph_durable.store import claims
from tests.conftest import MakeEngine
from tests.logs import query

MANY = 20_000
BIG = ("runs", "threads", "events", "checkpoints", "checkpoint_writes", "checkpoint_blobs")
FEW = 2_000
"""Rows that all of a test's work may read by an index: far more than it needs."""

FILL = (
    """INSERT INTO threads (thread_id, checkpoint_thread_id)
       SELECT %(name)s || n, %(name)s || n FROM generate_series(1, %(many)s) n""",
    """INSERT INTO runs (run_id, thread_id, ticket, assistant_id, graph_id, strategy, multitask,
                         temporary, metadata, request, next_seq, available_at, status, started_at,
                         finished_at)
       SELECT gen_random_uuid(), %(name)s || n, 0, 'a', 'agent', 'agent_session', 'enqueue',
              false, '{}', '{}', 3, now() - interval '1 hour', %(status)s,
              CASE WHEN %(status)s <> 'pending' THEN now() - interval '1 hour' END,
              CASE WHEN %(status)s <> 'pending' THEN now() - interval '1 hour' END
       FROM generate_series(1, %(many)s) n""",
    """INSERT INTO events (run_id, seq, attempt, name, data)
       SELECT run_id, seq, 1, 'custom', '{}' FROM runs CROSS JOIN generate_series(0, 2) seq
       WHERE starts_with(thread_id, %(name)s)""",
    """INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint, metadata)
       SELECT %(name)s || n, '', '1f000000-0000-6000-8000-000000000000', '{}', '{}'
       FROM generate_series(1, %(many)s) n""",
    """INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type)
       SELECT %(name)s || n, '', 'messages', '1', 'empty' FROM generate_series(1, %(many)s) n""",
    """INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path,
                                      idx, channel, type, blob)
       SELECT %(name)s || n, '', '1f000000-0000-6000-8000-000000000000', 'task', '', 0, 'x',
              'null', ''
       FROM generate_series(1, %(many)s) n""",
)


def fill(url: str, *, status: str, name: str = "t", counted: bool = True) -> None:
    """Many threads with a run each; ``counted``: the planner's statistics know of them."""
    for statement in FILL:
        query(url, statement, {"many": MANY, "status": status, "name": name})
    if counted:
        for table in BIG:
            query(url, f"ANALYZE {table}")


def read_whole(url: str) -> Counter[str]:
    """Rows read by walking through a whole table, by table."""
    statement = "SELECT relname, seq_tup_read AS read FROM pg_stat_user_tables"
    return Counter({r["relname"]: r["read"] for r in query(url, statement) if r["relname"] in BIG})


def read_by_index(url: str) -> Counter[str]:
    statement = "SELECT indexrelname AS name, idx_tup_read AS read FROM pg_stat_user_indexes"
    return Counter({r["name"]: r["read"] for r in query(url, statement)})


def asks(state: MessagesState) -> dict[str, Any]:
    return {"messages": [("ai", str(interrupt("sure?")))]}


@pytest.fixture
def graph() -> Any:
    builder = StateGraph(MessagesState).add_node("asks", asks)
    return builder.add_edge(START, "asks").add_edge("asks", END).compile()


async def live(engine: DurableEngine) -> None:
    """What a client does in the life of a thread, and what the engine does by itself."""
    thread = await engine.create_thread()
    first = RunRequest(assistant="agent", thread_id=thread.thread_id, input={"messages": "hello"})
    asked = await engine.wait((await engine.submit(first)).run_id)
    answer = RunRequest(assistant="agent", thread_id=thread.thread_id, command={"resume": "yes"})
    run = await engine.wait((await engine.submit(answer)).run_id)
    assert (asked.status, run.status) == (RunStatus.SUCCESS, RunStatus.SUCCESS)
    events = [e async for batch in engine.batches(run.run_id, BEGINNING) for e in batch]
    assert events[-1].name == "end"
    assert len(await engine.runs(thread.thread_id)) == 2
    assert (await engine.state(thread.thread_id)) is not None
    assert await engine.history(thread.thread_id)
    stateless = RunRequest(assistant="agent", input={"messages": "hello"})
    await engine.cancel((await engine.submit(stateless)).run_id)
    for sweep in engine._machinery._sweeps:
        if "retention" not in sweep.__module__:  # that looks at everything, once an hour
            await engine._machinery._swept(sweep)
    await engine._machinery._webhooks._begin()


async def test_the_life_of_a_thread_walks_through_no_table(
    make_engine: MakeEngine, database_url: str, graph: Any
) -> None:
    fill(database_url, status="success")
    before = read_whole(database_url), read_by_index(database_url)

    engine: DurableEngine = await make_engine(graph)
    await live(engine)
    await engine.stop()  # PostgreSQL counts at the latest when a connection closes

    assert +(read_whole(database_url) - before[0]) == Counter()
    by_index = +(read_by_index(database_url) - before[1])
    assert max(by_index.values()) < FEW, by_index.most_common(5)


@pytest.mark.parametrize("counted", [True, False], ids=["known", "a sudden burst"])
async def test_a_claim_reads_as_much_as_it_takes_however_many_runs_wait(
    make_engine: MakeEngine, database_url: str, graph: Any, counted: bool
) -> None:
    fill(database_url, status="success", name="old")
    fill(database_url, status="pending", counted=counted)
    before = read_whole(database_url), read_by_index(database_url)

    engine: DurableEngine = await make_engine(graph, works=False)
    for _ in range(5):
        async with transaction(engine._machinery.pool) as conn:
            won = await claims.claim(
                conn,
                worker_id="w",
                served=Served({"agent": RunPolicy(max_attempts=3)}).rows(),
                slots=10,
                idle=False,
                lease_seconds=60,
            )
        assert len(won) == 10
    await engine.stop()

    assert +(read_whole(database_url) - before[0]) == Counter()
    by_index = +(read_by_index(database_url) - before[1])
    assert max(by_index.values()) < FEW, by_index.most_common(5)
