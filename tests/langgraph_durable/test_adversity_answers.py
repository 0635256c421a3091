"""What a stopped or failed run answered is taken back; what had been accepted before stays."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.types import interrupt

from langgraph_durable import checkpointer
from langgraph_durable.attempt import Attempt
from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Run, RunStatus
from langgraph_durable.serde import decode
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, abandon, chain, ended, run, said, says, submit


class Approval:
    """Asks, then waits for ever behind the first answer; later ones are taken at their word."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.heard: list[str] = []
        self.graph = chain(ask=self._ask)

    async def _ask(self, state: State) -> State:
        answer = interrupt("delete?")
        self.heard.append(answer)
        if len(self.heard) == 1:
            await self.gate.wait()
        return {"said": [answer]}

    async def approved(self, engine: DurableEngine) -> Run:
        """A run that gave its answer and is busy behind it."""
        await run(engine, input={"said": []})
        approving = await submit(engine, command={"resume": "approve"})
        await self.gate.reached.wait()
        return approving

    async def check(self, engine: DurableEngine) -> None:
        """The question is open, and the next answer is the one that counts."""
        thread = await engine.thread("t")
        assert [q["value"] for listed in thread.interrupts.values() for q in listed] == ["delete?"]
        again = await run(engine, command={"resume": "reject"})
        assert (again.status, again.error) == ("success", None)
        assert self.heard == ["approve", "reject"]
        assert await said(engine) == ["reject"]


async def test_an_answer_ends_with_the_cancel_of_the_node_that_heard_it(
    make_engine: MakeEngine,
) -> None:
    approval = Approval()
    engine = await make_engine(approval.graph)
    approving = await approval.approved(engine)
    await engine.cancel(approving.run_id)
    assert (await ended(engine, approving)).status is RunStatus.INTERRUPTED
    await approval.check(engine)


async def test_an_answer_ends_with_the_cancel_of_a_run_that_waits_after_a_deploy(
    make_engine: MakeEngine,
) -> None:
    approval = Approval()
    engine = await make_engine(approval.graph, shutdown_grace_seconds=0.1)
    approving = await approval.approved(engine)
    await engine.stop()
    asking = await make_engine(approval.graph, works=False)
    assert (await asking.run(approving.run_id)).status is RunStatus.PENDING
    await asking.cancel(approving.run_id)
    await approval.check(await make_engine(approval.graph))


async def test_an_answer_ends_with_the_last_strike_of_its_run(
    make_engine: MakeEngine, database_url: str
) -> None:
    approval = Approval()
    engine = await make_engine(approval.graph, max_attempts=1)
    approving = await approval.approved(engine)
    abandon(database_url, approving.run_id)
    given_up = await ended(engine, approving)
    assert (given_up.error or {})["error"] == "MaxAttemptsExceeded"
    await approval.check(engine)


@pytest.mark.parametrize("nested", [False, True], ids=["in a node", "in a subgraph"])
async def test_accepted_answers_of_a_node_survive_the_failure_of_a_later_one(
    make_engine: MakeEngine, nested: bool
) -> None:
    heard: list[tuple[str, str]] = []

    def node(state: State) -> State:
        name, sure = interrupt("name?"), interrupt("sure?")
        heard.append((name, sure))
        if sure == "bad":
            raise ValueError("bad")
        return {"said": [name, sure]}

    graph = chain(ask=node)
    engine = await make_engine(chain(outer=graph) if nested else graph)
    await run(engine, input={"said": []})
    await run(engine, command={"resume": "bob"})
    failed = await run(engine, command={"resume": "bad"})
    assert failed.error == {"error": "ValueError", "message": "bad"}
    thread = await engine.thread("t")
    assert [q["value"] for listed in thread.interrupts.values() for q in listed] == ["sure?"]
    better = await run(engine, command={"resume": "yes"})
    assert better.status is RunStatus.SUCCESS
    assert heard == [("bob", "bad"), ("bob", "yes")]
    assert await said(engine) == ["bob", "yes"]


async def test_the_last_word_survives_an_outage_without_a_strike(
    make_engine: MakeEngine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    def node(state: State) -> State:
        heard.append(interrupt("sure?"))
        raise ValueError(heard[-1])

    settled, fail = Attempt._settled, [True]

    async def settled_in_an_outage(self: Attempt, *ending: Any) -> Any:
        if fail:
            fail.clear()
            return await broken(database_url, settled(self, *ending))
        return await settled(self, *ending)

    monkeypatch.setattr(Attempt, "_settled", settled_in_an_outage)
    monkeypatch.setattr(checkpointer, "RETRY_SECONDS", ())
    engine = await make_engine(chain(ask=node))
    await run(engine, input={"said": []})
    failed = await run(engine, command={"resume": "bad"})
    assert failed.error == {"error": "ValueError", "message": "bad"}
    assert (failed.attempt, failed.crashes) == (2, 0)
    log = [e async for batch in engine.batches(failed.run_id) for e in batch]
    assert decode(log[-1].data)["error"] == failed.error


@pytest.mark.parametrize("stops", [[], ["b"]], ids=["finished", "at a breakpoint"])
async def test_an_edit_beside_an_answer_that_no_question_waits_for_is_applied_once(
    make_engine: MakeEngine, stops: list[str]
) -> None:
    engine = await make_engine(chain(a=says("a"), b=says("b")))
    await run(engine, input={"said": []}, interrupt_before=stops)
    command = {"resume": "yes", "update": {"said": ["edit"]}}
    assert (await run(engine, command=command)).status is RunStatus.SUCCESS
    assert await said(engine) == (["a", "edit", "b"] if stops else ["a", "b", "edit"])


async def broken(database_url: str, work: Any) -> Any:
    """Do ``work`` while every session that reads a checkpoint is ended."""
    from psycopg import AsyncConnection

    options = "-c search_path=langgraph_durable"
    async with await AsyncConnection.connect(database_url, options=options) as outage:
        await outage.execute("LOCK TABLE checkpoints IN ACCESS EXCLUSIVE MODE")
        doing = asyncio.ensure_future(work)
        while not doing.done():
            await outage.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
            await asyncio.wait([doing], timeout=0.02)
    return doing.result()
