"""The newest events of logs that somebody here follows: read without the database."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, takewhile

from langgraph_durable.model import Cursor, Event

RUN_BYTES = 1024 * 1024
ALL_BYTES = 8 * 1024 * 1024
"""What is kept in all: whoever reads slower than that reads from the database."""


class Tails:
    """Events as this process has committed them, by run, without a gap up to the newest."""

    def __init__(self) -> None:
        self._tails: dict[str, list[Event]] = {}
        self._sizes: dict[str, int] = {}
        self._size = 0

    def append(self, run_id: str, events: Sequence[Event]) -> None:
        """Committed events of a run, in order. What does not follow the rest takes its place."""
        tail = self._tails.get(run_id)
        if tail is not None and tail[-1].seq + 1 != events[0].seq:
            self.forget(run_id)
        self._tails.setdefault(run_id, []).extend(events)
        size = sum(len(event.data) + 64 for event in events)
        self._sizes[run_id] = self._sizes.get(run_id, 0) + size
        self._size += size
        if self._sizes[run_id] > RUN_BYTES:
            self.forget(run_id)
        while self._size > ALL_BYTES:
            self.forget(next(iter(self._tails)))

    def after(self, run_id: str, cursor: Cursor, *, limit: int, size: int) -> list[Event] | None:
        """A page of up to ``limit`` events or ``size`` characters behind a cursor.

        None when the database must be asked.
        """
        tail = self._tails.get(run_id)
        if tail is None or not tail[0].seq <= cursor + 1 <= tail[-1].seq:
            return None
        first = cursor + 1 - tail[0].seq
        page = tail[first : first + limit]
        if self._sizes[run_id] <= size:
            return page
        sizes = accumulate(len(event.data) for event in page)
        return page[: 1 + sum(1 for _ in takewhile(lambda sofar: sofar < size, sizes))]

    def forget(self, run_id: str) -> None:
        """Nobody here follows it any more, or all have read it."""
        self._tails.pop(run_id, None)
        self._size -= self._sizes.pop(run_id, 0)
