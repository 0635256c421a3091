"""The one LISTEN of a process. A notification is a hint, polling is the truth."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

import psycopg

from langgraph_durable.postgres import Database

_log = logging.getLogger(__name__)

RECONNECT_SECONDS = 0.25


class Notifier:
    """Dispatches ``events <ids>``, ``thread <id>``, ``work``, ``cancel <id>`` on the main loop.

    ``others`` hear what servers tell each other besides, by its kind.
    ``connected`` is called after every (re)LISTEN: what was sent before is lost. Whoever listens
    need not be told of ``events`` by the ``own`` session: that tells the process itself.
    """

    def __init__(
        self,
        database: Database,
        *,
        deaf_after_seconds: float,
        events: Callable[[list[str]], None],
        work: Callable[[], None],
        cancel: Callable[[str], None],
        connected: Callable[[], None],
        own: Callable[[], int | None] = lambda: None,
        others: Mapping[str, Callable[[str], None]] = MappingProxyType({}),
    ) -> None:
        self._database = database
        self._deaf_after_seconds = deaf_after_seconds
        self._events = events
        self._work = work
        self._cancel = cancel
        self._connected = connected
        self._own = own
        self._others = others
        self._heard_at = float("-inf")
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="durable-notifier")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def hears(self) -> bool:
        """Something arrived lately; the heartbeat sends something with every beat."""
        return time.monotonic() - self._heard_at < self._deaf_after_seconds

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                _log.warning("listening again: %s", type(error).__name__)
            except Exception:
                _log.exception("the notifier failed and starts again")
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _listen(self) -> None:
        async with await self._database.connect_async() as conn:
            await conn.execute("LISTEN langgraph_durable")
            self._connected()
            async for note in conn.notifies():
                self._heard_at = time.monotonic()
                kind, _, rest = note.payload.partition(" ")
                if kind != "events" or note.pid != self._own():
                    self._dispatch(kind, rest)

    def _dispatch(self, kind: str, rest: str) -> None:
        if kind == "events":
            self._events(rest.split(","))
        elif kind == "thread":
            self._events([f"thread {rest}"])
        elif kind == "work":
            self._work()
        elif kind == "cancel":
            self._cancel(rest)
        elif kind in self._others:
            self._others[kind](rest)
