"""The Responses door's own records: one terminal object per run, stored once."""

from __future__ import annotations

from collections.abc import Collection

from psycopg import AsyncConnection

from langgraph_durable.postgres import Row
from langgraph_durable.sql import statements

_SQL = statements("responses")


async def save(
    conn: AsyncConnection[Row],
    response_id: str,
    *,
    run_id: str,
    terminal: str,
    item_ids: Collection[str],
) -> str:
    """Store a terminal object unless one is there; answers the stored one."""
    values = {
        "response_id": response_id,
        "run_id": run_id,
        "terminal": terminal,
        "item_ids": _storable(item_ids),
    }
    for statement in ("save", "save_again"):
        row = await (await conn.execute(_SQL[statement], values)).fetchone()
        if row is not None:
            return str(row["terminal"])
    return terminal  # its run was deleted meanwhile


async def showing(conn: AsyncConnection[Row], item_ids: Collection[str]) -> dict[str, str]:
    """For each of these items the terminal object that shows it, if there is one."""
    rows = await conn.execute(_SQL["showing"], {"item_ids": _storable(item_ids)})
    return {row["item_id"]: row["terminal"] for row in await rows.fetchall()}


def _storable(item_ids: Collection[str]) -> list[str]:
    """PostgreSQL has no text with a NUL in it."""
    return [name for name in item_ids if "\0" not in name]


async def stored(conn: AsyncConnection[Row], response_id: str) -> str | None:
    """The stored terminal object."""
    row = await (await conn.execute(_SQL["stored"], {"response_id": response_id})).fetchone()
    return row["terminal"] if row else None


async def delete(conn: AsyncConnection[Row], response_id: str, run_id: str) -> None:
    """Hide a response; its run stays."""
    for statement in ("delete", "delete_again"):
        await conn.execute(_SQL[statement], {"response_id": response_id, "run_id": run_id})


async def deleted(conn: AsyncConnection[Row], run_id: str) -> bool:
    """Is the response hidden?"""
    row = await (await conn.execute(_SQL["deleted"], {"run_id": run_id})).fetchone()
    return bool(row and row["deleted"])


async def items(conn: AsyncConnection[Row], thread_id: str) -> dict[str, str | None]:
    """What was put into a conversation by hand: id -> JSON text, None for what was taken out."""
    rows = await conn.execute(_SQL["items"], {"thread_id": thread_id})
    return {row["item_id"]: row["item"] for row in await rows.fetchall()}


async def copy_items(conn: AsyncConnection[Row], thread_id: str, name: str, *, whole: bool) -> None:
    """Keep out of a copy what was taken out by hand; ``whole`` also puts in what was put in."""
    copied = {"thread_id": thread_id, "name": name, "whole": whole}
    await conn.execute(_SQL["copy_items"], copied)


async def put_item(
    conn: AsyncConnection[Row], thread_id: str, item_id: str, item: str | None
) -> None:
    """Put an item into a conversation; None takes it out."""
    place = {"thread_id": thread_id, "item_id": item_id, "item": item}
    await conn.execute(_SQL["put_item"], place)
