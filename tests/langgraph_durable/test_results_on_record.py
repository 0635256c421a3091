"""What a task has done is on record before anything that builds on it, and soon in any case."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph

from tests.conftest import MakeEngine
from tests.logs import query
from tests.servers import until


class State(TypedDict, total=False):
    seen: list[str]


@pytest.fixture
def written(database_url: str) -> Any:
    """Blocks its thread, and so the loop, while it looks which channels have been written."""

    def channels() -> set[str]:
        rows = query(database_url, "SELECT DISTINCT channel FROM checkpoint_writes")
        return {row["channel"] for row in rows}

    return channels


async def test_the_handler_of_an_error_begins_when_the_error_is_on_record(
    make_engine: MakeEngine, written: Any
) -> None:
    """Else a crash in the handler would run the failed node again, which it has made up for."""

    async def pay(state: State) -> State:
        raise ValueError("no funds")

    async def refund(state: State) -> State:
        return {"seen": sorted(channel for channel in written() if "error" in channel)}

    graph: Any = StateGraph(State)
    graph.add_node("pay", pay, error_handler=refund).add_edge(START, "pay")
    engine = await make_engine(graph.compile(), linger_seconds=1.0)
    run = await engine.wait((await engine.submit({})).run_id)
    assert run.status == "success"
    assert '"__error_source_node__"' in (run.output or "")


async def test_a_result_becomes_durable_while_the_loop_is_blocked(
    make_engine: MakeEngine, written: Any
) -> None:
    """A crash would repeat what it cost."""

    @task
    async def expensive() -> int:
        return 1

    @entrypoint()
    async def function(given: dict[str, Any]) -> int:
        found = await expensive()
        until(lambda: "__return__" in written(), "its result")
        return found

    engine = await make_engine(function)
    run = await engine.wait((await engine.submit({})).run_id)
    assert (run.status, run.output) == ("success", "1")
