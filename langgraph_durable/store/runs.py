"""Runs: what clients submit, cancel and read, and what workers claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import AsyncConnection

from langgraph_durable.errors import RunNotFound
from langgraph_durable.model import RecoveryStrategy, Run, RunStatus
from langgraph_durable.postgres import Row
from langgraph_durable.serde import decode, encode
from langgraph_durable.sql import statements
from langgraph_durable.store import events

_SQL = statements("runs")


def as_run(row: Row) -> Run:
    """A row as its readers see it."""
    fields = {name: row[name] for name in Run.__slots__ if name in row}
    return Run(
        **fields
        | {
            "run_id": str(row["run_id"]),
            "status": RunStatus(row["status"]),
            "strategy": RecoveryStrategy(row["strategy"]),
            "request": decode(row["request"]),
            "error": decode(row["error"]) if row["error"] else None,
        }
    )


def finished(columns: Mapping[str, Any]) -> dict[str, Any]:
    """What an attempt's last word makes of a run, as :class:`Run` has it."""
    error = columns["error"]
    return {
        "status": RunStatus(columns["status"]),
        "output": columns["output"],
        "error": decode(error) if error else None,
    }


async def get(conn: AsyncConnection[Row], run_id: str) -> Run:
    """Raises RunNotFound."""
    row = await (await conn.execute(_SQL["get"], {"run_id": run_id})).fetchone()
    if row is None:
        raise RunNotFound
    return as_run(row)


async def lock(conn: AsyncConnection[Row], run_id: str) -> Row:
    """A run's row, locked until commit; its thread must be locked before. Raises RunNotFound."""
    row = await (await conn.execute(_SQL["lock"], {"run_id": run_id})).fetchone()
    if row is None:
        raise RunNotFound
    return row


async def lock_behind(conn: AsyncConnection[Row], run: Run) -> Row | None:
    """The first run of a locked thread behind ``run`` that has touched its state, or may yet."""
    place = {"thread_id": run.thread_id, "ticket": run.ticket}
    return await (await conn.execute(_SQL["lock_behind"], place)).fetchone()


async def answering(
    conn: AsyncConnection[Row], asker: Run, question_id: str
) -> tuple[Run, Any] | None:
    """The first run behind ``asker`` that has answered its question, or is about to."""
    place = {"thread_id": asker.thread_id, "ticket": asker.ticket, "question_id": question_id}
    row = await (await conn.execute(_SQL["answering"], place)).fetchone()
    return (as_run(row), decode(row["answer"])["answers"][question_id]) if row else None


async def by_key(conn: AsyncConnection[Row], key: str) -> tuple[Run, str | None] | None:
    """The run that a request under an idempotency key has made, and the hash of that request."""
    row = await (await conn.execute(_SQL["by_key"], {"key": key})).fetchone()
    return (as_run(row), row["request_hash"]) if row else None


async def of_thread(
    conn: AsyncConnection[Row],
    thread_id: str,
    *,
    limit: int = 10,
    offset: int = 0,
    status: str | None = None,
) -> list[Run]:
    """A thread's runs, newest first."""
    rows = await conn.execute(
        _SQL["of_thread"],
        {"thread_id": thread_id, "limit": limit, "offset": offset, "status": status},
    )
    return [as_run(r) for r in await rows.fetchall()]


async def begun_after(conn: AsyncConnection[Row], thread_id: str, ticket: int) -> list[Run]:
    """A thread's runs that began behind the one with ``ticket`` (-1: all), in that order."""
    rows = await conn.execute(_SQL["begun_after"], {"thread_id": thread_id, "ticket": ticket})
    return [as_run(r) for r in await rows.fetchall()]


async def last_begun(conn: AsyncConnection[Row], thread_id: str) -> Run | None:
    """The run of a thread that began last, hidden or not."""
    row = await (await conn.execute(_SQL["last_begun"], {"thread_id": thread_id})).fetchone()
    return as_run(row) if row else None


async def by_ticket(conn: AsyncConnection[Row], thread_id: str, ticket: int) -> Run | None:
    """The run of one place in a thread's queue."""
    place = {"thread_id": thread_id, "ticket": ticket}
    row = await (await conn.execute(_SQL["by_ticket"], place)).fetchone()
    return as_run(row) if row else None


async def with_status(conn: AsyncConnection[Row], statuses: Sequence[str]) -> list[Run]:
    """All runs that wait or run, oldest first; ``statuses`` are pending, running or both."""
    rows = await conn.execute(_SQL["open"], {"statuses": list(statuses)})
    return [as_run(r) for r in await rows.fetchall()]


