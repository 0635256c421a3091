"""Threads: one row for ever per public id; aliases reach it too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import AsyncConnection, sql
from psycopg.types.json import Jsonb

from langgraph_durable.errors import ThreadExists, ThreadNotFound
from langgraph_durable.model import Thread, ThreadStatus, Ttl
from langgraph_durable.postgres import Row
from langgraph_durable.serde import clean, decode, encode
from langgraph_durable.sql import statements

_SQL = statements("threads")
_CHECKPOINTS = statements("checkpoints")

SORTABLE = ("thread_id", "status", "created_at", "updated_at", "state_updated_at")


def jsonb(value: Any) -> Jsonb:
    """A JSON parameter that Postgres takes, whatever strings are in it."""
    return Jsonb(clean(dict(value)), dumps=encode)


def as_thread(row: Row) -> Thread:
    """A row as its readers see it."""
    fields = {name: row[name] for name in Thread.__slots__ if name in row}
    return Thread(
        **fields
        | {
            "status": ThreadStatus(row["status"]),
            "interrupts": decode(row["interrupts"]),
            "error": decode(row["error"]) if row["error"] else None,
        }
    )


async def get(conn: AsyncConnection[Row], thread_id: str) -> Thread:
    """By id or alias. Raises ThreadNotFound."""
    row = await (await conn.execute(_SQL["get"], {"thread_id": thread_id})).fetchone()
    if row is None:
        raise ThreadNotFound
    return as_thread(row)


async def lock(conn: AsyncConnection[Row], thread_id: str) -> Row:
    """The row of a public id or alias, locked until commit. Raises ThreadNotFound."""
    row = await (await conn.execute(_SQL["lock"], {"thread_id": thread_id})).fetchone()
    if row is None:
        found = await (await conn.execute(_SQL["resolve"], {"thread_id": thread_id})).fetchone()
        row = found and await (await conn.execute(_SQL["lock"], found)).fetchone()
    if row is None:
        raise ThreadNotFound
    return row


async def insert(
    conn: AsyncConnection[Row],
    thread_id: str,
    *,
    metadata: Mapping[str, Any],
    temporary: bool,
    ttl: Ttl | None,
) -> Row | None:
    """The row of a new thread, which is locked until commit; None when its id is taken."""
    parameters = {"thread_id": thread_id, "metadata": jsonb(metadata), "temporary": temporary}
    made = await conn.execute(_SQL["insert"], parameters | _ttl_columns(ttl))
    return await made.fetchone()


async def create(
    conn: AsyncConnection[Row],
    thread_id: str,
    *,
    metadata: Mapping[str, Any],
    if_exists: str = "raise",
    temporary: bool = False,
    ttl: Ttl | None = None,
) -> Thread:
    """A new thread; an id that is an alias means that alias's thread.

    Raises:
        ThreadExists: the id is taken and ``if_exists`` is not ``do_nothing``.
    """
    row = await insert(conn, thread_id, metadata=metadata, temporary=temporary, ttl=ttl)
    if row is not None:
        return as_thread(row)
    if if_exists != "do_nothing":
        raise ThreadExists(f"Thread with ID {thread_id} already exists")
    return await get(conn, thread_id)


async def lock_origins(conn: AsyncConnection[Row], thread_id: str) -> None:
    """Lock a thread and those that it was forked from, until commit."""
    await conn.execute(_SQL["lock_origins"], {"thread_id": thread_id})


async def insert_copy(
    conn: AsyncConnection[Row],
    thread_id: str,
    name: str,
    *,
    ttl: Ttl | None,
    behind: str | None = None,
) -> Thread:
    """The row of a copy; its checkpoints are copied by the caller.

    A fork stands where the run that it is ``behind`` left the thread.
    """
    place = {"thread_id": thread_id, "name": name, "behind": behind}
    parameters = {**place, **_ttl_columns(ttl)}
    row = await (await conn.execute(_SQL["insert_copy"], parameters)).fetchone()
    assert row is not None
    return as_thread(row)


async def forget_rotations(conn: AsyncConnection[Row], thread_id: str) -> None:
    """Delete the checkpoints of a thread's earlier rotations; the ids still reach it."""
    rows = await conn.execute(_SQL["forget_rotations"], {"thread_id": thread_id})
    await _delete_checkpoints(conn, [r["id"] for r in await rows.fetchall()])


async def _delete_checkpoints(conn: AsyncConnection[Row], ids: Sequence[str]) -> None:
    for name in ("delete_checkpoints", "delete_blobs", "delete_writes"):
        await conn.execute(_CHECKPOINTS[name], {"ids": list(ids)})


async def merge_metadata(
    conn: AsyncConnection[Row], thread_id: str, metadata: Mapping[str, Any]
) -> Thread:
    """Keys given replace keys held. Raises ThreadNotFound."""
    held = await lock(conn, thread_id)
    row = await (
        await conn.execute(
            _SQL["merge_metadata"],
            {"thread_id": held["thread_id"], "metadata": jsonb(metadata)},
        )
    ).fetchone()
    assert row is not None
    return as_thread(row)


