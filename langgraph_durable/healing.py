"""What a crash kept from a run's log though its checkpoints hold it: results of tasks.

LangGraph repeats the results of the step that it enters again. Those of earlier steps in a subgraph
and those of a function's tasks it does not: they are looked up here.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from psycopg import AsyncConnection

from langgraph_durable.checkpointer import FencedSaver
from langgraph_durable.postgres import Row
from langgraph_durable.snapshot import FinishedTask, Graph, at_checkpoint, finished_tasks
from langgraph_durable.store import checkpoints


@dataclass(slots=True)
class Untold:
    """``finished`` tasks of steps that are over, and what tasks of functions ``returned``, by id.

    How the latter are called only LangGraph knows: it says so when it comes to them again.
    """

    finished: list[FinishedTask] = field(default_factory=list)
    returned: dict[str, Any] = field(default_factory=dict)


async def untold(
    conn: AsyncConnection[Row],
    graph: Graph,
    saver: FencedSaver,
    config: RunnableConfig,
    *,
    entry: Mapping[str, Any],
) -> Untold:
    """Results that the run of ``config`` has on its checkpoints since ``entry``, not in its log."""
    place, found = config["configurable"], Untold()
    rows = await checkpoints.untold(conn, place["thread_id"], place["run_id"], entry)
    for row in rows:
        if row["type"] is not None:
            value = saver.serde.loads_typed((row["type"], row["returned"]))
            found.returned[row["task_id"]] = value
    for ns, checkpoint_id in {(r["ns"], r["checkpoint_id"]): None for r in rows if r["passed"]}:
        where = {"checkpoint_ns": ns, "checkpoint_id": checkpoint_id}
        with suppress(ValueError):  # a node made this subgraph: the graph does not know of it
            state = await graph.aget_state(at_checkpoint(config, where))
            found.finished += finished_tasks(state, tuple(ns.split("|")) if ns else ())
    return found
