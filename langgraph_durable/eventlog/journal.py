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
"""After so many events the attempt waits for the writer, so that memory stays bounded."""


class Journal:
    """Gathers numbered events of one attempt into changes. Lives on the attempt's loop.

    Events go to the writer as soon as the loop has nothing else to do, or behind any other change
    of the attempt, whichever comes first.
    """

    def __init__(self, log: RunLog) -> None:
        self.log = log
        self._gathered = Change(log=log)
        self._handing_over = False
        self._at_once = FIRST_EVENTS
        self._loop_thread: int | None = None
        log.gathered = self._put_gathered

    def append(
        self, name: str, data: str, task_id: str | None = None, checkpoint_id: str | None = None
    ) -> None:
        """Number one event; it is durable with the change that takes it."""
        self._loop_thread = threading.get_ident()
        self._gathered.events.append(self.log.event(name, data, task_id, checkpoint_id))

    def take(self, *, entry: str | None = None, statements: Iterable[Statement] = ()) -> Change:
        """What has gathered, as a change that somebody is going to await."""
        change, self._gathered = self._gathered, Change(log=self.log)
        change.entry = entry
        change.statements = list(statements)
        change.locks_thread = bool(change.statements)
        change.urgent = True
        return change

    def queue(self, change: Change) -> None:
        """Make a change durable soon, with whatever is written next or before that."""
        change.urgent = False
        self.log.put(change)

    async def write(self, change: Change) -> None:
        """Returns when the change is durable. Raises LeaseLost when it is refused."""
        await until_durable(self.log.put(change))

    async def hand_over(self) -> None:
        """See to it that what has gathered is queued; wait only when the writer is far behind."""
        events = self._gathered.events
        if not events:
            return
        if events[0][0] // BACKLOG_EVENTS != (events[-1][0] + 1) // BACKLOG_EVENTS:
            await until_durable(self._hand_over())
        elif len(events) >= self._at_once:
            self._at_once = min(2 * self._at_once, AT_ONCE_EVENTS)
            self._hand_over()
        elif not self._handing_over:
            self._handing_over = True
            asyncio.get_running_loop().call_soon(self._rested)

    def _rested(self) -> None:
        self._handing_over = False
        self._at_once = FIRST_EVENTS
        self._put_gathered()

    def _put_gathered(self) -> None:
        if self._gathered.events and self._loop_thread == threading.get_ident():
            self._hand_over()

    def _hand_over(self) -> Future[None]:
        change, self._gathered = self._gathered, Change(log=self.log)
        return self.log.put_next(change)
