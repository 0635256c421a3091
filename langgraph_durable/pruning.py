"""Giving space back: a thread loses all but its latest checkpoints, or goes when it expires."""

from __future__ import annotations

from typing import Any, cast

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from langgraph_durable.postgres import Row
from langgraph_durable.store import threads

Pool = AsyncConnectionPool[AsyncConnection[Row]]


async def keep_latest(conn: AsyncConnection[Row], pool: Pool, thread: Row) -> None:
    """Prune a locked thread. LangGraph prunes in transactions of its own, on ``pool``."""
    await threads.forget_rotations(conn, thread["thread_id"])
    saver = AsyncPostgresSaver(cast(Any, pool))
    await saver.aprune([thread["checkpoint_thread_id"]], strategy="keep_latest")


async def sweep(conn: AsyncConnection[Row], pool: Pool) -> int:
    """Delete or prune, as each asks, threads that nobody used for their whole life time."""
    expired = await threads.expired(conn)
    for thread in expired:
        if thread["temporary"] or thread["ttl_strategy"] == "delete":
            await threads.delete(conn, thread["thread_id"])
        else:
            await keep_latest(conn, pool, thread)
            await threads.outlive(conn, thread["thread_id"])
    return len(expired)
