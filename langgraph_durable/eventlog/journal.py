"""An attempt's side of the log: events gather here and are handed over between stream parts."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from concurrent.futures import Future

from langgraph_durable.eventlog.change import Change, RunLog, Statement, until_durable

FIRST_EVENTS = 16
AT_ONCE_EVENTS = 128
"""So many events are handed over although the loop has not come to rest; the first of a burst
sooner, since somebody waits for them."""

BACKLOG_EVENTS = 2_000
"""An attempt that is twice so many events ahead of the writer waits: memory stays bounded."""


class Journal:
    """Gathers what one attempt writes into changes. Lives on the attempt's loop.

    What nobody waits for goes to the writer as soon as the loop has nothing else to do, or with any
    change that somebody waits for, whichever comes first.
    """

    def __init__(self, log: RunLog) -> None:
        self.log = log
        self._gathered: Change | None = None
        self._handing_over = False
        self._at_once = FIRST_EVENTS
        self._backlog: Future[None] | None = None
        self._loop_thread: int | None = None
        log.gather = self._gather

    def append(
        self, name: str, data: str, task_id: str | None = None, checkpoint_id: str | None = None
    ) -> None:
        """Number one event; it is durable with the change that takes it."""
        self._gathering().events.append(self.log.event(name, data, task_id, checkpoint_id))

    def take(self, *, entry: str | None = None, statements: Iterable[Statement] = ()) -> Change:
        """What has gathered, as a change that somebody is going to await."""
        change, self._gathered = self._gathering(), None
        asked = Change(log=self.log, entry=entry, statements=list(statements), urgent=True)
        asked.locks_thread = bool(asked.statements)
        change.absorb(asked)
        return change

    def note(self, entry: str) -> None:
        """What stood on the thread at the run's start is durable with whatever comes next."""
        self._gathering().entry = entry
        self._hand_over_at_rest()

    async def write(self, change: Change) -> None:
        """Returns when the change is durable. Raises LeaseLost when it is refused."""
        await until_durable(self.log.put_next(change))

    async def hand_over(self) -> None:
        """See to it that what has gathered is queued; wait only when the writer is far behind."""
        events = self._gathered.events if self._gathered is not None else ()
        if not events:
            return
        if events[0][0] // BACKLOG_EVENTS != (events[-1][0] + 1) // BACKLOG_EVENTS:
            behind, self._backlog = self._backlog, self._hand_over()
            if behind is not None:
                await until_durable(behind)
        elif len(events) >= self._at_once:
            self._at_once = min(2 * self._at_once, AT_ONCE_EVENTS)
            self._gathering().urgent = True
            self._hand_over()
        else:
            self._hand_over_at_rest()

    def _hand_over_at_rest(self) -> None:
        if not self._handing_over:
            self._handing_over = True
            asyncio.get_running_loop().call_soon(self._rested)

    def _rested(self) -> None:
        self._handing_over = False
        self._at_once = FIRST_EVENTS
        if self._gathered is not None:
            self._hand_over()

    def _gather(self, change: Change) -> Future[None]:
        if self._loop_thread not in (None, threading.get_ident()):
            return self.log.put_next(change)
        gathered = self._gathering()
        gathered.absorb(change)
        if change.urgent or change.task_writes or change.special_writes:
            return self._hand_over()  # a node may block the loop before it rests
        self._hand_over_at_rest()
        return gathered.durable

    def _gathering(self) -> Change:
        if self._gathered is None:
            self._loop_thread = threading.get_ident()
            self._gathered = Change(log=self.log)
        return self._gathered

    def _hand_over(self) -> Future[None]:
        change, self._gathered = self._gathering(), None
        return self.log.put_next(change)
