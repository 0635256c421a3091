"""Every kind of run, killed at every kind of moment: nothing applied twice, skipped or lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query, read_log
from tests.proxies import PostgresProxy
from tests.servers import Server, until

THREAD = "table"
OPENED = {"configurable": {"gate": "opened"}}
LAST_WORD = rb"{\"status\":\"success\""
"""The run's ``end`` event on its way to the database."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """``before`` are runs that end first, ``run`` is killed, ``after`` are runs that follow.

    ``gate`` is where it is killed; None kills it when its last word is half sent. ``opens`` are
    gates that are open from the start, ``written`` is how many results of tasks must be durable
    before the kill. ``counts`` are executions over all attempts; of the ``last`` node one more,
    unless its result was durable when its run's end was not.
    """

    graph: str
    run: dict[str, Any]
    items: list[str]
    gate: str | None
    before: tuple[dict[str, Any], ...] = ()
    after: tuple[dict[str, Any], ...] = ()
    opens: tuple[str, ...] = ()
    written: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    last: str | None = None
    next: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


START: dict[str, Any] = {"input": {"items": ["in"]}}
YES: dict[str, Any] = {"command": {"resume": "yes"}}
NO: dict[str, Any] = {"command": {"resume": "no"}}
JUMP: dict[str, Any] = {"command": {"update": {"items": ["u"]}, "goto": "two"}}
BOTH: dict[str, Any] = {"command": {"resume": "yes", "update": {"items": ["u"]}}}
STOPS_BEFORE: dict[str, Any] = {**START, "interrupt_before": ["three"]}
STOPS_AFTER: dict[str, Any] = {**START, "interrupt_after": ["two"]}

CASES = {
    "input, before the first write": Case(
        graph="steps_opening",
        run={**START, "config": OPENED},
        gate="opened",
        items=["in", "one", "two", "three"],
        counts={"one": 1, "two": 1, "three": 1},
    ),
    "input, in a node": Case(
        graph="steps",
        run=START,
        gate="two",
        items=["in", "one", "two", "three"],
        counts={"one": 1, "two": 2, "three": 1},
    ),
    "input, behind the last node": Case(
        graph="steps",
        run=START,
        gate=None,
        opens=("two",),
        items=["in", "one", "two", "three"],
        counts={"one": 1, "two": 1, "three": 1},
        last="three",
    ),
    "second input, in a node": Case(
        graph="steps",
        before=({"input": {"items": ["first"]}, "interrupt_before": ["two"]},),
        run=START,
        gate="two",
        items=["first", "one", "in", "one", "two", "three"],
        counts={"one": 2, "two": 2, "three": 1},
    ),
    "parallel branches": Case(
        graph="parallel",
        run=START,
        gate="slow",
        written=1,
        items=["in", "fast", "slow", "join"],
        counts={"fast": 1, "slow": 2, "join": 1},
    ),
    "fan-out": Case(
        graph="sends",
        run=START,
        gate="last",
        written=3,
        items=["in", "begin", "b1", "b2", "last", "join"],
        counts={"begin": 1, "b1": 1, "b2": 1, "last": 2, "join": 1},
    ),
    "subgraph": Case(
        graph="nested",
        run={"input": {"items": []}},
        gate="in2",
        items=["before", "before", "in1", "in2", "after"],
        counts={"before": 1, "in1": 1, "in2": 2, "after": 1},
    ),
    "answer, before the first write": Case(
        graph="question_opening",
        before=(START,),
        run={**YES, "config": OPENED},
        gate="opened",
        items=["in", "q1=yes", "end"],
        counts={"ask answered": 1, "end": 1},
    ),
    "answer, in the asking node": Case(
        graph="one_question",
        before=(START,),
        run=YES,
        gate="ask",
        items=["in", "q1=yes", "end"],
        counts={"ask answered": 2, "end": 1},
    ),
    "answer, in a later node": Case(
        graph="one_question",
        before=(START,),
        run=YES,
        gate="end",
        opens=("ask",),
        items=["in", "q1=yes", "end"],
        counts={"ask answered": 1, "end": 2},
    ),
    "answer, behind the last node": Case(
        graph="one_question",
        before=(START,),
        run=YES,
        gate=None,
        opens=("ask", "end"),
        items=["in", "q1=yes", "end"],
        counts={"ask answered": 1, "end": 1},
        last="end",
    ),
    "first of two answers in one node, the second question being asked": Case(
        graph="two_in_one",
        before=(START,),
        run=YES,
        gate=None,
        opens=("ask", "end"),
        after=(NO,),
        items=["in", "q1=yes", "q2=no", "end"],
        counts={"ask answered": 1},
    ),
    "second of two answers in one node": Case(
        graph="two_in_one",
        before=(START, YES),
        run=NO,
        gate="ask",
        items=["in", "q1=yes", "q2=no", "end"],
        counts={"ask answered": 2},
    ),
    "first of two answers in two nodes": Case(
        graph="two_in_two",
        before=(START,),
        run=YES,
        gate="ask",
        opens=("again",),
        after=(NO,),
        items=["in", "q1=yes", "q2=no", "end"],
        counts={"ask answered": 2, "again answered": 1},
    ),
    "first of two answers in two nodes, the second question being asked": Case(
        graph="two_in_two",
        before=(START,),
        run=YES,
        gate=None,
        opens=("ask", "again", "end"),
        items=["in", "q1=yes"],
        next=("again",),
        questions=("q2",),
        counts={"ask answered": 1, "again answered": 0},
    ),
    "second of two answers in two nodes": Case(
        graph="two_in_two",
        before=(START, YES),
        run=NO,
        gate="again",
        opens=("ask",),
        items=["in", "q1=yes", "q2=no", "end"],
        counts={"ask answered": 1, "again answered": 2},
    ),
    "answer with an update, in the asking node": Case(
        graph="one_question",
        before=(START,),
        run=BOTH,
        gate="ask",
        items=["in", "u", "q1=yes", "end"],
    ),
    "answer with an update, before the first write": Case(
        graph="question_opening",
        before=(START,),
        run={**BOTH, "config": OPENED},
        gate="opened",
        items=["in", "u", "q1=yes", "end"],
    ),
    "update and goto, before the first write": Case(
        graph="detour_opening",
        before=(START,),
        run={**JUMP, "config": OPENED},
        gate="opened",
        items=["in", "one", "u", "two"],
        counts={"one": 1, "two": 1},
    ),
    "update and goto, in the node": Case(
        graph="detour",
        before=(START,),
        run=JUMP,
        gate="two",
        items=["in", "one", "u", "two"],
        counts={"one": 1, "two": 2},
    ),
    "update and goto, behind the last node": Case(
        graph="detour",
        before=(START,),
        run=JUMP,
        gate=None,
        opens=("two",),
        items=["in", "one", "u", "two"],
        counts={"one": 1, "two": 1},
        last="two",
    ),
    "breakpoint before a node, in the node in front of it": Case(
        graph="steps",
        run=STOPS_BEFORE,
        gate="two",
        items=["in", "one", "two"],
        next=("three",),
        counts={"two": 2, "three": 0},
    ),
    "breakpoint before a node, having stopped there": Case(
        graph="steps",
        run=STOPS_BEFORE,
        gate=None,
        opens=("two",),
        items=["in", "one", "two"],
        next=("three",),
        counts={"two": 1, "three": 0},
    ),
    "breakpoint behind a node, having stopped there": Case(
        graph="steps",
        run=STOPS_AFTER,
        gate=None,
        opens=("two",),
        items=["in", "one", "two"],
        next=("three",),
        counts={"two": 1, "three": 0},
    ),
    "passing a breakpoint, in the node behind it": Case(
        graph="steps",
        before=({**START, "interrupt_before": ["two"]},),
        run={"input": None, "interrupt_before": ["two"]},
        gate="two",
        items=["in", "one", "two", "three"],
        counts={"one": 1, "two": 2, "three": 1},
    ),
}


@pytest.fixture
def proxy(database_url: str) -> Iterator[PostgresProxy]:
    made = PostgresProxy(database_url)
    yield made
    made.close()


@pytest.mark.parametrize("name", CASES)
async def test_recovery(
    name: str,
    proxy: PostgresProxy,
    crash_server: CrashServer,
    gates: Gates,
    sdk: Sdk,
    database_url: str,
) -> None:
    case = CASES[name]
    gates.open(*case.opens)
    server = crash_server(database_url=proxy.conninfo).start()
    client = sdk(server.url)
    await client.threads.create(thread_id=THREAD)
    for earlier in case.before:
        await client.runs.wait(THREAD, case.graph, **earlier)
    run_id = await killed(client, server, case, gates, proxy, database_url)
    counts = case.counts
    if case.last and len(checkpointed_tasks(database_url)) < len(counts):
        counts = {**counts, case.last: 2}
    open_all(gates)
    server.start()
    await asyncio.wait_for(client.runs.join(THREAD, run_id), 30)
    for later in case.after:
        await client.runs.wait(THREAD, case.graph, **later)
    state = await client.threads.get_state(THREAD)
    assert state["values"]["items"] == case.items
    assert tuple(state["next"]) == case.next
    assert tuple(i["value"] for i in state["interrupts"]) == case.questions
    assert {n: gates.count(n) for n in counts} == counts
    rows = query(database_url, "SELECT status, attempt FROM runs WHERE run_id = %s", (run_id,))
    assert rows == [{"status": "success", "attempt": 2}]
    log = read_log(database_url, run_id)
    assert [e.name for e in log].count("end") == 1
    tasks = [e.task_id for e in log if e.mode == "updates" and e.task_id]
    assert len(tasks) == len(set(tasks))
    assert checkpointed_tasks(database_url) <= logged_tasks(database_url)


async def killed(
    client: Any,
    server: Server,
    case: Case,
    gates: Gates,
    proxy: PostgresProxy,
    database_url: str,
) -> str:
    """Start the run and kill its server at the case's moment; answers the run's id."""
    if case.gate is None:
        proxy.hold(LAST_WORD)
    run = await client.runs.create(THREAD, case.graph, stream_mode=["updates"], **case.run)
    if case.gate is None:
        await asyncio.to_thread(until, proxy.held.is_set, "the last word is half sent")
    else:
        await asyncio.to_thread(gates.reached, case.gate)
    await asyncio.to_thread(
        until, lambda: len(checkpointed_tasks(database_url)) >= case.written, "durable results"
    )
    server.kill()
    proxy.cut()  # what was only half sent never arrives
    proxy.resume()
    return str(run["run_id"])


def open_all(gates: Gates) -> None:
    gates.open("opened", "two", "slow", "last", "in2", "ask", "again", "end")


def checkpointed_tasks(database_url: str) -> set[str]:
    """Ids of tasks whose results are durable."""
    statement = (
        "SELECT task_id FROM checkpoint_writes WHERE channel = 'items'"
        " AND task_path LIKE '%%pregel_p%%' AND task_path NOT LIKE '%%start%%'"
    )
    return {row["task_id"] for row in query(database_url, statement)}


def logged_tasks(database_url: str) -> set[str]:
    """Ids of tasks whose results some log holds."""
    return {row["task_id"] for row in query(database_url, "SELECT task_id FROM events")}
