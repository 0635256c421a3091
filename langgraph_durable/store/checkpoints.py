"""What the engine itself reads of LangGraph's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import AsyncConnection

from langgraph_durable.postgres import Row
from langgraph_durable.sql import statements

NULL_TASK = "00000000-0000-0000-0000-000000000000"
"""The task id of writes outside any task: a command's update and goto."""

_SQL = statements("checkpoints")


async def entry(conn: AsyncConnection[Row], thread_id: str) -> dict[str, Any]:
    """What stands on a checkpoint thread before a run touches it.

    ``head`` and ``greatest`` are checkpoint ids or None; ``pending`` lists the pending writes on
    the newest checkpoint of each namespace, whole rows where ``idx`` is negative.
    """
    row = await (await conn.execute(_SQL["entry"], {"thread_id": thread_id})).fetchone()
    assert row is not None
    return {"head": row["head"], "greatest": row["greatest"], "pending": row["pending"] or []}


def null_writes(entry: Mapping[str, Any]) -> int:
    """How many writes outside any task stood on the entry's head."""
    return sum(1 for w in entry["pending"] if w["task_id"] == NULL_TASK and not w["ns"])


async def greatest(conn: AsyncConnection[Row], thread_id: str) -> str | None:
    """The newest checkpoint id of a thread in all namespaces."""
    row = await (await conn.execute(_SQL["greatest"], {"thread_id": thread_id})).fetchone()
    return row["greatest"] if row else None


async def untold(
    conn: AsyncConnection[Row], thread_id: str, run_id: str, entry: Mapping[str, Any]
) -> list[Row]:
    """Results on a checkpoint thread that are a run's own and that its log lacks.

    Rows of ``ns``, ``checkpoint_id`` and ``task_id``; whether the run has ``passed`` that step;
    what a task of a function has ``returned``, and the ``type`` of those bytes.
    """
    place = {"thread_id": thread_id, "run_id": run_id, "head": entry["head"]}
    rows = await (await conn.execute(_SQL["untold"], place)).fetchall()
    before = {NULL_TASK, *(write["task_id"] for write in entry["pending"] if write["idx"] >= 0)}
    return [row for row in rows if row["task_id"] not in before]


async def built_upon(conn: AsyncConnection[Row], ids: Sequence[str], run_id: str) -> bool:
    """Does a later checkpoint of another run (DeltaChannel) need those of this run?"""
    place = {"ids": list(ids), "run_id": run_id}
    return await (await conn.execute(_SQL["built_upon"], place)).fetchone() is not None


async def exists(
    conn: AsyncConnection[Row], thread_id: str, namespace: str, checkpoint_id: str
) -> bool:
    """Does a thread have this checkpoint?"""
    place = {"thread_id": thread_id, "namespace": namespace, "checkpoint_id": checkpoint_id}
    return await (await conn.execute(_SQL["exists"], place)).fetchone() is not None
