"""The one LISTEN of a process. A notification is a hint, polling is the truth."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

import psycopg
from psycopg.pq.abc import PGconn

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
            await self._hear(conn.pgconn)

    async def _hear(self, pgconn: PGconn) -> None:
        """Until the connection is lost, which is raised.

        Every commit here and elsewhere is heard of, so nothing is awaited for each.
        """
        loop, socket = asyncio.get_running_loop(), pgconn.socket
        lost: asyncio.Future[None] = loop.create_future()

        def readable() -> None:
            try:
                self._take_in(pgconn)
            except Exception as error:
                # Now: the number of a closed socket is soon another's.
                loop.remove_reader(socket)
                if not lost.done():
                    lost.set_exception(error)

        loop.add_reader(socket, readable)
        try:
            await lost
        except asyncio.CancelledError:
            loop.remove_reader(socket)
            raise

    def _take_in(self, pgconn: PGconn) -> None:
        pgconn.consume_input()
        self._heard_at = time.monotonic()
        while (note := pgconn.notifies()) is not None:
            kind, _, rest = note.extra.decode().partition(" ")
            if kind != "events" or note.be_pid != self._own():
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
