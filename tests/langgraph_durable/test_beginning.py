"""A new run begins in the transaction that stores it, unless somebody else's turn it is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from langgraph_durable.errors import AssistantNotFound
from langgraph_durable.model import RunStatus
from langgraph_durable.policy import RunPolicy
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, chain, ended, eventually, run, says, submit
from tests.logs import query


class Gated:
    """A graph that stops at a gate."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.graph = chain(n=self._node)

    async def _node(self, state: State) -> State:
        await self.gate.wait()
        return {"said": ["done"]}


async def settled(engine: Any) -> None:
    """The worker has looked, and nobody waits for it."""
    worker = engine._machinery._worker
    await eventually(lambda: not worker._others_wait, "nobody waits")


def stands(url: str, run_id: str) -> tuple[str, int]:
    [row] = query(url, "SELECT status, attempt FROM runs WHERE run_id = %s", (run_id,))
    return row["status"], row["attempt"]


@pytest.mark.parametrize("thread_id", ["t", None], ids=["a thread", "stateless"])
async def test_a_run_is_its_workers_as_soon_as_it_is_stored(
    make_engine: MakeEngine, database_url: str, thread_id: str | None
) -> None:
    gated = Gated()
    engine = await make_engine(gated.graph)
    await settled(engine)
    submitted = await submit(engine, thread_id, input={"said": []})
    assert stands(database_url, submitted.run_id) == ("running", 1)
    # To its asker it is a run that waits, as at every server of the protocol.
    assert (submitted.status, submitted.attempt) == (RunStatus.PENDING, 0)
    gated.gate.open()
    assert (await ended(engine, submitted)).status is RunStatus.SUCCESS


async def test_the_next_run_of_a_thread_waits_for_its_turn(
    make_engine: MakeEngine, database_url: str
) -> None:
    gated = Gated()
    engine = await make_engine(gated.graph)
    await settled(engine)
    first, second = [await submit(engine, input={"said": []}) for _ in range(2)]
    assert stands(database_url, first.run_id) == ("running", 1)
    assert stands(database_url, second.run_id) == ("pending", 0)
    gated.gate.open()
    done = await ended(engine, second)
    assert (done.status, done.attempt) == (RunStatus.SUCCESS, 1)


async def test_a_run_with_all_hands_full_waits(make_engine: MakeEngine, database_url: str) -> None:
    gated = Gated()
    engine = await make_engine(gated.graph, jobs_per_worker=1)
    await settled(engine)
    first = await submit(engine, "one", input={"said": []})
    second = await submit(engine, "two", input={"said": []})
    assert stands(database_url, first.run_id) == ("running", 1)
    assert stands(database_url, second.run_id) == ("pending", 0)
    gated.gate.open()
    assert (await ended(engine, second)).status is RunStatus.SUCCESS


async def test_nobody_overtakes_a_run_that_waits(
    make_engine: MakeEngine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make_engine(chain(n=says("done")))
    worker = engine._machinery._worker
    await settled(engine)
    claim, looks = worker._claim, asyncio.Event()

    async def looks_later() -> bool:
        await looks.wait()
        return bool(await claim())

    monkeypatch.setattr(worker, "_claim", looks_later)
    engine._machinery.wake_worker()  # as another server does that has stored a run
    late = await submit(engine, input={"said": []})
    assert stands(database_url, late.run_id) == ("pending", 0)
    looks.set()
    assert (await ended(engine, late)).status is RunStatus.SUCCESS


async def test_runs_that_must_be_counted_are_claimed(
    make_engine: MakeEngine, database_url: str
) -> None:
    gated = Gated()
    engine = await make_engine(gated.graph, policies={"agent": RunPolicy(concurrency=1)})
    await settled(engine)
    runs = [await submit(engine, thread, input={"said": []}) for thread in ("one", "two")]
    await gated.gate.reached.wait()
    running = query(database_url, "SELECT 1 FROM runs WHERE status = 'running'")
    assert len(running) == 1
    gated.gate.open()
    for each in runs:
        assert (await ended(engine, each)).status is RunStatus.SUCCESS


async def test_a_run_that_is_put_off_does_not_begin(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(n=says("done")))
    await settled(engine)
    put_off = await submit(engine, input={"said": []}, after_seconds=3600)
    assert stands(database_url, put_off.run_id) == ("pending", 0)


async def test_a_run_has_its_assistant_as_it_is_now_wherever_that_was_changed(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(chain(n=says("done")))
    elsewhere = await make_engine(chain(n=says("done")), works=False)
    made = await engine.create_assistant("agent", metadata={"tier": "old"}, name="mine")
    wish = {"assistant": made.assistant_id, "input": {"said": []}}

    async def tier() -> Any:
        return (await submit(engine, **wish)).metadata["tier"]

    await engine.create_thread("t")
    assert [await tier(), await tier()] == ["old", "old"]
    await elsewhere.update_assistant(made.assistant_id, metadata={"tier": "new"})
    assert await tier() == "new"
    await elsewhere.set_assistant_version(made.assistant_id, 1)
    assert await tier() == "old"
    await elsewhere.delete_assistant(made.assistant_id)
    again = {"assistant_id": made.assistant_id, "metadata": {"tier": "other"}}
    await elsewhere.create_assistant("agent", **again)
    assert await tier() == "other"
    await elsewhere.delete_assistant(made.assistant_id)
    with pytest.raises(AssistantNotFound):
        await tier()


@pytest.mark.parametrize("rounds", [1, 2])
async def test_metadata_of_the_thread_lie_between_the_assistants_and_the_runs(
    make_engine: MakeEngine, rounds: int
) -> None:
    seen: list[Any] = []

    def look(state: State, config: RunnableConfig) -> State:
        seen.append({k: v for k, v in config["metadata"].items() if k in "abcd"})
        return {"said": ["done"]}

    engine = await make_engine(chain(n=look))
    made = await engine.create_assistant("agent", metadata=dict.fromkeys("abcd", "assistant"))
    await engine.create_thread("t", metadata=dict.fromkeys("bcd", "thread"))
    own = {"config": {"metadata": {"c": "config", "d": "config"}}, "metadata": {"d": "run"}}
    expected = {"a": "assistant", "b": "thread", "c": "config", "d": "run"}
    for _ in range(rounds):  # the second one enters in one statement
        done = await run(engine, assistant=made.assistant_id, input={"said": []}, **own)
        assert expected.items() <= done.metadata.items()
    assert seen == [expected] * rounds
