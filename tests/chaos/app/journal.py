"""The side-effect journal: what graphs really did, written past the engine.

Each process appends to a file of its own; a line that was written survives whatever kills the
process. Times are seconds since 1970, of the one clock of this machine.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langgraph.config import get_config

from langgraph_durable.ledger import current_ledger

_PATH = Path(os.environ["CHAOS_JOURNAL"]) / f"{os.getpid()}-{time.time_ns()}.jsonl"
_FILE = os.open(_PATH, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o644)


def note(kind: str, what: str, phase: str) -> None:
    """One line. ``kind`` is ``node`` or ``call``, ``phase`` begin, end, or returned."""
    config = get_config()
    place = config["configurable"]
    parent, _, own = str(place.get("checkpoint_ns") or "").rpartition("|")
    line: dict[str, Any] = {
        "at": time.time(),
        "pid": os.getpid(),
        "run": str(place["run_id"]),
        "attempt": current_ledger()._log.attempt,
        "thread": str(place["thread_id"]),
        "kind": kind,
        "what": what,
        "phase": phase,
        "ns": parent,
        "task": own,
        "step": (config.get("metadata") or {}).get("langgraph_step"),
    }
    os.write(_FILE, (json.dumps(line) + "\n").encode())


@contextmanager
def noted(kind: str, what: str) -> Iterator[None]:
    """A line before and one behind, the latter unless something was raised."""
    note(kind, what, "begin")
    yield
    note(kind, what, "end")
