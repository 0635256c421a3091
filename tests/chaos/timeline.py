"""What happened to whom, and when: faults, deaths and births of processes."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class Span:
    """A fault that really happened; ``until`` is when its last effect was over. Seconds since
    1970. ``server`` None stands for the database, ``pid`` for the process that was struck."""

    kind: str
    at: float
    until: float = float("inf")
    server: int | None = None
    pid: int | None = None


@dataclass(slots=True, kw_only=True)
class Death:
    """The end of a server process; ``expected`` when a fault or its own graph brought it."""

    server: int
    pid: int
    code: int
    at: float
    lived: float
    expected: bool


@dataclass
class Timeline:
    """Written by many threads."""

    spans: list[Span] = field(default_factory=list)
    deaths: list[Death] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.time)
    faults_ended: float = float("inf")

    def __post_init__(self) -> None:
        self._expected: dict[int, int] = {}
        self._born: dict[int, tuple[int, float]] = {}
        self._guard = threading.Lock()

    def begin(self, kind: str, *, server: int | None = None, pid: int | None = None) -> Span:
        """A fault begins."""
        span = Span(kind=kind, at=time.time(), server=server, pid=pid)
        with self._guard:
            self.spans.append(span)
        return span

    def complain(self, text: str) -> None:
        """Something that must not happen was seen by the harness itself."""
        with self._guard:
            self.complaints.append(text)

    def expect(self, pid: int, number: int) -> None:
        """This process is about to be ended by a signal."""
        self._expected[pid] = number

    def born(self, server: int, pid: int) -> None:
        """A server process has started."""
        self._born[pid] = (server, time.time())

    def server_of(self, pid: int) -> int | None:
        """The server whose process it was."""
        return self._born[pid][0] if pid in self._born else None

    def died(self, server: int, pid: int, code: int) -> None:
        """A server process has ended."""
        ends = _ENDS.get(self._expected.get(pid, 0), ())
        death = Death(
            server=server,
            pid=pid,
            code=code,
            at=time.time(),
            lived=time.time() - self._born.get(pid, (server, self.began))[1],
            expected=code in (*ends, EXIT_CODE),
        )
        with self._guard:
            self.deaths.append(death)

    def dump(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "began": self.began,
            "faults_ended": self.faults_ended,
            "spans": [asdict(s) for s in self.spans],
            "deaths": [asdict(d) for d in self.deaths],
            "complaints": self.complaints,
            "born": self._born,
        }


_ENDS: dict[int, tuple[int, ...]] = {
    signal.SIGKILL: (-signal.SIGKILL,),
    signal.SIGTERM: (0, -signal.SIGTERM, -signal.SIGKILL),  # it may not have begun, or not end
}
EXIT_CODE = 77
"""What the graph that ends its own process leaves behind."""
