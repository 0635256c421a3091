"""Ending runs on nobody's behalf: waiting ones, abandoned ones, and ones whose owner cannot.

Whoever ends a run that it does not own advances its number, so that an owner that comes back is
fenced out. Thread and run rows are locked by the caller, in that order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import AsyncConnection

from langgraph_durable.ending import OVERDUE
from langgraph_durable.model import RunStatus, ThreadStatus
from langgraph_durable.postgres import Row
from langgraph_durable.rotation import retraction_statements, rollback_statements
from langgraph_durable.serde import decode
from langgraph_durable.store import runs, threads, waits


async def end(
    conn: AsyncConnection[Row],
    run: Row,
    *,
    checkpoint_thread_id: str,
    status: RunStatus,
    thread_status: ThreadStatus,
    error: Mapping[str, str] | None = None,
    action: str | None = None,
    crashes: int | None = None,
) -> None:
    """Last event, status, thread and checkpoints of a run, and a hint to its followers."""
    run_id, thread_id = str(run["run_id"]), run["thread_id"]
    entry = decode(run["entry"]) if run["entry"] else None
    struck = run["crashes"] if crashes is None else crashes
    await runs.end_unowned(conn, run, status=status, error=error, crashes=struck)
    await conn.execute(*waits.forget(run_id))
    if action == "rollback":
        statements = rollback_statements(
            run_id=run_id,
            thread_id=thread_id,
            checkpoint_thread_id=checkpoint_thread_id,
            entry=entry,
        )
    else:
        statements = retraction_statements(checkpoint_thread_id, entry)
        await threads.settle(conn, thread_id, run_id=run_id, status=thread_status, error=error)
    for statement, parameters in statements:
        await conn.execute(statement, parameters)
    await runs.announce_end(conn, run_id)


async def end_waiting(conn: AsyncConnection[Row], thread: Row, run: Row, *, action: str) -> None:
    """End a run that waits for a worker."""
    started = thread["active_run_id"] is not None and thread["active_run_id"] == run["run_id"]
    asks = decode(thread["interrupts"]) != {}
    settled = ThreadStatus.INTERRUPTED if started or asks else ThreadStatus.IDLE
    await end(
        conn,
        run,
        checkpoint_thread_id=thread["checkpoint_thread_id"],
        status=RunStatus.INTERRUPTED,
        thread_status=settled,
        action=action,
    )


async def end_answered(conn: AsyncConnection[Row]) -> None:
    """End every sleeper that the next run of its thread answers; that one goes on in its place.

    Its end is that of any run that asks: with its questions, and its waits go on without it.
    """
    for row in await waits.answered_sleepers(conn):
        asked = [q for listed in decode(row["interrupts"]).values() for q in listed]
        await waits.bequeath(conn, str(row["run_id"]), row["thread_id"], str(row["heir"]))
        await runs.end_unowned(
            conn,
            row,
            status=RunStatus.SUCCESS,
            error=None,
            crashes=row["crashes"],
            questions=asked,
        )
        await runs.announce_end(conn, str(row["run_id"]))


async def end_abandoned(conn: AsyncConnection[Row], served: str, max_attempts: int) -> None:
    """End abandoned runs that nobody may try again: cancelled, overdue, or out of attempts.

    See ``store.runs.abandoned_for_good``.
    """
    for row in await runs.abandoned_for_good(conn, served, max_attempts):
        cancelled = row["cancel_action"] is not None
        crashed = row["status"] == RunStatus.RUNNING and not cancelled
        crashes = row["crashes"] + (1 if crashed else 0)
        status, error = RunStatus.ERROR, _too_many(crashes)
        if row["overdue"]:
            status, error = RunStatus.TIMEOUT, OVERDUE
        await end(
            conn,
            row,
            checkpoint_thread_id=row["checkpoint_thread_id"],
            status=RunStatus.INTERRUPTED if cancelled else status,
            thread_status=ThreadStatus.INTERRUPTED if cancelled else ThreadStatus.ERROR,
            error=None if cancelled else error,
            action=row["cancel_action"],
            crashes=crashes,
        )


async def end_by_force(
    conn: AsyncConnection[Row],
    run_id: str,
    thread_id: str,
    attempt: int,
    *,
    status: RunStatus,
    error: Mapping[str, str] | None,
    action: str | None = None,
) -> bool:
    """End a run whose owner cannot write its last word; False when it is not that attempt's."""
    thread: Any = await threads.lock(conn, thread_id)
    run = await runs.lock(conn, run_id)
    if run["attempt"] != attempt or run["status"] != RunStatus.RUNNING:
        return False
    await end(
        conn,
        run,
        checkpoint_thread_id=thread["checkpoint_thread_id"],
        status=status,
        thread_status=ThreadStatus.ERROR if error else ThreadStatus.INTERRUPTED,
        error=error,
        action=action,
    )
    return True


def _too_many(crashes: int) -> dict[str, str]:
    return {
        "error": "MaxAttemptsExceeded",
        "message": f"The run was given up after {crashes} crashes without progress.",
    }
