"""Stops the embedded PostgreSQL when the last server process is gone, however it went.

Runs as a process of its own (standard library only, started by its file name) and sleeps in
``flock``: every server holds a shared lock on ``users.lock``, so the kernel grants the exclusive
one when the last of them has died, by ``kill -9`` too.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from pathlib import Path

GRACE_SECONDS = 1.0
"""A server restarted at once finds its database still up; a start cut short writes its pid."""

FAST_SECONDS = 10.0
"""How long a fast shutdown may take before an immediate one is asked for."""


def postmaster(data: Path) -> int | None:
    """The pid of the live postmaster of data directory ``data``; a zombie is not alive."""
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if _serves(pid, data) else None


def _serves(pid: int, data: Path) -> bool:
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    if not Path("/proc/self/cmdline").exists():  # not Linux: the signal must do
        return True
    try:  # a zombie has an empty command line, a reused pid another one
        program, *arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return program.endswith(b"postgres") and os.fsencode(data) in arguments


def _orphan(data: Path) -> int | None:
    """The postmaster of a data directory that somebody has deleted under it."""
    pids = (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))
    return next((pid for pid in pids if _serves(pid, data)), None)


def stop_postmaster(data: Path) -> None:
    """Stop PostgreSQL fast, then harder; return when it is gone."""
    for request, patience in (
        (signal.SIGINT, FAST_SECONDS),
        (signal.SIGQUIT, FAST_SECONDS),
        (signal.SIGKILL, FAST_SECONDS),
    ):
        pid = postmaster(data) or _orphan(data)
        if pid is None:
            return
        _signal(pid, request)
        deadline = time.monotonic() + patience
        while _serves(pid, data) and time.monotonic() < deadline:
            time.sleep(0.01)


def _signal(pid: int, request: signal.Signals) -> None:
    try:
        os.kill(pid, request)
    except ProcessLookupError:
        return


def _deserted(users: int, in_use: Path) -> bool:
    """Wait for the last server to go; True when none has come back after the grace."""
    fcntl.flock(users, fcntl.LOCK_EX)
    if not in_use.exists():  # stopped by the last server itself
        return True
    fcntl.flock(users, fcntl.LOCK_UN)
    time.sleep(GRACE_SECONDS)
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def guard(home: Path, guard_lock: int) -> None:
    """Wait, stop PostgreSQL, go. ``guard_lock`` is the inherited, locked descriptor."""
    users = os.open(home / "users.lock", os.O_RDWR)
    in_use = home / "in-use"
    while not _deserted(users, in_use):
        pass
    stop_postmaster(home / "postgres")
    in_use.unlink(missing_ok=True)
    os.close(guard_lock)  # first: a server let in by the next line must find no guard
    os.close(users)


if __name__ == "__main__":
    os.setsid()  # a Ctrl-C in the server's terminal is not meant for it
    os.chdir("/")
    guard(Path(sys.argv[1]), int(sys.argv[2]))
