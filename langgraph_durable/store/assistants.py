"""Assistants and their versions; those of graphs that are not served here do not exist here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from psycopg import AsyncConnection, sql

from langgraph_durable.errors import AssistantExists, AssistantNotFound
from langgraph_durable.model import Assistant
from langgraph_durable.postgres import Database, Row, reaching
from langgraph_durable.sql import statements
from langgraph_durable.store.threads import jsonb

_SQL = statements("assistants")

SORTABLE = ("assistant_id", "graph_id", "name", "created_at", "updated_at")


def as_assistant(row: Row) -> Assistant:
    """A row as its readers see it."""
    return Assistant(**{name: row[name] for name in Assistant.__slots__})


def _parameters(assistant: Assistant) -> dict[str, Any]:
    values = asdict(assistant)
    return values | {key: jsonb(values[key]) for key in ("config", "context", "metadata")}


def install(database: Database, assistants: Iterable[Assistant]) -> None:
    """The served graphs' own assistants, unless they are there. Blocking: call it in a thread.

    Raises:
        StoreUnavailable: the database cannot be reached.
    """
    with reaching(), database.connect() as conn:
        for assistant in assistants:
            parameters = _parameters(assistant)
            conn.execute(_SQL["insert"], parameters)
            conn.execute(_SQL["describe"], parameters)


async def get(conn: AsyncConnection[Row], assistant_id: str, served: Sequence[str]) -> Assistant:
    """Raises AssistantNotFound."""
    parameters = {"assistant_id": assistant_id, "served": list(served)}
    row = await (await conn.execute(_SQL["get"], parameters)).fetchone()
    if row is None:
        raise AssistantNotFound
    return as_assistant(row)


async def create(
    conn: AsyncConnection[Row], assistant: Assistant, served: Sequence[str], *, if_exists: str
) -> Assistant:
    """Raises AssistantExists unless ``if_exists`` is ``do_nothing``: then what is there."""
    made = await (await conn.execute(_SQL["insert"], _parameters(assistant))).fetchone()
    if made is None and if_exists != "do_nothing":
        raise AssistantExists(f"Assistant {assistant.assistant_id} already exists")
    return await get(conn, assistant.assistant_id, served)


async def lock(conn: AsyncConnection[Row], assistant_id: str, served: Sequence[str]) -> Assistant:
    """An assistant that nobody else changes until commit. Raises AssistantNotFound."""
    await conn.execute(_SQL["lock"], {"assistant_id": assistant_id})
    return await get(conn, assistant_id, served)


async def add_version(
    conn: AsyncConnection[Row], assistant: Assistant, served: Sequence[str]
) -> Assistant:
    """What a locked assistant says from now on, as a new version."""
    await conn.execute(_SQL["add_version"], _parameters(assistant))
    return await get(conn, assistant.assistant_id, served)


async def set_version(
    conn: AsyncConnection[Row], assistant_id: str, version: int, served: Sequence[str]
) -> Assistant:
    """Let an older or newer version hold. Raises AssistantNotFound when there is no such one."""
    parameters = {"assistant_id": assistant_id, "version": version, "served": list(served)}
    if await (await conn.execute(_SQL["set_version"], parameters)).fetchone() is None:
        raise AssistantNotFound(f"Version {version} not found for assistant {assistant_id}")
    return await get(conn, assistant_id, served)


async def versions(
    conn: AsyncConnection[Row],
    assistant_id: str,
    *,
    metadata: Mapping[str, Any],
    limit: int,
    offset: int,
) -> list[Assistant]:
    """What an assistant said at each version, newest first; the times are the version's."""
    rows = await conn.execute(
        _SQL["versions"],
        {
            "assistant_id": assistant_id,
            "metadata": jsonb(metadata),
            "limit": limit,
            "offset": offset,
        },
    )
    return [as_assistant(row) for row in await rows.fetchall()]


async def delete(conn: AsyncConnection[Row], assistant_id: str) -> None:
    """The assistant and all its versions. Raises AssistantNotFound."""
    parameters = {"assistant_id": assistant_id}
    if await (await conn.execute(_SQL["delete"], parameters)).fetchone() is None:
        raise AssistantNotFound


async def lock_threads(conn: AsyncConnection[Row], assistant_id: str) -> list[str]:
    """Ids of the threads whose metadata name the assistant, locked until commit."""
    rows = await conn.execute(_SQL["lock_threads"], {"assistant_id": assistant_id})
    return [row["thread_id"] for row in await rows.fetchall()]


async def search(
    conn: AsyncConnection[Row],
    served: Sequence[str],
    *,
    metadata: Mapping[str, Any] | None = None,
    graph_id: str | None = None,
    name: str | None = None,
    limit: int = 10,
    offset: int = 0,
    sort_by: str | None = None,
    sort_order: str | None = None,
) -> tuple[list[Assistant], int]:
    """A page of the assistants that match, and how many match in all."""
    order = sql.SQL("{} {}, assistant_id").format(
        sql.Identifier(sort_by if sort_by in SORTABLE else "created_at"),
        sql.SQL("ASC" if (sort_order or "desc").lower() == "asc" else "DESC"),
    )
    parameters = {
        "served": list(served),
        "metadata": jsonb(metadata or {}),
        "graph_id": graph_id,
        "name": name,
        "limit": limit,
        "offset": offset,
    }
    counted = await (await conn.execute(_SQL["count"], parameters)).fetchone()
    assert counted is not None
    rows = await conn.execute(sql.SQL(_SQL["search"]).format(order=order), parameters)
    return [as_assistant(row) for row in await rows.fetchall()], int(counted["total"])
