"""What one client saw of one run, connection by connection."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Frame:
    """One whole frame as it came. ``id`` is the cursor that it names, if it does."""

    id: int | None
    event: str
    data: str


@dataclass(slots=True, kw_only=True)
class Connection:
    """One answer that was read from its beginning; ``after`` is the cursor it was asked for."""

    server: int
    after: int
    frames: list[Frame] = field(default_factory=list)
    closed_by: str = ""


@dataclass(slots=True, kw_only=True)
class Transcript:
    """``run_id`` is known once the run was acknowledged. ``finished`` when the client saw the
    terminal frame, ``cancels`` when it asked for the run's end, ``cancelled`` when it was told that
    this was heard, ``answers`` what it said to questions. ``refusals`` are answers that it did not
    expect, ``replay`` is what was read again when all was over."""

    door: str
    graph: str
    thread_id: str
    nonce: str
    modes: tuple[str, ...]
    subgraphs: bool
    key: str
    run_id: str | None = None
    acknowledged_at: float | None = None
    cancels: bool = False
    cancelled: bool = False
    finished: bool = False
    answers: list[str] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    replay: list[Frame] | None = None

    @property
    def cursor(self) -> int:
        """The last one that was seen; -1 before the first."""
        seen = [f.id for c in self.connections for f in c.frames if f.id is not None]
        return seen[-1] if seen else -1

    @property
    def read(self) -> int:
        """How many frames were read."""
        return sum(len(c.frames) for c in self.connections)

    def dump(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)
