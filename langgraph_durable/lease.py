"""Leases: the heartbeat thread, the session lock that shows a worker alive, and the sweep.

The thread has its own direct connection, so no loop that runs user code can silence it. It renews
exactly the attempts being executed, learns of lost leases and of cancels, and frees the runs of
workers whose session lock has been free for longer than the grace.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from enum import StrEnum

import psycopg
from psycopg import Connection

from langgraph_durable.errors import DurableError
from langgraph_durable.postgres import Database, Row
from langgraph_durable.settings import Settings
from langgraph_durable.sql import statements

_log = logging.getLogger(__name__)
_RUNS = statements("runs")
_WORKERS = statements("workers")

LOCK_CLASS = 0x4C47
SWEEP_SECONDS = 0.25
RECONNECT_SECONDS = 0.1


class Stop(StrEnum):
    """Why an attempt must end before its graph does."""

    CANCEL = "cancel"
    DEADLINE = "deadline"
    LOST = "lost"
    OUTAGE = "outage"
    DRAIN = "drain"
    FAILED = "failed"


class Lease:
    """A worker's dated right to one attempt. ``stop`` may be called from any thread."""

    def __init__(
        self, run_id: str, attempt: int, seconds: float, stop: Callable[[Stop], None]
    ) -> None:
        self.run_id = run_id
        self.attempt = attempt
        self.stop = stop
        self._seconds = seconds
        self._renewed_at = time.monotonic()

    def renewed(self, at: float) -> None:
        """The database renewed it in a statement sent at monotonic time ``at``."""
        self._renewed_at = max(self._renewed_at, at)

    def remaining(self, now: float) -> float:
        """Seconds this process may still act on it, by its own clock."""
        return self._renewed_at + self._seconds - now


