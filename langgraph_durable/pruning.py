"""Giving space back: a thread loses all but its latest checkpoints, or goes when it expires."""

from __future__ import annotations

import logging
from typing import Any, cast

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from langgraph_durable.archive import Archive
from langgraph_durable.errors import InvalidRequest
from langgraph_durable.postgres import Row
from langgraph_durable.store import threads

_log = logging.getLogger(__name__)
Pool = AsyncConnectionPool[AsyncConnection[Row]]

BATCH = 50


async def keep_latest(conn: AsyncConnection[Row], pool: Pool, thread: Row) -> None:
    """Prune a locked thread. LangGraph prunes in transactions of its own, on ``pool``.

    Raises InvalidRequest for a thread whose checkpoints build on one another.
    """
    await threads.forget_rotations(conn, thread["thread_id"])
    saver = AsyncPostgresSaver(cast(Any, pool))
    try:
        await saver.aprune([thread["checkpoint_thread_id"]], strategy="keep_latest")
    except NotImplementedError as error:
        raise InvalidRequest(
            f"Thread {thread['thread_id']} uses a DeltaChannel: its latest checkpoint needs the"
            " others."
        ) from error


class Sweeper:
    """Deletes or prunes, as each asks, threads that nobody used for their whole life time.
    ``archive`` gets them first.

    A round of :meth:`unused` ends at ``limit`` threads.
    """

    def __init__(self, pool: Pool, limit: int | None, archive: Archive | None = None) -> None:
        self._pool = pool
        self._archive = archive
        self._limit = self._left = limit or 2**31 - 1

    async def temporary(self, conn: AsyncConnection[Row]) -> int:
        """Some threads of stateless runs; 0 when there are no more."""
        expired = await threads.expired(conn, temporary=True, limit=BATCH)
        await self._archived(conn, expired)
        for thread in expired:
            await threads.delete(conn, thread["thread_id"])
        return len(expired)

    async def unused(self, conn: AsyncConnection[Row]) -> int:
        """Some threads with a life time; 0 when there are no more, or the round is over."""
        limit = min(self._left, BATCH)
        expired = await threads.expired(conn, temporary=False, limit=limit)
        await self._archived(conn, [t for t in expired if t["ttl_strategy"] == "delete"])
        for thread in expired:
            await self._end(conn, thread)
        self._left = self._left - len(expired) if expired else self._limit
        return len(expired)

    async def _archived(self, conn: AsyncConnection[Row], gone: list[Row]) -> None:
        if gone and self._archive is not None:
            await self._archive.threads(conn, [thread["thread_id"] for thread in gone])

    async def _end(self, conn: AsyncConnection[Row], thread: Row) -> None:
        if thread["ttl_strategy"] == "delete":
            await threads.delete(conn, thread["thread_id"])
            return
        try:
            async with conn.transaction():
                await keep_latest(conn, self._pool, thread)
        except InvalidRequest as error:
            _log.warning("not pruned: %s", error.message)
        await threads.outlive(conn, thread["thread_id"])
