"""What one commit of the writer holds: the changes of some attempts, as set-based statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_durable.eventlog.change import Change, Rows, Statement, as_objects, checkpoint_rows
from langgraph_durable.model import Event
from langgraph_durable.serde import encode
from langgraph_durable.sql import statements

_SQL = statements("writer")


class Group:
    """The changes of one attempt in one batch, in order."""

    def __init__(self, first: Change) -> None:
        self.log = first.log
        self.changes = [first]

    def rows(self, kind: str) -> list[tuple[Any, ...]]:
        return [row for change in self.changes for row in getattr(change, kind)]

    @property
    def closing(self) -> bool:
        return self.changes[-1].closing

    @property
    def locks_thread(self) -> bool:
        return any(c.closing or c.locks_thread for c in self.changes)

    @property
    def statements(self) -> list[Statement]:
        return [statement for change in self.changes for statement in change.statements]

    @property
    def entry(self) -> str | None:
        return next((c.entry for c in reversed(self.changes) if c.entry is not None), None)

    @property
    def fruitful(self) -> bool:
        return any(c.fruitful for c in self.changes)

    def settle(self) -> None:
        for change in self.changes:
            change.durable.set_result(None)

    def fail(self, error: Exception) -> None:
        self.log.fail(error)
        for change in self.changes:
            change.durable.set_exception(error)

    def committed(self, at: int | None) -> Committed:
        """What this process's readers are told of it; without ``at`` they have to look."""
        last, sure = self.changes[-1], at is not None
        return Committed(
            run_id=self.log.run_id,
            closing=last.closing,
            finish=last.finish if sure and last.settle is not None else None,
            attempt=self.log.attempt,
            rows=self.rows("events") if sure else [],
            at=at or 0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What a commit has done to a run. ``closing``: its attempt is over; ``finish``: so is the run,
    with these columns. Both that and ``rows`` of events are only there when it is sure that they
    were written, and when: ``at``, in milliseconds since 1970.
    """

    run_id: str
    closing: bool
    finish: Mapping[str, Any] | None
    attempt: int
    rows: Rows
    at: int

    @property
    def hints(self) -> Sequence[str]:
        """Keys of followers to wake: a run's id; ``<id> end`` for those who wait for its end."""
        return [self.run_id, f"{self.run_id} end"] if self.closing else [self.run_id]

    def events(self) -> list[Event]:
        """What it has appended to the run's log, as far as that is known."""
        run_id, attempt, at = self.run_id, self.attempt, self.at
        return [
            Event(run_id, seq, attempt, name, data, task_id, checkpoint_id, at)
            for seq, name, data, task_id, checkpoint_id in self.rows
        ]


_EVENT = ("run_id", "attempt", "seq", "name", "data", "task_id", "checkpoint_id")
_ATTEMPT = ("run_id", "attempt", "next_seq", "fruitful", "entry")


def batch_statements(groups: list[Group], lease_seconds: float) -> list[Statement]:
    """One transaction: all that is common in one statement, then what few changes have besides."""
    groups.sort(key=lambda g: g.log.run_id)
    batch = _SQL["write_batch"], {**_rows(groups), "lease_seconds": lease_seconds}
    more = [statement for group in groups for statement in group.statements]
    if more and (closing := [g for g in groups if g.closing]):
        counted = any(g.log.counted for g in closing)
        more.append((_SQL["announce_next"], (counted, [g.log.thread_id for g in closing])))
    return [batch, *more]


def _rows(groups: list[Group]) -> dict[str, Any]:
    """The parameters of ``write_batch``."""
    changes = [change for group in groups for change in group.changes]
    return {
        "locked": sorted({g.log.thread_id for g in groups if g.locks_thread}) or None,
        "attempts": _json(as_objects(_ATTEMPT, map(_attempt, groups))),
        "logged": _json(as_objects(_EVENT, (row for g in groups for row in _events(g)))),
        "finished": _json([c.finish for c in changes if c.finish is not None]),
        "settled": _json([c.settle for c in changes if c.settle is not None]),
        "told": "events " + ",".join(h for g in groups for h in g.committed(None).hints),
        **checkpoint_rows(changes),
    }


def _json(rows: Sequence[Mapping[str, Any]]) -> str | None:
    return encode(rows) if rows else None


def _events(group: Group) -> Iterable[tuple[Any, ...]]:
    owner = group.log.key
    return (owner + row for row in group.rows("events"))


def _attempt(group: Group) -> tuple[Any, ...]:
    events = group.rows("events")
    return (*group.log.key, events[-1][0] + 1 if events else 0, group.fruitful, group.entry)
