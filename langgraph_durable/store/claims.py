"""Attempts that workers win: new runs they begin at once, due and abandoned ones they claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection, AsyncCursor

from langgraph_durable.model import RecoveryStrategy, Run, RunStatus
from langgraph_durable.postgres import Row
from langgraph_durable.serde import decode, encode
from langgraph_durable.sql import statements
from langgraph_durable.store.runs import as_run
from langgraph_durable.store.threads import jsonb

_SQL = statements("claims")

COUNTING_LOCK_CLASS = 0x4C48


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One attempt, just won: the run, its number, and what the thread looked like.

    ``was`` is the status before: ``running`` means the last owner crashed, ``pending`` that the
    run is new or was handed back. ``untouched``: its thread has no checkpoints. ``asleep``: it has yet to note what woke it. ``entry`` is what
    stood on the thread at its start or its latest wake-up, with the ``answers`` to the waits that
    were over then; ``first_entry`` that of its start, once it has been woken.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """A worker with a slot for a new run, and what that run may take. None: no bound."""

    worker_id: str
    lease_seconds: float
    max_attempts: int | None
    deadline_seconds: float | None


NO_HAND = dict.fromkeys(Hand.__slots__)


def _as_claim(row: Row) -> Claim:
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


class Entered:
    """A run that has joined its thread's queue. It can be read when its transaction is over."""

    def __init__(self, cursor: AsyncCursor[Row]) -> None:
        self._cursor = cursor

    async def read(self) -> tuple[Run, Claim | None]:
        """The run as its asker sees it, one that waits; and the attempt that has begun."""
        row = await self._cursor.fetchone()
        assert row is not None
        waiting = {"status": RunStatus.PENDING, "attempt": 0, "started_at": None}
        claim = _as_claim(row | {"was": RunStatus.PENDING}) if row["begins"] else None
        return as_run(row | waiting), claim


async def enter(
    conn: AsyncConnection[Row], run: Mapping[str, Any], hand: Hand | None
) -> Entered:
    """A run joins the queue of its thread, which must be locked; a ``hand`` begins it if it can."""
    parameters = {
        **run,
        **(asdict(hand) if hand else NO_HAND),
        **{name: jsonb(run[name]) for name in ("metadata", "thread_metadata", "config")},
        "created": encode({"run_id": run["run_id"]}),
    }
    return Entered(await conn.execute(_SQL["enter"], parameters))


async def claim(
    conn: AsyncConnection[Row],
    *,
    worker_id: str,
    served: str,
    slots: int,
    idle: bool,
    lease_seconds: float,
) -> list[Claim]:
    """Start up to ``slots`` attempts for a worker; nothing else starts one, but :func:`enter`.

    ``served`` are the graphs to take runs of, as ``Served.rows`` tells them.
    """
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
    return [_as_claim(r) for r in await rows.fetchall()]


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
