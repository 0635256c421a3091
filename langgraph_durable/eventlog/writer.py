"""The one group-commit writer of a process: everything that runs write, one commit per batch.

Its thread takes what has gathered within the linger, groups it by attempt, and sends it as one
set-based statement behind one fence; what few changes have besides follows in a pipeline. A batch
that fails is tried again group by group, so a fenced-out attempt or a bad row never harms its
neighbours.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from itertools import chain, repeat

import psycopg
from psycopg import Connection, Cursor

from langgraph_durable.errors import LeaseLost, StoreUnavailable
from langgraph_durable.eventlog.batch import Committed, Group, batch_statements
from langgraph_durable.eventlog.change import Change
from langgraph_durable.postgres import Database, Row
from langgraph_durable.sql import statements

_log = logging.getLogger(__name__)
_SQL = statements("writer")

FENCED_OUT = "LG001"
BATCH_BYTES = 4_000_000
BATCH_RUNS = 95
"""Runs in one notification: two hints each stay below PostgreSQL's 8,000 bytes."""
RETRY_SECONDS = (0.02, 0.1, 0.25, 0.5)

_BLOCKED = (
    psycopg.errors.LockNotAvailable,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
)


class Writer:
    """``committed`` is called in the writer's thread with what it has just made durable."""

    def __init__(
        self,
        database: Database,
        *,
        lease_seconds: float,
        linger_seconds: float,
        committed: Callable[[list[Committed]], None],
    ) -> None:
        self._database = database
        self._lease_seconds = lease_seconds
        self._linger_seconds = linger_seconds
        self._committed = committed
        self.written = 0
        self._queue: list[Change] = []
        self._blocked: dict[tuple[str, int], Group] = {}
        self._ready = threading.Condition()
        self._closing = False
        self._ended = False
        self._too_late_at = float("inf")
        self._conn: Connection[Row] | None = None
        self._thread = threading.Thread(target=self._run, name="durable-writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 5.0) -> None:
        """Write what is queued, then end; what cannot be written in time fails."""
        with self._ready:
            self._closing = True
            self._too_late_at = time.monotonic() + timeout / 2
            self._ready.notify()
        self._thread.join(timeout)

    def put(self, change: Change) -> None:
        """Queue a change; from any thread. It fails at once when the writer has ended."""
        with self._ready:
            if not self._ended:
                self._queue.append(change)
                if change.urgent or len(self._queue) == 1:
                    self._ready.notify()
                return
        Group(change).fail(StoreUnavailable())

    def _run(self) -> None:
        while (changes := self._collect()) is not None:
            try:
                self._write(self._grouped(changes))
                self._retry_blocked()
            except Exception as error:
                _log.exception("the writer failed on a batch")
                for change in changes:
                    change.log.fail(error)
                    if not change.durable.done():
                        change.durable.set_exception(error)
        if self._conn is not None:
            self._conn.close()

    def _collect(self) -> list[Change] | None:
        with self._ready:
            while not self._queue and not self._closing:
                self._ready.wait(0.05 if self._blocked else None)
                if self._blocked:
                    break
            self._linger()
            if self._closing and not self._queue and not self._blocked:
                self._ended = True
                return None
            return self._take()

    def _linger(self) -> None:
        deadline = time.monotonic() + self._linger_seconds
        while not self._closing and not any(c.urgent for c in self._queue):
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._ready.wait(left)

    def _take(self) -> list[Change]:
        size, count, runs = 0, 0, set[str]()
        for change in self._queue:
            runs.add(change.log.run_id)
            size += change.size
            if count and (size > BATCH_BYTES or len(runs) > BATCH_RUNS):
                break
            count += 1
        taken, self._queue = self._queue[:count], self._queue[count:]
        return taken

    def _grouped(self, changes: Iterable[Change]) -> list[Group]:
        """Changes by attempt; those of a blocked attempt queue up behind it."""
        groups: dict[tuple[str, int], Group] = {}
        for change in changes:
            held = self._blocked.get(change.log.key) or groups.get(change.log.key)
            if change.log.failure is not None:
                change.durable.set_exception(change.log.failure)
            elif held is not None:
                held.changes.append(change)
            else:
                groups[change.log.key] = Group(change)
        return list(groups.values())

    def _write(self, groups: list[Group]) -> None:
        if not groups:
            return
        try:
            at = self._commit(groups)
        except Exception:
            for group in groups:
                self._write_alone(group)
            # It may have gone through all the same: its own notification is not listened to.
            self._tell([group.committed(None) for group in groups])
        else:
            self._done(groups, at)

    def _retry_blocked(self) -> None:
        for key in list(self._blocked):
            self._write_alone(self._blocked.pop(key))

    def _write_alone(self, group: Group) -> None:
        for pause in chain(RETRY_SECONDS, repeat(RETRY_SECONDS[-1])):
            try:
                self._commit([group])
            except _BLOCKED:
                if time.monotonic() > self._too_late_at:
                    group.fail(StoreUnavailable())
                else:
                    self._blocked[group.log.key] = group
                return
            except Exception as error:
                if not _database_is_away(error):
                    if self._refused(group, error):
                        return
                    continue
                self._drop_connection()
                if self._closing and pause == RETRY_SECONDS[-1]:
                    group.fail(StoreUnavailable())
                    return
                time.sleep(pause)
            else:
                self._done([group])
                return

    def _refused(self, group: Group, error: Exception) -> bool:
        """Settle a group that the database or the driver would not take; False: try again."""
        if getattr(error, "sqlstate", None) != FENCED_OUT:
            _log.error("run %s: a write failed: %s", group.log.run_id, type(error).__name__)
            group.fail(error)
            return True
        try:
            ended = group.closing and self._ended_by(group)
        except psycopg.Error:
            self._drop_connection()
            return False
        if ended:
            self._done([group])
        else:
            _log.warning("run %s attempt %s lost its lease", *group.log.key)
            group.fail(LeaseLost())
        return True

    def _ended_by(self, group: Group) -> bool:
        """The commit of an attempt's last change went through before the connection broke."""
        row = self._connection().execute(_SQL["outcome"], (group.log.run_id,)).fetchone()
        return (
            row is not None and row["attempt"] == group.log.attempt and row["status"] != "running"
        )

    def _done(self, groups: list[Group], at: int | None = None) -> None:
        for group in groups:
            self.written += len(group.rows("events"))
            group.settle()
        self._tell([group.committed(at) for group in groups])

    def _tell(self, batch: list[Committed]) -> None:
        try:
            self._committed(batch)
        except Exception:
            _log.exception("followers could not be told; they poll")

    def _commit(self, groups: list[Group]) -> int | None:
        """Answers when the events are said to have been written, in milliseconds since 1970."""
        conn = self._connection()
        batch, *more = batch_statements(groups, self._lease_seconds)
        if not more:
            return _at(conn.execute(*batch))
        with conn.pipeline(), conn.transaction():
            conn.execute(_SQL["wait_briefly"])
            written = conn.execute(*batch)
            for statement, parameters in more:
                conn.execute(statement, parameters)
        return _at(written)

    @property
    def session(self) -> int | None:
        """The database's number for the connection that it writes on; from any thread.

        None without one, and behind a pooler, which makes up numbers of its own.
        """
        conn = self._conn
        if conn is None or conn.closed or self._database.pooled:
            return None
        return conn.info.backend_pid

    def _connection(self) -> Connection[Row]:
        if self._conn is None or self._conn.closed:
            self._conn = self._database.connect(direct=False)
        return self._conn

    def _drop_connection(self) -> None:
        if self._conn is not None:
            self._conn.close()
            self._conn = None


def _at(written: Cursor[Row]) -> int | None:
    row = written.fetchone()
    return row["at"] if row else None


def _database_is_away(error: Exception) -> bool:
    """Will the same statements do later? Anything else would hold up every other run for ever.

    Without an SQLSTATE the connection is gone; class 08 is the connection too, 57P0x a server
    that stops or starts, 25006 one that only reads for the moment, 53100 a full disk and 53300 a
    lack of connections.
    """
    if not isinstance(error, psycopg.Error):
        return False
    state = error.sqlstate
    if state is None:
        return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
    return state.startswith(("08", "57P0")) or state in ("25006", "53100", "53300")
