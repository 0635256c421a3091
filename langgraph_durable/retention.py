"""What has ended goes when it was kept long enough, a few rows at a time."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from langgraph_durable.archive import Archive
from langgraph_durable.errors import InvalidRequest
from langgraph_durable.model import Run
from langgraph_durable.postgres import Row
from langgraph_durable.pruning import keep_latest
from langgraph_durable.retention_config import RetentionConfig
from langgraph_durable.sql import statements
from langgraph_durable.store import threads
from langgraph_durable.store.runs import as_run

_log = logging.getLogger(__name__)
_SQL = statements("retention")

Connection = AsyncConnection[Row]
Keeper = Callable[[Run], Awaitable[object]]
"""Stores what a door makes of a run's log, before that goes."""

DAY_SECONDS = 86_400.0
RUNS, THREADS = 100, 50
EVENTS = 20_000
"""At most so many rows go in one transaction, unless a single log is longer."""


class Retention:
    """The sweeps that a project asks for; each takes a transaction and answers how much it did."""

    def __init__(
        self,
        pool: AsyncConnectionPool[Connection],
        config: RetentionConfig,
        *,
        archive: Archive | None,
        keepers: Sequence[Keeper],
    ) -> None:
        self._pool = pool
        self._config = config
        self._archive = archive
        self._keepers = keepers
        self._behind: dict[str, datetime | None] = {}

    @property
    def sweeps(self) -> list[Callable[[Connection], Awaitable[int]]]:
        """Only those with something to do, sooner or later."""
        asked = {
            self.logs: self._config.events_days,
            self.runs: self._config.runs_days,
            self.checkpoints: self._config.checkpoints_days,
            self.threads: self._config.threads_days,
        }
        return [sweep for sweep, days in asked.items() if days is not None]

    async def logs(self, conn: Connection) -> int:
        """The logs of some runs that ended long ago."""
        keeps = bool(self._keepers)
        found = await self._old(conn, "old_logs", self._config.events_days, keeps=keeps)
        for row in found:
            for keep in self._keepers:
                await keep(as_run(row))
        ids = [str(row["run_id"]) for row in found]
        if ids:
            if self._archive is not None:
                await self._archive.logs(conn, ids)
            await conn.execute(_SQL["delete_logs"], {"ids": ids})
            await conn.execute(_SQL["mark_logs"], {"ids": ids})
        return len(ids)

    async def runs(self, conn: Connection) -> int:
        """Some runs that ended long ago."""
        found = await self._old(conn, "old_runs", self._config.runs_days)
        ids = [str(row["run_id"]) for row in found]
        if ids:
            if self._archive is not None:
                await self._archive.runs(conn, ids)
            await conn.execute(_SQL["delete_runs"], {"ids": ids})
        return len(ids)

    async def checkpoints(self, conn: Connection) -> int:
        """All but the latest ones of some threads that nobody has used for long."""
        looked_at, unused = await self._unused(conn, "checkpoints", self._config.checkpoints_days)
        for thread in unused:
            if thread["prunable"]:
                await self._prune(conn, thread)
        return looked_at

    async def threads(self, conn: Connection) -> int:
        """Some threads that nobody has used for long."""
        looked_at, unused = await self._unused(conn, "threads", self._config.threads_days)
        ids = [thread["thread_id"] for thread in unused]
        if ids and self._archive is not None:
            await self._archive.threads(conn, ids)
        for thread_id in ids:
            await threads.delete(conn, thread_id)
        return looked_at

    async def _old(self, conn: Connection, name: str, days: float | None, **more: Any) -> list[Row]:
        age = {"seconds": (days or 0) * DAY_SECONDS, "limit": RUNS, **more}
        found = await (await conn.execute(_SQL[name], age)).fetchall()
        return _few(found)

    async def _unused(
        self, conn: Connection, name: str, days: float | None
    ) -> tuple[int, list[Row]]:
        """How many threads were looked at, and the locked rows of those that nobody uses.

        Round after round over all old threads: no index is paid for by every run for this.
        """
        age = {"seconds": (days or 0) * DAY_SECONDS}
        place = age | {"behind": self._behind.get(name), "limit": THREADS}
        page = await (await conn.execute(_SQL["page_of_threads"], place)).fetchall()
        self._behind[name] = page[-1]["created_at"] if page else None
        ids = age | {"ids": [row["thread_id"] for row in page]}
        return len(page), await (await conn.execute(_SQL["lock_unused"], ids)).fetchall()

    async def _prune(self, conn: Connection, thread: Row) -> None:
        try:
            async with conn.transaction():
                await keep_latest(conn, self._pool, thread)
        except InvalidRequest as error:
            _log.debug("not pruned: %s", error.message)


def _few(found: list[Row]) -> list[Row]:
    """The first runs of a batch whose logs are not too long together; at least one."""
    events, taken = 0, 0
    for row in found:
        events += row["next_seq"]
        if taken and events > EVENTS:
            break
        taken += 1
    return found[:taken]
