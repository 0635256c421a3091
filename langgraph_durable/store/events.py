"""Logs as their readers see them."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import args_row

from langgraph_durable.model import BEGINNING, Cursor, Event
from langgraph_durable.postgres import Row
from langgraph_durable.serde import decode
from langgraph_durable.sql import statements

_SQL = statements("events")


EVERYTHING = 2**31 - 1


async def after(
    conn: AsyncConnection[Row],
    run_id: str,
    cursor: Cursor,
    *,
    limit: int = EVERYTHING,
    size: int = EVERYTHING,
) -> list[Event]:
    """Committed events behind a cursor, in order: a page of ``limit`` events or ``size`` bytes.

    The event with which a page reaches its size belongs to it.
    """
    page = {"run_id": run_id, "after": cursor, "limit": limit, "size": size}
    rows = await conn.cursor(row_factory=args_row(Event)).execute(_SQL["after"], page)
    return await rows.fetchall()


async def at_checkpoint(conn: AsyncConnection[Row], run_id: str, checkpoint_id: str) -> Cursor:
    """The last event that belongs to a checkpoint; the beginning when there is none."""
    place = {"run_id": run_id, "checkpoint_id": checkpoint_id}
    row = await (await conn.execute(_SQL["at_checkpoint"], place)).fetchone()
    return BEGINNING if row is None or row["seq"] is None else Cursor(row["seq"])


async def ended(conn: AsyncConnection[Row], run_id: str, by: Cursor) -> bool:
    """Is the terminal event at or before a cursor?"""
    row = await conn.execute(_SQL["ended"], {"run_id": run_id, "by": by})
    return await row.fetchone() is not None


async def whole(conn: AsyncConnection[Row], run_id: str) -> list[Event]:
    """A run's log from the beginning."""
    return await after(conn, run_id, Cursor(-1))


async def append_one(
    conn: AsyncConnection[Row], run_id: str, *, seq: int, attempt: int, name: str, data: str
) -> None:
    """One event by whoever holds the run's row lock."""
    await conn.execute(
        _SQL["append_one"],
        {"run_id": run_id, "seq": seq, "attempt": attempt, "name": name, "data": data},
    )


class Marks:
    """What a log already holds: task ids with a result, checkpoint ids, asked question ids."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.results = {
            r["task_id"] for r in rows if r["name"].startswith("updates") and r["task_id"]
        }
        self.task_starts = {r["task_id"] for r in rows if r["starts"]}
        self.checkpoints = {(r["name"], r["checkpoint_id"]) for r in rows if r["checkpoint_id"]}
        self.questions = {
            q["id"] for r in rows if r["questions"] for q in _questions(r["questions"])
        }


def _questions(data: str) -> list[dict[str, Any]]:
    part = decode(data)
    found = part.get("__interrupt__") if isinstance(part, dict) else None
    return [q for q in found or [] if isinstance(q, dict) and "id" in q]


async def marks(conn: AsyncConnection[Row], run_id: str) -> Marks:
    """What healing must not append twice."""
    rows = await conn.execute(_SQL["marks"], {"run_id": run_id})
    return Marks(await rows.fetchall())


async def asked(conn: AsyncConnection[Row], run_id: str) -> list[dict[str, Any]]:
    """Every question that a run has told its readers, as ``{"id", "value"}``, each once."""
    rows = await conn.execute(_SQL["asked"], {"run_id": run_id})
    told = [q for row in await rows.fetchall() for q in _questions(row["data"])]
    return list({q["id"]: q for q in told}.values())
