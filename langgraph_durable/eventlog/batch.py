"""What one commit of the writer holds: the changes of some attempts, as set-based statements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langgraph_durable.eventlog.change import Change, Statement, checkpoint_statements
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


def batch_statements(groups: list[Group], lease_seconds: float) -> Iterable[Statement]:
    """One transaction: thread locks, fence, rows of every kind, last words, hints. In key order."""
    groups.sort(key=lambda g: g.log.run_id)
    if threads := sorted({g.log.thread_id for g in groups if g.locks_thread}):
        yield _SQL["lock_threads"], (threads,)
    yield _SQL["fence"], ([g.log.run_id for g in groups], [g.log.attempt for g in groups])
    if events := [row for g in groups for row in _event_rows(g)]:
        yield _SQL["events"], (encode(events),)
    yield (
        _SQL["advance"],
        {
            "lease_seconds": lease_seconds,
            "rows": encode([_advance_row(g) for g in groups]),
        },
    )
    yield from checkpoint_statements([c for g in groups for c in g.changes])
    for group in groups:
        for change in group.changes:
            yield from change.statements
    yield _SQL["notify"], ("events " + ",".join(hints(groups)),)
    if closing := [g for g in groups if g.closing]:
        counted = any(g.log.counted for g in closing)
        yield _SQL["announce_next"], (counted, [g.log.thread_id for g in closing])


def hints(groups: list[Group]) -> list[str]:
    """Keys of followers to wake: a run's id; ``<id> end`` for those who wait for its end."""
    return [g.log.run_id for g in groups] + [f"{g.log.run_id} end" for g in groups if g.closing]


def _event_rows(group: Group) -> list[dict[str, Any]]:
    return [
        {
            "run_id": group.log.run_id,
            "seq": seq,
            "attempt": group.log.attempt,
            "name": name,
            "data": data,
            "task_id": task_id,
            "checkpoint_id": checkpoint_id,
        }
        for seq, name, data, task_id, checkpoint_id in group.rows("events")
    ]


def _advance_row(group: Group) -> dict[str, Any]:
    events = group.rows("events")
    return {
        "run_id": group.log.run_id,
        "next_seq": events[-1][0] + 1 if events else 0,
        "fruitful": group.fruitful,
        "entry": group.entry,
    }