class LeaseKeeper:
    """Keeps a worker's leases. ``freed`` is called when another worker's runs became free."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        worker_id: str,
        *,
        freed: Callable[[], None],
    ) -> None:
        self._database = database
        self._settings = settings
        self._worker_id = worker_id
        self._freed = freed
        self._leases: dict[tuple[str, int], Lease] = {}
        self._given_up: set[tuple[str, int]] = set()
        self._guard = threading.Lock()
        self._wake = threading.Event()
        self._closing = False
        self._ready = threading.Event()
        self._free_since: dict[str, float] = {}
        self._unlocked_since: float | None = time.monotonic()
        self._beat_at = 0.0
        self._thread = threading.Thread(target=self._run, name="durable-heartbeat", daemon=True)

    def start(self, timeout: float = 10.0) -> None:
        """Start the thread and wait until the worker is registered and holds its lock."""
        self._thread.start()
        if not self._ready.wait(timeout):
            raise DurableError("the worker could not register itself")

    def stop(self) -> None:
        self._closing = True
        self._wake.set()
        self._thread.join(5.0)

    def hold(self, lease: Lease) -> None:
        """Renew this lease from now on."""
        with self._guard:
            self._leases[lease.run_id, lease.attempt] = lease

    def release(self, lease: Lease) -> None:
        """The attempt has written its last word."""
        with self._guard:
            self._leases.pop((lease.run_id, lease.attempt), None)

    def give_up(self, lease: Lease) -> None:
        """The attempt ended itself in an outage: hand its run back, without a strike."""
        with self._guard:
            self._leases.pop((lease.run_id, lease.attempt), None)
            self._given_up.add((lease.run_id, lease.attempt))
        self._wake.set()

    def remaining(self, lease: Lease) -> float:
        """Seconds an attempt may go on: its lease, and the grace while the lock is not held."""
        now = time.monotonic()
        left, unlocked_since = lease.remaining(now), self._unlocked_since
        if unlocked_since is not None and self._ready.is_set():
            left = min(left, unlocked_since + self._settings.liveness_grace_seconds - now)
        return left

    @property
    def holds_lock(self) -> bool:
        """Do others see this worker alive? Without that it must not start anything."""
        return self._unlocked_since is None

    def _run(self) -> None:
        while not self._closing:
            try:
                with self._database.connect() as conn:
                    self._serve(conn)
            except Exception as error:
                if not isinstance(error, psycopg.OperationalError):
                    _log.exception("the heartbeat failed and starts again")
                self._lock_lost()
                self._wake.wait(RECONNECT_SECONDS)
                self._wake.clear()

    def _lock_lost(self) -> None:
        if self._unlocked_since is None:
            self._unlocked_since = time.monotonic()

    def _serve(self, conn: Connection[Row]) -> None:
        self._register(conn)
        self._beat_at = 0.0
        while not self._closing:
            if time.monotonic() - self._beat_at >= self._settings.heartbeat_seconds:
                self._beat_at = time.monotonic()
                self._beat(conn)
            self._hand_back(conn)
            self._sweep(conn)
            self._wake.wait(SWEEP_SECONDS)
            self._wake.clear()
        self._unregister(conn)

    def _register(self, conn: Connection[Row]) -> None:
        worker = {
            "worker_id": self._worker_id,
            "lease_seconds": self._settings.lease_seconds,
            "lock_class": LOCK_CLASS,
        }
        row = conn.execute(_WORKERS["register"], worker).fetchone()
        worker |= row or {}
        held = conn.execute(_WORKERS["hold_lock"], worker).fetchone()
        if not held or not held["held"]:
            raise psycopg.OperationalError("the old session still holds the worker's lock")
        conn.execute(_WORKERS["announce"], worker)
        self._unlocked_since = None
        self._ready.set()

    def _unregister(self, conn: Connection[Row]) -> None:
        with self._guard:
            self._given_up.update(self._leases)
        self._hand_back(conn)
        ids = {"worker_ids": [self._worker_id]}
        conn.execute(_WORKERS["forget_locks"], ids)
        conn.execute(_WORKERS["forget"], ids)

    def _beat(self, conn: Connection[Row]) -> None:
        with self._guard:
            leases = dict(self._leases)
        sent_at = time.monotonic()
        conn.execute(
            _WORKERS["beat"],
            {"worker_id": self._worker_id, "lease_seconds": self._settings.lease_seconds},
        )
        conn.execute("SELECT pg_notify('langgraph_durable', %s)", (f"beat {self._worker_id}",))
        if not leases:
            return
        keys = {"run_ids": [r for r, _ in leases], "attempts": [a for _, a in leases]}
        conn.execute(_RUNS["renew"], keys | {"lease_seconds": self._settings.lease_seconds})
        standing = {
            str(row["run_id"]): row
            for row in conn.execute(_RUNS["standing"], {"run_ids": keys["run_ids"]})
        }
        for (run_id, attempt), lease in leases.items():
            self._judge(lease, standing.get(run_id), attempt, sent_at)

    def _judge(self, lease: Lease, row: Row | None, attempt: int, sent_at: float) -> None:
        if row is None or row["attempt"] != attempt or row["status"] != "running":
            lease.stop(Stop.LOST)
            return
        lease.renewed(sent_at)
        if row["cancel_action"]:
            lease.stop(Stop.CANCEL)
        elif row["overdue"]:
            lease.stop(Stop.DEADLINE)

    def _hand_back(self, conn: Connection[Row]) -> None:
        with self._guard:
            given_up = list(self._given_up)
        if not given_up:
            return
        keys = {"run_ids": [r for r, _ in given_up], "attempts": [a for _, a in given_up]}
        conn.execute(_RUNS["hand_back"], keys)
        conn.execute("SELECT pg_notify('langgraph_durable', 'work')")
        with self._guard:
            self._given_up.difference_update(given_up)
        self._freed()

    def _sweep(self, conn: Connection[Row]) -> None:
        free = [
            r["worker_id"] for r in conn.execute(_WORKERS["lock_free"], {"lock_class": LOCK_CLASS})
        ]
        now = time.monotonic()
        self._free_since = {w: self._free_since.get(w, now) for w in free}
        grace = self._settings.liveness_grace_seconds
        gone = [w for w, since in self._free_since.items() if now - since >= grace]
        if gone:
            self._expire(conn, gone)
        silent = [r["worker_id"] for r in conn.execute(_WORKERS["silent"])]
        if silent:
            self._terminate(conn, silent)

    def _expire(self, conn: Connection[Row], worker_ids: list[str]) -> None:
        ids = {"worker_ids": worker_ids}
        if freed := conn.execute(_WORKERS["expire_leases"], ids).rowcount:
            _log.warning("worker %s is gone; %d runs go on elsewhere", ", ".join(worker_ids), freed)
        forgotten = [r["worker_id"] for r in conn.execute(_WORKERS["forget"], ids)]
        conn.execute(_WORKERS["forget_locks"], {"worker_ids": forgotten})
        if freed:
            conn.execute("SELECT pg_notify('langgraph_durable', 'work')")
            self._freed()

    def _terminate(self, conn: Connection[Row], worker_ids: list[str]) -> None:
        names = [f"langgraph-durable {w}" for w in worker_ids if w != self._worker_id]
        conn.execute(_WORKERS["terminate"], {"names": names})
        ids = {"worker_ids": [w for w in worker_ids if w != self._worker_id]}
        forgotten = [r["worker_id"] for r in conn.execute(_WORKERS["forget"], ids)]
        conn.execute(_WORKERS["forget_locks"], {"worker_ids": forgotten})
