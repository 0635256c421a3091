"""Cancel is a durable fact, whatever the run is doing and whoever executes it."""

from __future__ import annotations

import asyncio
import time
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph

from langgraph_durable import attempt, execution, parts
from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import RunNotCancellable
from langgraph_durable.model import RunRequest, RunStatus
from langgraph_durable.serde import decode
from tests.conftest import MakeEngine
from tests.logs import query, read_log


class State(TypedDict, total=False):
    done: list[str]


class Steps:
    """A graph of a quick node and one that behaves as told; ``entered`` is set in the second."""

    def __init__(self, behave: Any) -> None:
        self.entered = asyncio.Event()
        self.left = asyncio.Event()
        loop = asyncio.get_running_loop()
        builder = StateGraph(State)

        async def first(state: State) -> State:
            return {"done": ["first"]}

        async def second(state: State) -> State:
            loop.call_soon_threadsafe(self.entered.set)
            await behave()
            loop.call_soon_threadsafe(self.left.set)
            return {"done": ["first", "second"]}

        builder.add_node("first", first)
        builder.add_node("second", second)
        builder.add_edge(START, "first")
        builder.add_edge("first", "second")
        builder.add_edge("second", END)
        self.graph = builder.compile()


async def waits() -> None:
    await asyncio.Event().wait()


async def swallows_once() -> None:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return


async def is_stubborn() -> None:
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue


@pytest.mark.parametrize(
    ("behave", "kept"),
    [
        (waits, ["first"]),
        (swallows_once, ["first", "second"]),  # it returned a result after all
        (is_stubborn, ["first"]),
    ],
)
async def test_a_running_run_is_interrupted_and_keeps_its_finished_steps(
    make_engine: MakeEngine,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    behave: Any,
    kept: list[str],
) -> None:
    """aegra#132: the graph went on, and its success replaced the end by the cancel."""
    monkeypatch.setattr(attempt, "CANCEL_PATIENCE_SECONDS", 0.2)
    steps = Steps(behave)
    engine: DurableEngine = await make_engine(steps.graph)
    submitted = await engine.submit(
        RunRequest(assistant="agent", thread_id="t", if_not_exists="create", input={"done": []})
    )
    await steps.entered.wait()
    await engine.cancel(submitted.run_id)
    run = await engine.wait(submitted.run_id)
    assert run.status is RunStatus.INTERRUPTED
    assert decode(run.output or "")["done"] == kept
    unfinished = kept == ["first"]
    assert (await engine.thread("t")).status == ("interrupted" if unfinished else "idle")
    with pytest.raises(RunNotCancellable):
        await engine.cancel(submitted.run_id)
    log = read_log(database_url, submitted.run_id)
    assert [e.name for e in log].count("end") == 1
    state = await engine.state("t")
    assert state is not None
    assert state.next == (("second",) if unfinished else ())
    if behave is is_stubborn:
        # It was left behind; what it still writes is fenced out.
        await steps.left.wait()
        again = await engine.state("t")
        assert again == state
        assert (await engine.run(submitted.run_id)) == run
        assert read_log(database_url, submitted.run_id) == log


async def test_what_a_stopped_graph_had_done_and_not_yet_told_is_told(
    make_engine: MakeEngine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(waits)
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    async def slow_to_tell(*given: Any, **options: Any) -> parts.Parts:
        async for part in parts.stream_parts(*given, **options):
            if part[1] == "updates":
                loop.call_soon_threadsafe(done.set)
                await asyncio.Event().wait()
            yield part

    monkeypatch.setattr(execution, "stream_parts", slow_to_tell)
    engine: DurableEngine = await make_engine(steps.graph)
    submitted = await engine.submit(
        RunRequest(assistant="agent", thread_id="t", if_not_exists="create", input={"done": []})
    )
    await done.wait()
    await engine.cancel(submitted.run_id)
    run = await engine.wait(submitted.run_id)
    assert decode(run.output or "") == {"done": ["first"]}
    log = read_log(database_url, submitted.run_id)
    told = [(decode(e.data), e.task_id is None) for e in log if e.name == "updates"]
    assert told == [({"first": {"done": ["first"]}}, False)]


async def test_a_waiting_run_ends_in_the_cancel_itself(
    make_engine: MakeEngine, database_url: str
) -> None:
    steps = Steps(waits)
    engine: DurableEngine = await make_engine(steps.graph)
    first = await engine.submit(
        RunRequest(assistant="agent", thread_id="t", if_not_exists="create", input={"done": []})
    )
    queued = await engine.submit(RunRequest(assistant="agent", thread_id="t", input={"done": []}))
    await steps.entered.wait()
    await engine.cancel(queued.run_id)
    assert (await engine.run(queued.run_id)).status is RunStatus.INTERRUPTED
    assert (await engine.thread("t")).status == "busy"
    assert [e.name for e in read_log(database_url, queued.run_id)] == ["created", "end"]
    await engine.cancel(first.run_id)
    await engine.wait(first.run_id)
    assert (await engine.thread("t")).status == "interrupted"


async def test_a_run_without_any_worker_can_be_cancelled(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine: DurableEngine = await make_engine(Steps(waits).graph, works=False)
    submitted = await engine.submit(RunRequest(assistant="agent", input={"done": []}))
    await engine.cancel(submitted.run_id)
    assert (await engine.wait(submitted.run_id)).status is RunStatus.INTERRUPTED
    rows = query(database_url, "SELECT status, active_run_id FROM threads")
    assert rows == [{"status": "idle", "active_run_id": None}]


async def test_a_cancel_asked_of_another_process_reaches_the_owner(
    make_engine: MakeEngine,
) -> None:
    steps = Steps(waits)
    owner: DurableEngine = await make_engine(steps.graph)
    other: DurableEngine = await make_engine(steps.graph, works=False)
    submitted = await other.submit(RunRequest(assistant="agent", input={"done": []}))
    await steps.entered.wait()
    await other.cancel(submitted.run_id)
    assert (await other.wait(submitted.run_id)).status is RunStatus.INTERRUPTED
    assert (await owner.run(submitted.run_id)).status is RunStatus.INTERRUPTED
