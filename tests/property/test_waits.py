"""Signals and time in any order, before, at and after the waits: each signal ends one, in order."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Run, RunStatus
from langgraph_durable.settings import Settings
from langgraph_durable.waits import sleep, wait_for_signal
from tests.graphs import State, ended, eventually, submit
from tests.logs import query, read_log
from tests.property.laws import race
from tests.waiting import HOUR, beside, pass_time

LATE = "late"


@dataclass(frozen=True)
class Wait:
    """For a signal of a name, at most so many hours; without a name a sleep."""

    name: str | None
    hours: int | None


waits = st.one_of(
    st.builds(Wait, st.sampled_from("ab"), st.sampled_from([None, 1, 2])),
    st.builds(Wait, st.none(), st.integers(1, 2)),
)
nodes = st.lists(waits, min_size=1, max_size=3)
happens = st.lists(
    st.sampled_from(["signal a", "signal b", "an hour", "crash", "quiet", "start"]), max_size=8
)


class Planned(State, total=False):
    plan: list[list[tuple[str | None, int | None]]]


def made(number: int) -> Any:
    """A node that waits as its part of the input says and tells what became of each wait."""

    def node(state: Planned) -> State:
        told = []
        for name, hours in state["plan"][number]:
            try:
                if name is None:
                    sleep(hours * HOUR)
                else:
                    value = wait_for_signal(name, None if hours is None else hours * HOUR)
                    told.append(f"{name}{value}")
            except TimeoutError:
                told.append(f"{name} {LATE}")
        return {"said": [f"{number}:{','.join(told)}"]}

    return node


class Floor:
    """An engine that works, and the thread of one example."""

    def __init__(self, runner: asyncio.Runner, engine: DurableEngine, database_url: str) -> None:
        self._runner, self._engine, self._url = runner, engine, database_url

    def play(self, plan: list[list[Wait]], story: list[str]) -> dict[str, list[str]]:
        """What each node was told, once everything that it waits for has come."""
        return self._runner.run(self._play(plan, story))

    async def _play(self, plan: list[list[Wait]], story: list[str]) -> dict[str, list[str]]:
        thread, sent = f"t-{uuid.uuid4()}", dict.fromkeys("ab", 0)
        await self._engine.create_thread(thread)
        run: Run | None = None
        for event in [*story, "start"]:
            if event == "start":
                run = run or await self._start(thread, plan)
            elif event.startswith("signal"):
                await self._signal(thread, event[-1], sent)
            elif event == "an hour":
                await asyncio.to_thread(pass_time, self._url, HOUR, thread)
            elif run is not None:
                await self._disturb(run, event)
        assert run is not None
        while not (await self._engine.run(run.run_id)).status.terminal:
            await self._settled(run)
            for name in "ab":
                await self._signal(thread, name, sent)
            await asyncio.to_thread(pass_time, self._url, HOUR, thread)
        assert (await ended(self._engine, run)).status is RunStatus.SUCCESS
        read_log(self._url, run.run_id)
        self._check_left(thread, run)
        state = await self._engine.state(thread)
        assert state is not None
        parts = (said.partition(":") for said in state.values["said"] if ":" in said)
        return {number: [t for t in told.split(",") if t] for number, _, told in parts}

    async def _start(self, thread: str, plan: list[list[Wait]]) -> Run:
        given = [[(wait.name, wait.hours) for wait in node] for node in plan]
        return await submit(self._engine, thread, input={"said": [], "plan": given})

    async def _signal(self, thread: str, name: str, sent: dict[str, int]) -> None:
        sent[name] += 1
        await self._engine.signal(thread, name, sent[name])

    async def _disturb(self, run: Run, event: str) -> None:
        if event == "quiet":
            await self._settled(run)
        elif (await self._engine.run(run.run_id)).status is RunStatus.RUNNING:
            abandon_if_running(self._url, run.run_id)

    async def _settled(self, run: Run) -> None:
        """Nothing is due and nothing runs."""
        quiet = (
            "SELECT 1 FROM runs WHERE run_id = %s AND (finished_at IS NOT NULL"
            " OR (status = 'pending' AND asleep AND available_at > clock_timestamp()))"
        )
        await eventually(lambda: bool(query(self._url, quiet, (run.run_id,))), "it is quiet")

    def _check_left(self, thread: str, run: Run) -> None:
        """No wait is left, and of each name the first signals were taken, by this run."""
        assert query(self._url, "SELECT 1 FROM waits WHERE run_id = %s", (run.run_id,)) == []
        for name in "ab":
            rows = query(
                self._url,
                "SELECT taken_by::text FROM signals WHERE thread_id = %s AND name = %s"
                " ORDER BY position",
                (thread, name),
            )
            takers = [row["taken_by"] for row in rows]
            taken = [taker for taker in takers if taker is not None]
            assert takers[: len(taken)] == taken
            assert set(taken) <= {run.run_id}


def abandon_if_running(database_url: str, run_id: str) -> None:
    """As after a crash; a run that has fallen asleep meanwhile is left alone."""
    query(
        database_url,
        "UPDATE runs SET worker_id = 'ghost', attempt = attempt + 1,"
        " lease_expires_at = clock_timestamp() WHERE run_id = %s AND status = 'running'"
        " RETURNING pg_notify('langgraph_durable', 'work')",
        (run_id,),
    )


@pytest.fixture(scope="module")
def floor(module_database: str) -> Iterator[Floor]:
    graph = beside(Planned, **{f"n{number}": made(number) for number in range(2)})
    knobs = Settings(database_url=module_database, claim_poll_seconds=0.05, max_attempts=100)
    engine = DurableEngine(graph, settings=knobs)
    with asyncio.Runner() as runner:
        runner.run(engine.start())
        yield Floor(runner, engine, module_database)
        runner.run(engine.stop())


@settings(race, max_examples=30)
@given(plan=st.tuples(nodes, nodes), story=happens)
def test_each_signal_ends_one_wait_in_the_order_they_came(
    floor: Floor, plan: tuple[list[Wait], list[Wait]], story: list[str]
) -> None:
    told = floor.play(list(plan), story)
    heard: dict[str, list[int]] = {"a": [], "b": []}
    for number, node in enumerate(plan):
        results = told[str(number)]
        asked = [wait for wait in node if wait.name is not None]
        assert len(results) == len(asked)
        for wait, result in zip(asked, results, strict=True):
            assert result[0] == wait.name
            if result.endswith(LATE):
                assert wait.hours is not None
            else:
                heard[result[0]].append(int(result[1:]))
        for name in "ab":
            mine = [int(r[1:]) for r in results if r[0] == name and not r.endswith(LATE)]
            assert mine == sorted(mine)
    for values in heard.values():
        assert sorted(values) == list(range(1, len(values) + 1))
