"""A database that refuses, forgets to answer or is cut off harms the one run it concerns."""

from __future__ import annotations

import asyncio
import random
import string
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from langgraph.config import get_stream_writer

from langgraph_durable import worker
from langgraph_durable.engine import runs as engine_runs
from langgraph_durable.errors import OutcomeUnknown
from langgraph_durable.eventlog import writer
from langgraph_durable.model import RunStatus
from langgraph_durable.postgres import single, transaction
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, chain, ended, eventually, run, says, submit
from tests.logs import query, read_log
from tests.proxies import PostgresProxy

SECONDS_AT_MOST = 8.0
"""Far below a lease: what is told at once needs no lease to run out."""


async def says_bad(state: State) -> State:
    get_stream_writer()("BAD")
    return {"said": ["bad"]}


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        ("RAISE EXCEPTION 'too large' USING errcode = '54000'", "ProgramLimitExceeded"),
        ("RAISE EXCEPTION 'no' USING errcode = '22000'", "DataException"),
        ("PERFORM pg_sleep(60)", "QueryCanceled"),
    ],
    ids=["too large", "not a value", "statement_timeout"],
)
async def test_a_statement_that_the_database_refuses_ends_only_its_own_run(
    make_engine: MakeEngine, database_url: str, refusal: str, reason: str
) -> None:
    name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
    query(database_url, f"ALTER DATABASE {name} SET statement_timeout = '500ms'")
    query(
        database_url,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF new.data = '\"BAD\"' THEN {refusal}; END IF; RETURN new; END $$",
    )
    query(
        database_url,
        "CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse()",
    )
    engine = await make_engine({"agent": chain(n=says("good")), "bad": chain(n=says_bad)})
    neighbours = [await submit(engine, f"good {i}", input={"said": []}) for i in range(3)]
    bad = await submit(engine, "bad", assistant="bad", input={"said": []})
    refused = await ended(engine, bad, SECONDS_AT_MOST)
    assert (refused.status, refused.attempt, refused.crashes) == ("error", 2, 0)
    assert refused.error == {"error": reason, "message": "the database refused an operation"}
    assert [e.name for e in read_log(database_url, bad.run_id)][-1] == "end"
    neighbours.append(await submit(engine, "later", input={"said": []}))
    for neighbour in neighbours:
        done = await ended(engine, neighbour, SECONDS_AT_MOST)
        assert (done.status, done.attempt) == ("success", 1)


async def test_a_thread_id_too_long_for_an_index_ends_its_run_with_the_reason(
    make_engine: MakeEngine,
) -> None:
    letters = random.Random(1).choices(string.ascii_letters + string.digits, k=2650)
    engine = await make_engine(chain(n=says("good")))
    submitted = await submit(engine, "".join(letters), input={"said": []})
    refused = await ended(engine, submitted, SECONDS_AT_MOST)
    assert (refused.error or {})["error"] == "ProgramLimitExceeded"
    assert (await run(engine, input={"said": []})).status is RunStatus.SUCCESS


async def test_a_database_that_only_reads_for_a_moment_costs_no_strike(
    make_engine: MakeEngine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, refused = Gate(), asyncio.Event()
    loop, judge = asyncio.get_running_loop(), writer._database_is_away

    def judged(error: Exception) -> bool:
        if getattr(error, "sqlstate", None) == "25006":
            loop.call_soon_threadsafe(refused.set)
        return judge(error)

    async def node(state: State) -> State:
        await gate.wait()
        return {"said": ["done"]}

    monkeypatch.setattr(writer, "_database_is_away", judged)
    engine = await make_engine(chain(n=node, after=says("after")))
    submitted = await submit(engine, input={"said": []})
    await gate.reached.wait()
    only_reads(database_url, "on")
    gate.open()
    await refused.wait()
    only_reads(database_url, "off")
    done = await ended(engine, submitted)
    assert (done.status, done.crashes) == ("success", 0)


def only_reads(database_url: str, value: str) -> None:
    """Every session from now on is a new one, and only reads if ``value`` is ``on``."""
    name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
    writes = "-c default_transaction_read_only=off"
    with psycopg.connect(database_url, autocommit=True, options=writes) as conn:
        conn.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {value}")
        conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def test_a_worker_without_its_session_lock_claims_nothing(
    make_engine: MakeEngine, database_url: str
) -> None:
    proxy = PostgresProxy(database_url)
    engine = await make_engine(
        chain(n=says("done")), direct_database_url=proxy.conninfo, liveness_grace_seconds=0.1
    )
    machinery = engine._machinery
    proxy.leave()
    await eventually(lambda: not machinery._keeper.holds_lock, "the lock is lost")
    submitted = await submit(engine, input={"said": []})
    assert not await machinery._worker._claim()
    assert (await engine.run(submitted.run_id)).status is RunStatus.PENDING
    proxy.come_back()
    done = await ended(engine, submitted)
    assert (done.status, done.attempt, done.crashes) == ("success", 1, 0)
    await engine.stop()
    proxy.close()


def losing(commits: Any, database_url: str, lost: list[Any]) -> Any:
    """``commits`` whose answer is lost once, when a run has begun in it."""

    @asynccontextmanager
    async def context(pool: Any, **options: Any) -> AsyncIterator[Any]:
        async with commits(pool, **options) as conn:
            yield conn
        if not lost:
            lost.extend(query(database_url, "SELECT 1 FROM runs WHERE status = 'running'"))
            if lost:
                raise OutcomeUnknown

    return context


@pytest.mark.parametrize(
    ("module", "commits", "waits"),
    [(worker, transaction, {"after_seconds": 0.05}), (engine_runs, single, {})],
    ids=["a claim", "a run that begins as it is stored"],
)
async def test_a_start_whose_answer_was_lost_is_given_back_at_once(
    make_engine: MakeEngine,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    commits: Any,
    waits: dict[str, float],
) -> None:
    lost: list[Any] = []
    engine = await make_engine(chain(n=says("done")), claim_poll_seconds=0.1)
    await engine.create_thread("t")
    engine_worker = engine._machinery._worker
    await eventually(lambda: not engine_worker._others_wait, "a new run may begin")
    monkeypatch.setattr(module, commits.__name__, losing(commits, database_url, lost))
    submitted = await submit(engine, input={"said": []}, **waits)
    done = await ended(engine, submitted, SECONDS_AT_MOST)
    assert lost
    assert (done.status, done.attempt, done.crashes) == ("success", 2, 0)
