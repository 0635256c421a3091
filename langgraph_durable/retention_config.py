"""``durable.retention`` of a ``langgraph.json``: how long what has ended is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

SWEEP_MINUTES = 10.0
LONGEST = 1e6


@dataclass(frozen=True, kw_only=True)
class RetentionConfig:
    """None keeps for ever. Runs' logs go ``events_days`` behind their end, the runs themselves
    ``runs_days``. Threads that nobody has used lose all but their latest checkpoints after
    ``checkpoints_days``, and go as a whole after ``threads_days``. ``archive`` is a folder that
    gets everything first.
    """

    events_days: float | None = None
    runs_days: float | None = None
    checkpoints_days: float | None = None
    threads_days: float | None = None
    archive: Path | None = None
    sweep_minutes: float = SWEEP_MINUTES


def read_retention(raw: Any, at: str, problems: list[str]) -> RetentionConfig:
    """What a section says; what is wrong with it goes to ``problems``, behind ``at``."""
    if not isinstance(raw, dict):
        problems.append(f"{at}: must be an object")
        return RetentionConfig()
    names = [f.name for f in fields(RetentionConfig)]
    problems += [
        f"{at}.{key}: unknown; there are {', '.join(names)}" for key in raw if key not in names
    ]
    days = {n: _number(raw, n, at, problems, "days") for n in names if n.endswith("_days")}
    if (days["events_days"] or 0) > (days["runs_days"] or LONGEST):
        problems.append(f"{at}.events_days: a log goes with its run, so not behind runs_days")
    archive = raw.get("archive")
    if archive is not None and not (isinstance(archive, str) and archive):
        problems.append(f"{at}.archive: must be a folder")
        archive = None
    return RetentionConfig(
        **days,
        archive=Path(archive) if archive else None,
        sweep_minutes=_number(raw, "sweep_minutes", at, problems, "minutes") or SWEEP_MINUTES,
    )


def _number(
    given: Mapping[str, Any], key: str, at: str, problems: list[str], unit: str
) -> float | None:
    value = given.get(key)
    if value is None:
        return None
    number = not isinstance(value, bool) and isinstance(value, (int, float))
    if number and math.isfinite(value) and 0 < value <= LONGEST:
        return float(value)
    problems.append(f"{at}.{key}: must be a number of {unit} above 0")
    return None
