"""What an attempt asks the writer to make durable, and the handle it asks with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, LiteralString

import orjson

from langgraph_durable.errors import LeaseLost
from langgraph_durable.sql import statements

_SQL = statements("writer")

Rows = list[tuple[Any, ...]]
Statement = tuple[LiteralString, Any]

_ROWS = ("events", "blobs", "checkpoints", "task_writes", "special_writes")


@dataclass(slots=True, kw_only=True)
class Change:
    """Rows of one attempt that commit together, after its earlier changes.

    ``events`` are (seq, name, data, task_id, checkpoint_id). ``blobs``, ``checkpoints``,
    ``task_writes`` and ``special_writes`` are rows of LangGraph's tables in column order.
    ``finish`` is the run's last word, ``settle`` what it leaves its thread: rows of the columns
    that they set. ``statements`` run last. ``urgent`` cuts the linger short: somebody waits.
    ``locks_thread`` says that ``statements`` write the thread's row.
    ``closing`` marks an attempt's last change (finish or hand-back).
    """

    log: RunLog
    events: Rows = field(default_factory=list)
    blobs: Rows = field(default_factory=list)
    checkpoints: Rows = field(default_factory=list)
    task_writes: Rows = field(default_factory=list)
    special_writes: Rows = field(default_factory=list)
    finish: Mapping[str, Any] | None = None
    settle: Mapping[str, Any] | None = None
    statements: list[Statement] = field(default_factory=list)
    entry: str | None = None
    fruitful: bool = False
    urgent: bool = False
    closing: bool = False
    locks_thread: bool = False
    durable: Future[None] = field(default_factory=Future)

    def absorb(self, other: Change) -> None:
        """Take in what is to be written behind this, in the same commit."""
        for kind in _ROWS:
            getattr(self, kind).extend(getattr(other, kind))
        self.statements.extend(other.statements)
        self.finish = other.finish or self.finish
        self.settle = other.settle or self.settle
        self.entry = self.entry if other.entry is None else other.entry
        self.fruitful = self.fruitful or other.fruitful
        self.urgent = self.urgent or other.urgent
        self.closing = self.closing or other.closing
        self.locks_thread = self.locks_thread or other.locks_thread

    def checkpoint_statement(self) -> Statement:
        """Only this change's rows of LangGraph's tables."""
        return _SQL["write_checkpoints"], checkpoint_rows([self])

    @property
    def size(self) -> int:
        """Roughly how many bytes and rows this is; events dominate."""
        return sum(len(e[2]) + 64 for e in self.events)


class RunLog:
    """One attempt's pen: numbers its events and hands changes to the writer.

    ``counted``: others wait for the place that the attempt takes.
    ``on_lost`` is called once, from the writer's thread, when a write was refused or
    could not be written at all.
    """

    def __init__(
        self,
        *,
        run_id: str,
        attempt: int,
        thread_id: str,
        next_seq: int,
        counted: bool = False,
        write: Callable[[Change], None],
        on_lost: Callable[[Exception], None],
    ) -> None:
        self.run_id = run_id
        self.attempt = attempt
        self.thread_id = thread_id
        self.next_seq = next_seq
        self.counted = counted
        self.failure: Exception | None = None
        self.closed = False
        self.fruitful = False
        self.gather: Callable[[Change], Future[None]] | None = None
        """Where changes go first, to be put with what has been numbered and not yet put."""
        self._write = write
        self._on_lost = on_lost

    @property
    def key(self) -> tuple[str, int]:
        return (self.run_id, self.attempt)

    def put(self, change: Change) -> Future[None]:
        """Queue a change; its future resolves when it is durable.

        The future fails with :class:`LeaseLost` when the attempt was fenced out or has ended.
        """
        return self.put_next(change) if self.gather is None else self.gather(change)

    def put_next(self, change: Change) -> Future[None]:
        """Queue a change behind the last one: nothing that was numbered before is left."""
        if self.closed or self.failure is not None:
            change.durable.set_exception(self.failure or LeaseLost())
            return change.durable
        self.closed = change.closing
        self.fruitful = self.fruitful or change.fruitful
        # Whoever waits may give up; the write itself cannot be cancelled any more.
        change.durable.set_running_or_notify_cancel()
        self._write(change)
        return change.durable

    def event(
        self, name: str, data: str, task_id: str | None = None, checkpoint_id: str | None = None
    ) -> tuple[Any, ...]:
        """Number one event; the row is for a change that is put before any later event."""
        row = (self.next_seq, name, data, task_id, checkpoint_id)
        self.next_seq += 1
        return row

    def fail(self, error: Exception) -> None:
        """The writer's word that nothing of this attempt will be written any more."""
        if self.failure is None:
            self.failure = error
            self._on_lost(error)


async def until_durable(written: Future[None]) -> None:
    """Returns when a change is durable. Raises LeaseLost, or whatever else it failed by.

    Whoever gives up waiting leaves the write alone: it cannot be cancelled any more.
    """
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[None] = loop.create_future()

    def settled(written: Future[None]) -> None:
        with suppress(RuntimeError):  # the loop is gone, and who waited with it
            loop.call_soon_threadsafe(_settle, waiting, written)

    written.add_done_callback(settled)
    await waiting


def _settle(waiting: asyncio.Future[None], written: Future[None]) -> None:
    if waiting.done():
        return
    if error := written.exception():
        waiting.set_exception(error)
    else:
        waiting.set_result(None)


_PLACE = ("thread_id", "checkpoint_ns")
_WRITE = (*_PLACE, "checkpoint_id", "task_id", "task_path", "idx", "channel", "type")
_COLUMNS: dict[str, tuple[str, ...]] = {
    "blobs": (*_PLACE, "channel", "version", "type"),
    "checkpoints": (*_PLACE, "checkpoint_id", "parent_checkpoint_id", "checkpoint", "metadata"),
    "task_writes": _WRITE,
    "special_writes": _WRITE,
}
_KEYS: dict[str, tuple[int, ...]] = {
    "blobs": (0, 1, 2, 3),
    "checkpoints": (0, 1, 2),
    "task_writes": (0, 1, 2, 3, 5),
    "special_writes": (0, 1, 2, 3, 5),
}
"""Which columns of each kind of row are its primary key."""


def as_objects(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    """Rows as the database's functions take them, up to the columns that are named."""
    return [dict(zip(columns, row, strict=False)) for row in rows]


def checkpoint_rows(changes: list[Change]) -> dict[str, Any]:
    """The parameters of ``write_checkpoints`` for the rows that the changes hold.

    Raises TypeError for a name that is no text: LangGraph would look for what it has named.
    """
    parameters: dict[str, Any] = {}
    for kind, key in _KEYS.items():
        rows = _without_repeats(kind, changes, key)
        objects = as_objects(_COLUMNS[kind], rows)
        parameters[kind] = orjson.dumps(objects).decode() if rows else None
        parameters[f"{kind}_bytes"] = [row[-1] for row in rows] or None
    return parameters


def _without_repeats(kind: str, changes: list[Change], key: tuple[int, ...]) -> Rows:
    """Rows without repeated keys, which one upsert statement cannot take."""
    rows: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in (row for change in changes for row in getattr(change, kind)):
        place = tuple(row[i] for i in key)
        if kind != "task_writes" or place not in rows:
            rows[place] = row
    return list(rows.values())
