"""An attempt's side of the log: events gather here and are handed over between stream parts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from langgraph_durable.eventlog.change import Change, RunLog, Statement

BACKLOG_EVENTS = 2_000
"""After so many events the attempt waits for the writer, so that memory stays bounded."""


class Journal:
    """Gathers numbered events of one attempt into changes. Lives on the attempt's loop."""

    def __init__(self, log: RunLog) -> None:
        self.log = log
        self._gathered = Change(log=log)

    def append(
        self, name: str, data: str, task_id: str | None = None, checkpoint_id: str | None = None
    ) -> None:
        """Number one event; it is durable with the change that takes it."""
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
        await asyncio.wrap_future(self.log.put(change))

    async def hand_over(self) -> None:
        """Queue what has gathered; wait only when the writer is far behind."""
        change, self._gathered = self._gathered, Change(log=self.log)
        if not change.events:
            return
        durable = self.log.put(change)
        first, last = change.events[0][0], change.events[-1][0]
        if first // BACKLOG_EVENTS != (last + 1) // BACKLOG_EVENTS:
            await asyncio.wrap_future(durable)
