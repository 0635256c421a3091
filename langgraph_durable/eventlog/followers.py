"""Readers of logs. A follower pulls by cursor, holds no connection while it waits, and is woken by
hints: this process's own commits, notifications, and a poll that needs neither. What this process
has just committed it need not ask the database for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from langgraph_durable.errors import StoreUnavailable
from langgraph_durable.eventlog.batch import Committed
from langgraph_durable.eventlog.tails import Tails
from langgraph_durable.model import Cursor, Event
from langgraph_durable.postgres import Row, reading
from langgraph_durable.store import events

PAGE = 500
PAGE_BYTES = 256 * 1024
"""What a follower holds at most, besides one event: its client may have stopped to read."""

_END = " end"
UNHEARD_SECONDS = 10.0
"""How long a hint is remembered that nobody waited for when it was given."""

PAGES_AT_ONCE = 2
"""How many followers that are far behind read at a time: each page is work, and others wait."""

DEAF_POLL_SECONDS = 1.0
POLL_SECONDS = 10.0


class Followers:
    """All followers of one process, on its main loop.

    ``hears`` tells whether notifications arrive; while they do not, followers poll every second.
    """

    def __init__(
        self, pool: AsyncConnectionPool[AsyncConnection[Row]], hears: Callable[[], bool]
    ) -> None:
        self._pool = pool
        self._hears = hears
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._unheard = Lately(UNHEARD_SECONDS)
        self._tails = Tails()
        self._finished: dict[str, Mapping[str, Any]] = {}
        self._catching_up = asyncio.Semaphore(PAGES_AT_ONCE)
        self._closed = False

    def committed(self, batch: Iterable[Committed]) -> None:
        """This process has just made these changes durable."""
        for each in batch:
            if each.rows and each.run_id in self._waiting:
                self._tails.append(each.run_id, each.events())
            if each.finish is not None and each.run_id + _END in self._waiting:
                self._finished[each.run_id + _END] = each.finish
            self.wake(each.hints)

    def wake(self, run_ids: Iterable[str]) -> None:
        """These runs' logs grew."""
        for run_id in run_ids:
            if watching := self._waiting.get(run_id):
                for changed in watching:
                    changed.set()
            else:
                self._unheard.add(run_id)

    def wake_all(self) -> None:
        """Hints may have been missed: everybody reads again."""
        self.wake(list(self._waiting))

    def close(self) -> None:
        """End all followers after what they can read now, terminal event or not."""
        self._closed = True
        self.wake_all()

    def count(self, run_id: str) -> int:
        """How many follow this run here."""
        return len(self._waiting.get(run_id, ()))

    @property
    def total(self) -> int:
        """How many follow or wait here."""
        return len(set[asyncio.Event]().union(*self._waiting.values()))

    async def follow(
        self, run_id: str, after: Cursor, *, first: Event | None = None
    ) -> AsyncGenerator[list[Event], None]:
        """Batches of committed events behind ``after``, in order, until the ``end`` event.

        Ends at once when that event is not behind ``after``, early when this process shuts down.
        ``first`` is all that the log held when a run was stored here, a moment ago.
        """
        behind = False
        with self._watching(run_id) as changed:
            if first is not None and run_id not in self._unheard and not self._closed:
                after = Cursor(first.seq)
                yield [first]
                await self._changed(changed)
            while True:
                changed.clear()
                closed = self._closed
                batch = self._tails.after(run_id, after, limit=PAGE, size=PAGE_BYTES)
                if batch is None:
                    async with self._catching_up if behind else nullcontext():
                        batch = await self._read(run_id, after)
                behind = _may_go_on(batch)
                if batch:
                    after = Cursor(batch[-1].seq)
                    yield batch
                    if batch[-1].name == "end":
                        return
                elif closed or await self._ended(run_id, after):
                    return
                if not closed and not behind:
                    await self._changed(changed)

    async def until(
        self, run_id: str, ended: Callable[[], Awaitable[bool]], *, new: bool = False
    ) -> Mapping[str, Any] | None:
        """Wait until ``ended()`` is true, asked whenever the run may have ended.

        Of a ``new`` run, stored a moment ago, it is not asked before there is a hint; nor when that
        run ends here: then the answer is what its last word has made of its row.
        """
        with self._watching(run_id + _END) as changed:
            if new and run_id + _END not in self._unheard:
                await self._changed(changed)
            while True:
                changed.clear()
                if new and (finished := self._finished.get(run_id + _END)):
                    return finished
                if await ended() or self._closed:
                    return None
                await self._changed(changed)

    async def next_hint(self, hints: Sequence[str], already: Callable[[], Awaitable[bool]]) -> None:
        """Wait for one of ``hints``, unless what they would tell is ``already`` there."""
        with ExitStack() as stack:
            changed = asyncio.Event()
            for hint in hints:
                stack.enter_context(self._watching(hint, changed))
            if not self._closed and not await already():
                await self._changed(changed)

    async def _read(self, run_id: str, after: Cursor) -> list[Event]:
        try:
            async with reading(self._pool) as conn:
                return await events.after(conn, run_id, after, limit=PAGE, size=PAGE_BYTES)
        except StoreUnavailable:
            return []

    async def _ended(self, run_id: str, by: Cursor) -> bool:
        try:
            async with reading(self._pool) as conn:
                return await events.ended(conn, run_id, by)
        except StoreUnavailable:
            return False

    async def _changed(self, changed: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(POLL_SECONDS if self._hears() else DEAF_POLL_SECONDS):
                await changed.wait()
        except TimeoutError:
            return

    @contextmanager
    def _watching(
        self, run_id: str, changed: asyncio.Event | None = None
    ) -> Iterator[asyncio.Event]:
        changed = changed or asyncio.Event()
        self._waiting.setdefault(run_id, set()).add(changed)
        try:
            yield changed
        finally:
            waiting = self._waiting[run_id]
            waiting.discard(changed)
            if not waiting:
                del self._waiting[run_id]
                self._tails.forget(run_id)
                self._finished.pop(run_id, None)


class Lately:
    """What was added within the last ``seconds``, or up to twice as long ago."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._turned_at = time.monotonic()
        self._new: set[str] = set()
        self._old: set[str] = set()

    def add(self, what: str) -> None:
        if time.monotonic() - self._turned_at > self._seconds:
            self._new, self._old, self._turned_at = set(), self._new, time.monotonic()
        self._new.add(what)

    def __contains__(self, what: str) -> bool:
        return what in self._new or what in self._old


def _may_go_on(batch: Sequence[Event]) -> bool:
    """Is the page full, by its length or by its size? One that only may be is read on for once."""
    characters = sum(len(event.data) for event in batch)
    return len(batch) == PAGE or characters * 4 >= PAGE_BYTES
