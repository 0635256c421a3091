"""Small graphs whose nodes tests stop, block and let go, and what a test does to their runs."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from concurrent.futures import Future
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Run, RunRequest
from tests.logs import query
from tests.servers import until


class State(TypedDict, total=False):
    said: Annotated[list[str], operator.add]


def chain(**nodes: Any) -> Any:
    """Nodes one behind the other."""
    return wired(nodes).compile()


def wired(nodes: dict[str, Any], state: Any = State) -> Any:
    builder = StateGraph(state)
    before = START
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    builder.add_edge(before, END)
    return builder


def says(word: str) -> Any:
    async def node(state: State) -> State:
        return {"said": [word]}

    return node


class Gate:
    """Where nodes stop until the test opens it. ``reached`` is set when one gets there."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self._main = asyncio.get_running_loop()
        self._opened: Future[None] = Future()

    def open(self) -> None:
        if not self._opened.done():
            self._opened.set_result(None)

    async def wait(self) -> None:
        """Stop here and give way."""
        self._main.call_soon_threadsafe(self.reached.set)
        await asyncio.shield(asyncio.wrap_future(self._opened))

    def block(self) -> None:
        """Stop here with the whole thread."""
        self._main.call_soon_threadsafe(self.reached.set)
        self._opened.result(60)


async def submit(engine: DurableEngine, thread_id: str | None = "t", **wish: Any) -> Run:
    wish = {"assistant": "agent", "if_not_exists": "create", **wish}
    return await engine.submit(RunRequest(thread_id=thread_id, **wish))


async def run(engine: DurableEngine, thread_id: str | None = "t", **wish: Any) -> Run:
    """The run when it has ended."""
    return await ended(engine, await submit(engine, thread_id, **wish))


async def ended(engine: DurableEngine, submitted: Run, seconds: float = 15) -> Run:
    async with asyncio.timeout(seconds):
        return await engine.wait(submitted.run_id)


async def said(engine: DurableEngine, thread_id: str = "t") -> list[str]:
    state = await engine.state(thread_id)
    return [] if state is None else list(state.values.get("said", []))


async def eventually(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition without stopping the engine."""
    await asyncio.to_thread(until, condition, what)


def abandon(database_url: str, run_id: str) -> None:
    """The run's owner is gone, as after a crash; what it still writes is fenced out."""
    query(
        database_url,
        "UPDATE runs SET worker_id = 'ghost', attempt = attempt + 1,"
        " lease_expires_at = clock_timestamp() WHERE run_id = %s"
        " RETURNING pg_notify('langgraph_durable', 'work')",
        (run_id,),
    )
