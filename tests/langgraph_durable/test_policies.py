"""Run policies at work: time, steps, places and rests."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest

from langgraph_durable.model import Run, ThreadStatus
from langgraph_durable.policy import Backoff, RunPolicy
from langgraph_durable.waits import sleep
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, abandon, chain, ended, eventually, run, says, submit
from tests.logs import query, read_log

QUICK = {"heartbeat_seconds": 0.05, "liveness_grace_seconds": 0.2, "claim_poll_seconds": 0.05}
OVERDUE = "RunDeadlineExceeded"


def waits_at(gate: Gate) -> Any:
    async def node(state: State) -> State:
        await gate.wait()
        return {"said": ["gate"]}

    return node


def row(database_url: str, submitted: Run, columns: str) -> dict[str, Any]:
    statement = f"SELECT {columns} FROM runs WHERE run_id = %s"
    return query(database_url, statement, (submitted.run_id,))[0]


def move_deadline(database_url: str, submitted: Run) -> None:
    query(
        database_url,
        "UPDATE runs SET deadline_at = clock_timestamp() WHERE run_id = %s",
        (submitted.run_id,),
    )


def overdue(**more: Any) -> dict[str, Any]:
    return {"policies": {"agent": RunPolicy(run_deadline_seconds=3600)}, **QUICK, **more}


# -- deadlines -------------------------------------------------------------------------------------


async def test_a_run_that_takes_too_long_ends_as_timeout_and_its_thread_serves_the_next(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()
    engine = await make_engine(chain(first=says("first"), n=waits_at(gate)), **overdue())
    submitted = await submit(engine, input={"said": []})
    await gate.reached.wait()
    move_deadline(database_url, submitted)
    done = await ended(engine, submitted)
    assert (done.status, (done.error or {})["error"]) == ("timeout", OVERDUE)
    assert [e.name for e in read_log(database_url, done.run_id)].count("end") == 1
    thread = await engine.thread("t")
    assert thread.status is ThreadStatus.ERROR
    assert (await engine.state("t")).values["said"] == ["first"]
    gate.open()
    assert (await run(engine, input={"said": ["again"]})).status == "success"


async def test_a_deadline_is_kept_over_crashes(make_engine: MakeEngine, database_url: str) -> None:
    gate = Gate()
    engine = await make_engine(chain(n=waits_at(gate)), **overdue(max_attempts=5))
    submitted = await submit(engine, input={"said": []})
    await gate.reached.wait()
    before = row(database_url, submitted, "deadline_at, started_at")
    assert 3590 < (before["deadline_at"] - before["started_at"]).total_seconds() < 3610
    gate.reached.clear()
    abandon(database_url, submitted.run_id)
    await gate.reached.wait()
    after = row(database_url, submitted, "deadline_at, started_at, attempt")
    assert after == before | {"attempt": 3}
    gate.open()
    assert (await ended(engine, submitted)).status == "success"


async def test_an_overdue_run_whose_owner_is_dead_is_ended_and_not_recovered(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()
    engine = await make_engine(chain(n=waits_at(gate)), **overdue())
    submitted = await submit(engine, input={"said": []})
    await gate.reached.wait()
    query(
        database_url,
        "UPDATE runs SET worker_id = 'ghost', attempt = attempt + 1,"
        " deadline_at = clock_timestamp(), lease_expires_at = clock_timestamp()",
    )
    done = await ended(engine, submitted)
    assert (done.status, done.attempt, done.crashes) == ("timeout", 3, 1)
    gate.open()


async def test_an_overdue_run_that_was_handed_back_is_ended_without_a_strike(
    make_engine: MakeEngine, database_url: str
) -> None:
    asker = await make_engine(chain(n=says("x")), works=False)
    submitted = await submit(asker, input={"said": []})
    query(
        database_url,
        "UPDATE runs SET attempt = 1, deadline_at = clock_timestamp() - interval '1 second'",
    )
    await make_engine(chain(n=says("x")), **QUICK)
    done = await ended(asker, submitted)
    assert (done.status, done.crashes) == ("timeout", 0)


async def test_waiting_for_the_first_start_and_sleeping_do_not_count(
    make_engine: MakeEngine, database_url: str
) -> None:
    policy = RunPolicy(run_deadline_seconds=3600)
    asker = await make_engine(chain(n=says("x")), works=False, policies={"agent": policy}, **QUICK)
    late = await submit(asker, "late", input={"said": []})
    slept = await submit(asker, "slept", input={"said": []})
    query(
        database_url,
        "UPDATE runs SET created_at = now() - interval '9 days',"
        " available_at = now() - interval '9 days'",
    )
    query(
        database_url,
        "UPDATE runs SET attempt = 1, started_at = now() - interval '9 days',"
        " time_left = '10 seconds' WHERE run_id = %s",
        (slept.run_id,),
    )
    gate = Gate()
    engine = await make_engine(chain(n=waits_at(gate)), policies={"agent": policy}, **QUICK)
    query(database_url, "UPDATE runs SET entry = NULL")
    await eventually(
        lambda: (
            row(database_url, late, "status")["status"] == "running"
            and row(database_url, slept, "status")["status"] == "running"
        ),
        "both run",
    )
    left = "extract(epoch FROM deadline_at - clock_timestamp())::float8 AS left"
    assert 3500 < row(database_url, late, left)["left"] <= 3600
    assert 0 < row(database_url, slept, left)["left"] <= 10
    gate.open()
    for submitted in (late, slept):
        assert (await ended(engine, submitted)).status == "success"


async def test_a_sleep_longer_than_the_deadline_stops_its_clock(
    make_engine: MakeEngine, database_url: str
) -> None:
    async def node(state: State) -> State:
        sleep(timedelta(hours=2))
        return {"said": ["awake"]}

    engine = await make_engine(chain(n=node), **overdue())
    submitted = await submit(engine, input={"said": []})
    columns = "asleep, deadline_at, extract(epoch FROM time_left)::float8 AS left"
    await eventually(lambda: bool(row(database_url, submitted, columns)["asleep"]), "it sleeps")
    asleep = row(database_url, submitted, columns)
    assert asleep["deadline_at"] is None
    assert 3500 < asleep["left"] <= 3600
    query(database_url, "UPDATE waits SET due_at = clock_timestamp()")
    query(
        database_url,
        "UPDATE runs SET available_at = clock_timestamp()"
        " RETURNING pg_notify('langgraph_durable', 'work')",
    )
    assert (await ended(engine, submitted)).status == "success"


async def test_a_node_that_blocks_its_loop_does_not_outlive_its_deadline_for_others(
    make_engine: MakeEngine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from langgraph_durable import worker

    monkeypatch.setattr(worker, "DEAF_SECONDS", 0.2)
    gate = Gate()

    async def node(state: State) -> State:
        gate.block()
        return {"said": ["too late"]}

    engine = await make_engine(chain(n=node), **overdue())
    submitted = await submit(engine, input={"said": []})
    await gate.reached.wait()
    move_deadline(database_url, submitted)
    done = await ended(engine, submitted)
    assert (done.status, (done.error or {})["error"]) == ("timeout", OVERDUE)
    gate.open()


# -- steps -----------------------------------------------------------------------------------------


async def test_a_step_that_takes_too_long_fails_its_run_with_its_bound(
    make_engine: MakeEngine,
) -> None:
    gate = Gate()
    policies = {"agent": RunPolicy(step_timeout_seconds=0.3)}
    graphs = {"agent": chain(first=says("first"), n=waits_at(gate))}
    engine = await make_engine(graphs, policies=policies)
    done = await run(engine, input={"said": []})
    message = "A step took longer than 0.3 seconds."
    assert (done.status, done.error) == ("error", {"error": "StepTimedOut", "message": message})
    assert (await engine.state("t")).values["said"] == ["first"]
    gate.open()


async def test_the_shorter_bound_of_graph_and_policy_counts_and_others_time_outs_keep_their_name(
    make_engine: MakeEngine,
) -> None:
    gate = Gate()
    own = chain(n=waits_at(gate))
    own.step_timeout = 0.2

    async def raises(state: State) -> State:
        raise TimeoutError("the service did not answer")

    async def loses_patience(state: State) -> State:
        await asyncio.wait_for(gate.wait(), 0.05)
        return {}

    graphs = {
        "agent": own,
        "raises": chain(n=raises),
        "loses_patience": chain(first=says("x"), n=loses_patience),
    }
    policies = dict.fromkeys(graphs, RunPolicy(step_timeout_seconds=60))
    engine = await make_engine(graphs, policies=policies)
    done = await run(engine, input={"said": []})
    assert (done.error or {})["message"] == "A step took longer than 0.2 seconds."
    done = await run(engine, "other", assistant="raises", input={"said": []})
    assert done.error == {"error": "TimeoutError", "message": "the service did not answer"}
    done = await run(engine, "third", assistant="loses_patience", input={"said": []})
    assert done.error == {"error": "TimeoutError", "message": ""}
    gate.open()


# -- places ----------------------------------------------------------------------------------------


class Guests:
    """How many executions there are at a time, and how many there were at most."""

    def __init__(self) -> None:
        self.most = self.now = 0
        self._guard = threading.Lock()

    async def node(self, state: State) -> State:
        with self._guard:
            self.now += 1
            self.most = max(self.most, self.now)
        await asyncio.sleep(0.05)
        with self._guard:
            self.now -= 1
        return {"said": ["in"]}


async def test_all_servers_together_execute_no_more_runs_of_a_graph_than_it_allows(
    make_engine: MakeEngine, database_url: str
) -> None:
    guests, gate = Guests(), Gate()
    graphs = {"agent": chain(n=guests.node), "free": chain(n=says("free"))}
    knobs = {"policies": {"agent": RunPolicy(concurrency=2)}, **QUICK}
    asker = await make_engine(graphs, works=False)
    crowd = [await submit(asker, f"t{i}", input={"said": []}) for i in range(12)]
    free = [await submit(asker, f"f{i}", assistant="free", input={"said": []}) for i in range(12)]
    for _ in range(3):
        await make_engine(graphs, **knobs)
    for submitted in (*free, *crowd):
        assert (await ended(asker, submitted)).status == "success"
    assert guests.most == 2
    order = query(database_url, "SELECT graph_id FROM runs ORDER BY finished_at")
    last_free = max(i for i, r in enumerate(order) if r["graph_id"] == "free")
    assert last_free < len(order) - 1, "a full graph held up another one"
    gate.open()


async def test_an_abandoned_run_of_a_full_graph_is_recovered(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()
    engine = await make_engine(
        chain(n=waits_at(gate)), policies={"agent": RunPolicy(concurrency=1)}, **QUICK
    )
    submitted = await submit(engine, input={"said": []})
    await gate.reached.wait()
    abandon(database_url, submitted.run_id)
    gate.open()
    assert (await ended(engine, submitted)).status == "success"


# -- crashes ---------------------------------------------------------------------------------------


async def test_a_graph_has_its_own_number_of_attempts_also_for_servers_without_it(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()
    policies = {"agent": RunPolicy(max_attempts=2)}
    engine = await make_engine(chain(n=waits_at(gate)), policies=policies, **QUICK)
    other = await make_engine({"other": chain(n=says("x"))}, max_attempts=1, **QUICK)
    submitted = await submit(engine, input={"said": []})
    for _ in range(2):
        await gate.reached.wait()
        gate.reached.clear()
        abandon(database_url, submitted.run_id)
    done = await ended(other, submitted)
    assert (done.status, done.crashes) == ("error", 2)
    assert (done.error or {})["error"] == "MaxAttemptsExceeded"
    gate.open()


async def test_the_second_crash_is_rested_upon_and_the_first_is_not(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()
    policy = RunPolicy(max_attempts=9, retry=Backoff(initial_seconds=600))
    engine = await make_engine(chain(n=waits_at(gate)), policies={"agent": policy}, **QUICK)
    submitted = await submit(engine, input={"said": []})
    await gate.reached.wait()
    gate.reached.clear()
    abandon(database_url, submitted.run_id)
    await gate.reached.wait()
    gate.reached.clear()
    abandon(database_url, submitted.run_id)
    gate.open()
    assert (await run(engine, "sentinel", input={"said": []})).status == "success"
    assert row(database_url, submitted, "attempt, crashes") == {"attempt": 4, "crashes": 1}
    query(
        database_url,
        "UPDATE runs SET lease_expires_at = clock_timestamp() - interval '601 seconds'"
        " WHERE run_id = %s",
        (submitted.run_id,),
    )
    done = await ended(engine, submitted)
    assert (done.status, done.crashes) == ("success", 2)


def test_rests_grow_by_their_factor_up_to_the_longest(database_url: str) -> None:
    rests = query(
        database_url,
        "SELECT extract(epoch FROM rest(n, 2, 3, 100))::int AS rest FROM generate_series(0, 7) n",
    )
    assert [r["rest"] for r in rests] == [0, 0, 2, 6, 18, 54, 100, 100]
    far = query(database_url, "SELECT extract(epoch FROM rest(2000000000, 1e9, 1e9, 5))::int AS r")
    assert far == [{"r": 5}]


# -- only asking -----------------------------------------------------------------------------------


async def test_a_server_without_places_for_runs_leaves_them_to_others(
    make_engine: MakeEngine,
) -> None:
    asker = await make_engine(chain(n=says("x")), jobs_per_worker=0)
    assert asker.jobs_max == 0
    submitted = await submit(asker, input={"said": []})
    assert (await asker.numbers()).workers == 0
    await make_engine(chain(n=says("x")), **QUICK)
    assert (await ended(asker, submitted)).status == "success"


# -- loops -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("isolated", "threads"), [(False, 1), (True, 3)])
async def test_isolated_loops_give_every_run_a_thread_of_its_own(
    make_engine: MakeEngine, isolated: bool, threads: int
) -> None:
    seen: set[int] = set()
    gates = {f"t{i}": Gate() for i in range(3)}

    async def node(state: State) -> State:
        seen.add(threading.get_ident())
        await gates[state["said"][0]].wait()
        return {"said": ["x"]}

    engine = await make_engine(chain(n=node), isolated_loops=isolated)
    submitted = [await submit(engine, name, input={"said": [name]}) for name in gates]
    for gate in gates.values():
        await gate.reached.wait()
    assert len(seen) == threads
    for gate in gates.values():
        gate.open()
    for one in submitted:
        assert (await ended(engine, one)).status == "success"
