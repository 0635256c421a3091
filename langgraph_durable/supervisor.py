"""Several server processes behind one socket, or one that restarts when a file changes."""

from __future__ import annotations

import argparse
import contextlib
import logging
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from langgraph_durable.launch import Launch
from langgraph_durable.serving import listen, ready_message

_log = logging.getLogger(__name__)

TICK_SECONDS = 0.2
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0
STEADY_SECONDS = 30.0
WATCHED = frozenset((".py", ".json", ".env", ".toml", ".yaml", ".yml"))
_NOT_WATCHED = frozenset((".git", ".venv", "venv", "__pycache__", "node_modules"))


@dataclass
class _Child:
    """One place for a server process, and how its tenants have fared."""

    process: subprocess.Popen[bytes] | None = None
    line: socket.socket | None = None
    ready: bool = False
    born_at: float = 0.0
    pause: float = FIRST_PAUSE_SECONDS
    not_before: float = field(default_factory=time.monotonic)


def supervise(
    launch: Launch,
    arguments: Sequence[str],
    count: int,
    options: argparse.Namespace,
    watched: Sequence[Path] = (),
) -> int:
    """Keep ``count`` processes serving until SIGTERM or Ctrl-C; blocking; the exit status.

    A process that dies is replaced, later each time it dies early. Files under ``watched``
    restart them all. Gives up with 1 when a process cannot start at all and nothing is watched.
    """
    with listen(options) as listening, _asked_to_stop() as asked:
        listening.listen(2048)
        listening.set_inheritable(True)
        supervisor = _Supervisor(launch, [*arguments, "--socket-fd", str(listening.fileno())])
        try:
            if launch.embedded is not None:
                launch.embedded.start()
            host, port = listening.getsockname()[:2]
            supervisor.message = ready_message(launch, host, port)
            return supervisor.run(count, listening.fileno(), watched, asked)
        finally:
            supervisor.stop()
            launch.stop()


class _Supervisor:
    def __init__(self, launch: Launch, arguments: Sequence[str]) -> None:
        self._launch = launch
        self._command = (sys.executable, "-P", "-m", "langgraph_durable", *arguments)
        self._children: list[_Child] = []
        self._selector = selectors.DefaultSelector()
        self._told = False
        self.message = ""

    def run(self, count: int, socket_fd: int, watched: Sequence[Path], asked: list[int]) -> int:
        self._children = [_Child() for _ in range(count)]
        seen = _fingerprint(watched)
        while not asked:
            for child in self._children:
                self._bury(child)
                if child.process is None and not self._told and child.born_at and not watched:
                    return 1
                if child.process is None and time.monotonic() >= child.not_before:
                    self._bear(child, socket_fd)
            self._hear()
            if watched and (now := _fingerprint(watched)) != seen:
                seen = now
                _log.info("files changed; restarting")
                self.stop()
                self._children = [_Child() for _ in range(count)]
        return 0

    def stop(self) -> None:
        """End every process gracefully, then by force."""
        living = [c.process for c in self._children if c.process is not None]
        for process in living:
            process.terminate()
        deadline = time.monotonic() + self._launch.settings.shutdown_grace_seconds + 10
        for process in living:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for child in self._children:
            self._hang_up(child)

    def _bear(self, child: _Child, socket_fd: int) -> None:
        child.line, theirs = socket.socketpair()
        with theirs:
            child.process = subprocess.Popen(
                (*self._command, "--parent-fd", str(theirs.fileno())),
                pass_fds=(socket_fd, theirs.fileno()),
                start_new_session=True,  # Ctrl-C is ours to pass on, once
            )
        child.ready, child.born_at = False, time.monotonic()
        self._selector.register(child.line, selectors.EVENT_READ, child)

    def _bury(self, child: _Child) -> None:
        if child.process is None or child.process.poll() is None:
            return
        _log.warning("server process %d ended (%d)", child.process.pid, child.process.returncode)
        self._hang_up(child)
        if time.monotonic() - child.born_at > STEADY_SECONDS:
            child.pause = FIRST_PAUSE_SECONDS
        child.not_before = time.monotonic() + child.pause
        child.pause = min(child.pause * 2, LONGEST_PAUSE_SECONDS)

    def _hang_up(self, child: _Child) -> None:
        if child.line is not None:
            with contextlib.suppress(KeyError):
                self._selector.unregister(child.line)
            child.line.close()
        child.process = child.line = None

    def _hear(self) -> None:
        """Wait a tick; the first process that is ready makes us say so."""
        for key, _ in self._selector.select(TICK_SECONDS):
            child: _Child = key.data
            child.ready = bool(child.line and child.line.recv(16))
            self._selector.unregister(key.fileobj)
            if child.ready and not self._told:
                self._told = True
                print(self.message, flush=True)


@contextlib.contextmanager
def _asked_to_stop() -> Iterator[list[int]]:
    """The signals received while inside; the second ends the processes the hard way."""
    asked: list[int] = []
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(n, lambda number, _: asked.append(number)) for n in numbers]
    try:
        yield asked
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _fingerprint(folders: Sequence[Path]) -> dict[Path, int]:
    """When each watched file last changed."""
    found = {}
    for folder in folders:
        for path in _sources(folder):
            with contextlib.suppress(OSError):
                found[path] = path.stat().st_mtime_ns
    return found


def _sources(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.is_dir():
                if path.name not in _NOT_WATCHED and path.name != ".langgraph_durable":
                    yield from _sources(path)
            elif path.suffix in WATCHED or path.name == ".env":
                yield path