async def settle(
    conn: AsyncConnection[Row],
    thread_id: str,
    *,
    run_id: str,
    status: ThreadStatus,
    error: Mapping[str, str] | None,
) -> None:
    """After a run that ended without its owner."""
    await conn.execute(
        _SQL["settle"],
        {
            "thread_id": thread_id,
            "run_id": run_id,
            "status": status,
            "error": encode(error) if error else None,
        },
    )


async def set_state(
    conn: AsyncConnection[Row],
    thread_id: str,
    *,
    values: str | None,
    interrupts: Mapping[str, Any],
    status: ThreadStatus,
    error: str | None = None,
) -> None:
    """After the state was edited by hand, or a run forgotten. ``error`` is JSON text."""
    await conn.execute(
        _SQL["set_state"],
        {
            "thread_id": thread_id,
            "values": values,
            "interrupts": encode(interrupts),
            "status": status,
            "error": error,
        },
    )


async def checkpoint_ids(conn: AsyncConnection[Row], thread_id: str) -> list[str]:
    """Every checkpoint thread that a thread ever used."""
    rows = await conn.execute(_SQL["checkpoint_threads"], {"thread_id": thread_id})
    return [r["id"] for r in await rows.fetchall()]


async def delete(conn: AsyncConnection[Row], thread_id: str) -> None:
    """The thread, its runs, logs, aliases and every checkpoint of all its rotations."""
    await _delete_checkpoints(conn, await checkpoint_ids(conn, thread_id))
    await conn.execute(_SQL["delete"], {"thread_id": thread_id})


async def expired(conn: AsyncConnection[Row], *, temporary: bool, limit: int) -> list[Row]:
    """Locked rows of up to ``limit`` threads whose time is over."""
    parameters = {"temporary": temporary, "limit": limit}
    return await (await conn.execute(_SQL["expired"], parameters)).fetchall()


async def outlive(conn: AsyncConnection[Row], thread_id: str) -> None:
    """Nothing more to sweep until the thread is used again."""
    await conn.execute(_SQL["outlive"], {"thread_id": thread_id})


async def set_ttl(conn: AsyncConnection[Row], thread_id: str, ttl: Ttl) -> Thread:
    """Give a thread a life time of its own. Raises ThreadNotFound."""
    held = await lock(conn, thread_id)
    parameters = {"thread_id": held["thread_id"], **_ttl_columns(ttl)}
    row = await (await conn.execute(_SQL["set_ttl"], parameters)).fetchone()
    assert row is not None
    return as_thread(row)


def _ttl_columns(ttl: Ttl | None) -> dict[str, Any]:
    return {
        "ttl_minutes": ttl.minutes if ttl else None,
        "ttl_strategy": ttl.strategy if ttl else "delete",
    }


async def free_name(conn: AsyncConnection[Row], base: str, first: int) -> tuple[str, int]:
    """The first ``<base>::attempt-N`` with N >= ``first`` that is nobody's, and its N."""
    while True:
        numbers = range(first, first + 20)
        names = {f"{base}::attempt-{n}": n for n in numbers}
        rows = await conn.execute(_SQL["taken"], {"names": list(names)})
        taken = {r["name"] for r in await rows.fetchall()}
        for name, number in names.items():
            if name not in taken:
                return name, number
        first += 20


async def search(
    conn: AsyncConnection[Row],
    *,
    metadata: Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
    status: str | None = None,
    ids: Sequence[str] | None = None,
    limit: int = 10,
    offset: int = 0,
    sort_by: str | None = None,
    sort_order: str | None = None,
) -> tuple[list[Thread], int]:
    """Threads that clients may list (temporary ones are hidden), and how many match in all."""
    where = [sql.SQL("NOT temporary")]
    if metadata:
        where.append(sql.SQL("metadata @> %(metadata)s"))
    if values:
        where.append(sql.SQL('"values"::jsonb @> %(values)s'))
    if status:
        where.append(sql.SQL("status = %(status)s"))
    if ids is not None:
        where.append(sql.SQL("thread_id = ANY(%(ids)s)"))
    order = sql.SQL("{} {}, thread_id").format(
        sql.Identifier(sort_by if sort_by in SORTABLE else "created_at"),
        sql.SQL("ASC" if (sort_order or "desc").lower() == "asc" else "DESC"),
    )
    matching = sql.SQL("FROM threads WHERE {}").format(sql.SQL(" AND ").join(where))
    parameters = {
        "metadata": jsonb(metadata or {}),
        "values": jsonb(values or {}),
        "status": status,
        "ids": list(ids or ()),
        "limit": limit,
        "offset": offset,
    }
    total = sql.SQL("SELECT count(*) AS total {}").format(matching)
    counted = await (await conn.execute(total, parameters)).fetchone()
    assert counted is not None
    page = sql.SQL("SELECT {} {} ORDER BY {} LIMIT %(limit)s OFFSET %(offset)s")
    rows = await conn.execute(page.format(sql.SQL(_SQL["columns"]), matching, order), parameters)
    return [as_thread(r) for r in await rows.fetchall()], int(counted["total"])
