"""Crons: one row each; whoever locks a due one fires it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection, sql

from langgraph_durable.errors import CronNotFound
from langgraph_durable.model import Cron
from langgraph_durable.postgres import Row
from langgraph_durable.serde import decode, encode
from langgraph_durable.sql import statements
from langgraph_durable.store.threads import jsonb

_SQL = statements("crons")

SORTABLE = (
    *("cron_id", "assistant_id", "thread_id", "created_at", "updated_at"),
    *("next_run_date", "end_time"),
)
BATCH = 50
"""How many due crons one transaction fires."""


def as_cron(row: Row) -> Cron:
    """A row as its readers see it."""
    fields = {name: row[name] for name in Cron.__slots__}
    return Cron(**fields | {key: decode(row[key]) for key in ("payload", "request")})


def _parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **values,
        "metadata": jsonb(values["metadata"]),
        "payload": encode(values["payload"]),
        "request": encode(values["request"]),
    }


async def now(conn: AsyncConnection[Row]) -> datetime:
    """The database's time."""
    row = await (await conn.execute(_SQL["now"])).fetchone()
    assert row is not None
    found: datetime = row["now"]
    return found


async def insert(conn: AsyncConnection[Row], values: Mapping[str, Any]) -> Cron:
    """A new cron. ``values`` are its columns."""
    return await _one(conn, "insert", _parameters(values))


async def get(conn: AsyncConnection[Row], cron_id: str) -> Cron:
    """Raises CronNotFound."""
    return await _one(conn, "get", {"cron_id": cron_id})


async def lock(conn: AsyncConnection[Row], cron_id: str) -> Cron:
    """A cron that neither fires nor changes until commit. Raises CronNotFound."""
    return await _one(conn, "lock", {"cron_id": cron_id})


async def update(conn: AsyncConnection[Row], values: Mapping[str, Any]) -> Cron:
    """What a locked cron is from now on."""
    return await _one(conn, "update", _parameters(values))


async def delete(conn: AsyncConnection[Row], cron_id: str) -> None:
    """Raises CronNotFound."""
    row = await (await conn.execute(_SQL["delete"], {"cron_id": cron_id})).fetchone()
    if row is None:
        raise CronNotFound


async def due(conn: AsyncConnection[Row], served: Sequence[str]) -> list[tuple[Cron, datetime]]:
    """Crons of served graphs whose date has come, locked until commit, and the time it is."""
    rows = await conn.execute(_SQL["due"], {"served": list(served), "limit": BATCH})
    return [(as_cron(row), row["now"]) for row in await rows.fetchall()]


async def move(conn: AsyncConnection[Row], cron_id: str, date: datetime | None) -> None:
    """The date at which a locked cron fires next; None: never again."""
    await conn.execute(_SQL["move"], {"cron_id": cron_id, "next_run_date": date})


async def search(
    conn: AsyncConnection[Row],
    *,
    assistant_id: str | None = None,
    thread_id: str | None = None,
    enabled: bool | None = None,
    metadata: Mapping[str, Any] | None = None,
    limit: int = 10,
    offset: int = 0,
    sort_by: str | None = None,
    sort_order: str | None = None,
) -> tuple[list[Cron], int]:
    """A page of the crons that match, and how many match in all."""
    order = sql.SQL("{} {}, cron_id").format(
        sql.Identifier(sort_by if sort_by in SORTABLE else "created_at"),
        sql.SQL("ASC" if (sort_order or "desc").lower() == "asc" else "DESC"),
    )
    parameters = {
        "assistant_id": assistant_id,
        "thread_id": thread_id,
        "enabled": enabled,
        "metadata": jsonb(metadata or {}),
        "limit": limit,
        "offset": offset,
    }
    counted = await (await conn.execute(_SQL["count"], parameters)).fetchone()
    assert counted is not None
    rows = await conn.execute(sql.SQL(_SQL["search"]).format(order=order), parameters)
    return [as_cron(row) for row in await rows.fetchall()], int(counted["total"])


async def _one(conn: AsyncConnection[Row], name: str, parameters: Mapping[str, Any]) -> Cron:
    row = await (await conn.execute(_SQL[name], parameters)).fetchone()
    if row is None:
        raise CronNotFound
    return as_cron(row)