async def open_of_thread(conn: AsyncConnection[Row], thread_id: str) -> list[Row]:
    """The locked rows of a thread's runs that wait or run; the thread must be locked before."""
    rows = await conn.execute(_SQL["open_of_thread"], {"thread_id": thread_id})
    return await rows.fetchall()


async def abandoned_for_good(
    conn: AsyncConnection[Row], served: str, max_attempts: int
) -> list[Row]:
    """Locked rows of abandoned runs that are cancelled, overdue or out of attempts.

    ``max_attempts`` is for graphs that are not served here and of which no run was claimed yet.
    """
    limits = {"served": served, "max_attempts": max_attempts}
    return await (await conn.execute(_SQL["abandoned_for_good"], limits)).fetchall()


async def end_unowned(
    conn: AsyncConnection[Row],
    run: Row,
    *,
    status: RunStatus,
    error: Mapping[str, str] | None,
    crashes: int,
    questions: Sequence[Mapping[str, Any]] = (),
) -> None:
    """End a locked run that nobody executes: status, number and terminal event."""
    run_id = str(run["run_id"])
    await events.append_one(
        conn,
        run_id,
        seq=run["next_seq"],
        attempt=run["attempt"] + 1,
        name="end",
        data=end_data(status, error, questions),
    )
    await conn.execute(
        _SQL["end_unowned"],
        {
            "run_id": run_id,
            "status": status,
            "error": encode(error) if error else None,
            "crashes": crashes,
            "output": None,
        },
    )


def end_data(
    status: RunStatus,
    error: Mapping[str, str] | None,
    questions: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The payload of the terminal event."""
    return encode(ending(status, error, questions))


def ending(
    status: RunStatus,
    error: Mapping[str, str] | None,
    questions: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """What the terminal event tells."""
    return {"status": status, "error": error, "interrupts": list(questions)}


async def sleeps(conn: AsyncConnection[Row], run_id: object) -> bool:
    """Does this run wait for a time or a signal? ``run_id`` None is nobody's."""
    row = await (await conn.execute(_SQL["sleeps"], {"run_id": run_id})).fetchone()
    return row is not None


async def cancel_action(conn: AsyncConnection[Row], run_id: str) -> str | None:
    """What the person wants who stopped a run: ``interrupt``, ``rollback`` or nothing."""
    row = await (await conn.execute(_SQL["cancel_action"], {"run_id": run_id})).fetchone()
    return row["cancel_action"] if row else None


async def request_cancel(conn: AsyncConnection[Row], run_id: str, action: str) -> None:
    """Record that a person wants the run stopped."""
    await conn.execute(_SQL["request_cancel"], {"run_id": run_id, "action": action})


async def last_ended(conn: AsyncConnection[Row], thread_id: str) -> Row | None:
    """Of the newest run that has ended on a thread: id, status, error, time."""
    return await (await conn.execute(_SQL["last_ended"], {"thread_id": thread_id})).fetchone()


async def delete(conn: AsyncConnection[Row], run_id: str) -> None:
    """Forget a finished run and its log."""
    await conn.execute(_SQL["delete"], {"run_id": run_id})


async def hear_end(conn: AsyncConnection[Row], run_id: str) -> None:
    """Note that a client has heard of the end of a run."""
    await conn.execute(_SQL["hear_end"], {"run_id": run_id})


async def end_is_news(conn: AsyncConnection[Row], run_id: str, seconds: float) -> bool:
    """Has a run ended within so many seconds, and no client heard of it?"""
    asked = {"run_id": run_id, "seconds": seconds}
    return await (await conn.execute(_SQL["end_is_news"], asked)).fetchone() is not None


async def announce(conn: AsyncConnection[Row], note: str) -> None:
    """Tell every server; heard at commit."""
    await conn.execute("SELECT pg_notify('langgraph_durable', %s)", (note,))


async def announce_end(conn: AsyncConnection[Row], run_id: str) -> None:
    """Hint to every follower that a run ended without its owner; heard at commit."""
    await conn.execute(
        "SELECT pg_notify('langgraph_durable', %s), pg_notify('langgraph_durable', 'work')",
        (f"events {run_id},{run_id} end",),
    )


async def announce_work(conn: AsyncConnection[Row]) -> None:
    """Hint to every worker that something is due; heard at commit."""
    await announce(conn, "work")


async def announce_cancel(conn: AsyncConnection[Row], run_id: str) -> None:
    """Hint to the owner that a person wants the run stopped; heard at commit."""
    await announce(conn, f"cancel {run_id}")
