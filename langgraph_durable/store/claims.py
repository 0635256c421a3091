"""Attempts that workers win: they claim due runs and abandoned ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from langgraph_durable.model import RecoveryStrategy, RunStatus
from langgraph_durable.postgres import Row
from langgraph_durable.serde import decode
from langgraph_durable.sql import statements

_SQL = statements("claims")

COUNTING_LOCK_CLASS = 0x4C48


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One attempt, just won: the run, its number, and what the thread looked like.

    ``was`` is the status before: ``running`` means the last owner crashed, ``pending`` that the
    run is new or was handed back. ``untouched``: its thread has no checkpoints. ``asleep``: it has
    yet to note what woke it. ``entry`` is what stood on the thread at its start or its latest
    wake-up, with the ``answers`` to the waits that were over then; ``first_entry`` that of its
    start, once it has been woken.
    """

    run_id: str
    thread_id: str
    graph_id: str
    assistant_id: str
    attempt: int
    crashes: int
    strategy: RecoveryStrategy
    next_seq: int
    request: dict[str, Any]
    metadata: dict[str, Any]
    answer: dict[str, Any] | None
    entry: dict[str, Any] | None
    first_entry: dict[str, Any] | None
    asleep: bool
    untouched: bool
    was: RunStatus
    checkpoint_thread_id: str
    rotation: int
    created_at: datetime


def as_claim(row: Row) -> Claim:
    """A row that says what was won."""
    return Claim(
        **{field.name: row[field.name] for field in fields(Claim) if field.name in row}
        | {
            "run_id": str(row["run_id"]),
            "strategy": RecoveryStrategy(row["strategy"]),
            "was": RunStatus(row["was"]),
            "request": decode(row["request"]),
            "answer": decode(row["answer"]) if row["answer"] else None,
            "entry": decode(row["entry"]) if row["entry"] else None,
            "first_entry": decode(row["first_entry"]) if row["first_entry"] else None,
        }
    )


async def claim(
    conn: AsyncConnection[Row],
    *,
    worker_id: str,
    served: str,
    slots: int,
    idle: bool,
    lease_seconds: float,
) -> list[Claim]:
    """Start up to ``slots`` attempts for a worker; nothing else starts one, but ``entering``.

    ``served`` are the graphs to take runs of, as ``Served.rows`` tells them.
    """
    await conn.execute(_SQL["walk"])
    rows = await conn.execute(
        _SQL["claim"],
        {
            "worker_id": worker_id,
            "served": served,
            "slots": slots,
            "idle": idle,
            "lease_seconds": lease_seconds,
        },
    )
    return [as_claim(r) for r in await rows.fetchall()]


async def hold_graphs(conn: AsyncConnection[Row], graphs: Sequence[str]) -> set[str]:
    """Be the only one, until commit, to count the runs of graphs; answers those one is."""
    held = {"graphs": list(graphs), "lock_class": COUNTING_LOCK_CLASS}
    rows = await conn.execute(_SQL["hold_graphs"], held)
    return {row["graph_id"] for row in await rows.fetchall()}


async def disown(
    conn: AsyncConnection[Row], worker_id: str, held: Sequence[tuple[str, int]]
) -> None:
    """Give back what a worker owns and does not execute; ``held`` are run ids and attempts."""
    await conn.execute(
        _SQL["disown"],
        {
            "worker_id": worker_id,
            "run_ids": [run_id for run_id, _ in held],
            "attempts": [attempt for _, attempt in held],
        },
    )
