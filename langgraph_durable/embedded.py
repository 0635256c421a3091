"""A real PostgreSQL inside a directory, for `langgraph-durable dev`, notebooks and tests.

Any number of server processes share one directory. Each holds a shared lock on ``users.lock``;
the last to leave stops PostgreSQL, and a guard process does so when the last was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from langgraph_durable import embedded_guard
from langgraph_durable.embedded_cluster import Cluster, server_type
from langgraph_durable.embedded_guard import postmaster, stop_postmaster
from langgraph_durable.errors import StoreUnavailable

_log = logging.getLogger(__name__)

START_SECONDS = 60.0
WATCH_SECONDS = 0.5


class EmbeddedPostgres:
    """PostgreSQL with its data under ``home/postgres``, started on demand.

    Works as root (a system user ``pgserver`` then owns the data) and as an ordinary user.
    A postmaster that dies while in use is started again.
    """

    def __init__(self, home: Path, *, max_connections: int = 200) -> None:
        self.home = home.resolve()
        self.data = self.home / "postgres"
        self._cluster = Cluster(self.data, max_connections=max_connections)
        self._users: int | None = None
        self._guard: int | None = None
        self._stopping = threading.Event()
        self._watcher: threading.Thread | None = None

    def start(self) -> str:
        """Blocking: the address of a database that answers.

        Raises SettingsError when the package is not installed, StoreUnavailable when PostgreSQL
        does not come up.
        """
        server_type()
        self.home.mkdir(parents=True, exist_ok=True)
        if self._users is None:
            self._users = _lock(self.home / "users.lock", fcntl.LOCK_SH)
        try:
            self._ensure()
        except BaseException:
            self._leave()
            raise
        self._watch()
        return self.dsn

    def stop(self) -> None:
        """Blocking: leave; the last to leave stops PostgreSQL. Harmless when not started."""
        self._stopping.set()
        if self._watcher is not None:
            self._watcher.join()
            self._watcher = None
        self._leave()

    @property
    def dsn(self) -> str:
        return self._cluster.dsn

    def _leave(self) -> None:
        users, self._users = self._users, None
        if users is None:
            return
        if _last(users):
            stop_postmaster(self.data)
            (self.home / "in-use").unlink(missing_ok=True)
            os.close(users)
            self._reap_guard()
        else:
            os.close(users)

    def _reap_guard(self) -> None:
        if self._guard is not None:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._guard, 0)
            self._guard = None

    def _watch(self) -> None:
        if self._watcher is None:
            self._stopping.clear()
            self._watcher = threading.Thread(
                target=self._keep_running, name="embedded-postgres", daemon=True
            )
            self._watcher.start()

    def _keep_running(self) -> None:
        while not self._stopping.wait(WATCH_SECONDS):
            if postmaster(self.data) is None and self.data.exists():
                _log.warning("embedded PostgreSQL is gone; starting it again")
                try:
                    self._ensure()
                except (StoreUnavailable, OSError) as error:
                    _log.error("%s", error)

    def _ensure(self) -> None:
        with _held(self.home / "start.lock"):
            self._start_guard()
            (self.home / "in-use").touch()
            deadline = time.monotonic() + START_SECONDS
            while not self._cluster.answers():
                if time.monotonic() > deadline:
                    log = self._cluster.log
                    raise StoreUnavailable(f"Embedded PostgreSQL does not start; see {log}")
                self._cluster.launch()
                time.sleep(0.02)

    def _start_guard(self) -> None:
        """One guard per directory: it is born with the lock that says so."""
        try:
            lock = _lock(self.home / "guard.lock", fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        os.set_inheritable(lock, True)
        command = (sys.executable, "-I", "-S", embedded_guard.__file__, str(self.home), str(lock))
        nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
        self._guard = os.posix_spawn(command[0], command, os.environ, file_actions=nothing)
        os.close(lock)


def _last(users: int) -> bool:
    """Whether nobody else uses the directory; if so it is locked against newcomers."""
    for _ in range(5):  # the guard may hold the lock for an instant, to look
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        else:
            return True
    return False


def _lock(path: Path, operation: int) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, operation)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    descriptor = _lock(path, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)
