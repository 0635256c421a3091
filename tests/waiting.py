"""Runs that sleep: how a test sees that they do, and how it lets their time pass."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.graph import END, START, StateGraph

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Run
from langgraph_durable.waits import sleep, wait_for_signal
from tests.graphs import State, submit
from tests.logs import query
from tests.servers import until

HOUR = 3600.0

PASS = """
WITH moved AS (
    UPDATE waits w SET due_at = due_at - make_interval(secs => %(seconds)s)
    FROM runs r WHERE r.run_id = w.run_id AND r.thread_id = coalesce(%(thread)s, r.thread_id)
    RETURNING w.run_id)
UPDATE runs r
SET available_at = available_at - make_interval(secs => %(seconds)s)
WHERE r.asleep AND r.status = 'pending' AND r.run_id IN (SELECT run_id FROM moved)
RETURNING pg_notify('langgraph_durable', 'work')
"""


def pass_time(database_url: str, seconds: float, thread: str | None = None) -> None:
    """All waits have lasted so much longer: time moves in the database."""
    query(database_url, PASS, {"seconds": seconds, "thread": thread})


def row(database_url: str, run_id: str) -> dict[str, Any]:
    [found] = query(database_url, "SELECT * FROM runs WHERE run_id = %s", (run_id,))
    return found


def asleep(database_url: str, run_id: str, attempt: int = 1) -> bool:
    """Is the run rows and nothing else, in this attempt or behind it?"""
    found = row(database_url, run_id)
    return bool(found["status"] == "pending" and found["asleep"] and found["attempt"] >= attempt)


def until_asleep(database_url: str, run_id: str, attempt: int = 1) -> None:
    """Wait until this run sleeps."""
    until(lambda: asleep(database_url, run_id, attempt), f"run {run_id} sleeps")


async def sleeper(
    engine: DurableEngine, database_url: str, thread_id: str = "t", **wish: Any
) -> Run:
    """A run that has fallen asleep."""
    found = await submit(engine, thread_id, **{"input": {"said": []}, **wish})
    await asyncio.to_thread(until_asleep, database_url, found.run_id)
    return found


def sleeps(seconds: float = HOUR, word: str = "slept") -> Any:
    """A node."""

    def node(state: State) -> State:
        sleep(seconds)
        return {"said": [word]}

    return node


def hears(name: str, timeout: float | None = None) -> Any:
    """A node that says what a signal brings, or that none came."""

    async def node(state: State) -> State:
        try:
            value = wait_for_signal(name, timeout)
        except TimeoutError:
            value = "nothing"
        return {"said": [f"{name}={value}"]}

    return node


def beside(state: Any = State, /, **nodes: Any) -> Any:
    """Nodes of one step, and ``join`` behind them."""
    builder = StateGraph(state)
    builder.add_node("join", lambda _: {"said": ["join"]})
    builder.add_edge("join", END)
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(START, name)
    builder.add_edge(list(nodes), "join")
    return builder.compile()
