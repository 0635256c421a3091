"""Recorded runs of many kinds, and what their clients were told: ``golden/<kind>.json``.

A client reads on behind a cursor that counts frames, whichever release it meets. So frames change
with a new ``PROJECTION_VERSION`` only, and are then written anew by
``python -m tests.protocol_adapter.responses.goldens``.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from langgraph_durable.model import Event, RecoveryStrategy, Run, RunStatus
from protocol_adapter.responses.objects import head_of
from protocol_adapter.responses.stream import PROJECTION_VERSION, Fold, Frame

FOLDER = Path(__file__).parent / "golden"
KINDS = sorted(path.stem for path in FOLDER.glob("*.json"))


@dataclass(frozen=True, slots=True)
class Golden:
    """A run, its log, and the frames of its response under a version of the fold."""

    run: Run
    log: list[Event]
    version: int
    frames: list[Frame]


def read(kind: str) -> Golden:
    held = json.loads((FOLDER / f"{kind}.json").read_text())
    row = dict(held["run"])
    for name in ("created_at", "updated_at", "started_at", "finished_at"):
        row[name] = row[name] and datetime.fromisoformat(row[name])
    known = {field.name for field in fields(Run)}
    run = Run(
        **{key: value for key, value in row.items() if key in known}
        | {
            "status": RunStatus(row["status"]),
            "strategy": RecoveryStrategy(row["strategy"]),
        }
    )
    log = [Event(**event) for event in held["log"]]
    return Golden(run, log, held["version"], held["frames"])


def write(kind: str, run: Run, log: list[Event]) -> None:
    held: dict[str, Any] = {
        "version": PROJECTION_VERSION,
        "run": {
            key: value.isoformat() if isinstance(value, datetime) else value
            for key, value in asdict(run).items()
        },
        "log": [event._asdict() for event in log],
        "frames": told(run, log),
    }
    text = json.dumps(held, indent=1, ensure_ascii=True, sort_keys=True)
    (FOLDER / f"{kind}.json").write_text(text + "\n")


def told(run: Run, log: list[Event]) -> list[Frame]:
    """The frames of a run's response, as this version of the fold tells them."""
    fold = Fold(head_of(run))
    return [frame for event in log for frame in fold.feed(event, run)]


if __name__ == "__main__":
    for kind in KINDS:
        golden = read(kind)
        write(kind, golden.run, golden.log)
