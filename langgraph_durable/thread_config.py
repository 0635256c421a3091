"""The ``checkpointer`` of a ``langgraph.json``: how long threads live that do not say so."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_durable.model import Ttl

STRATEGIES = ("delete", "keep_latest")
LONGEST_MINUTES = 1e8
SWEEP_MINUTES = 0.5
_KEYS = {"strategy", "default_ttl", "sweep_interval_minutes", "sweep_limit"}
_NOTICES = {
    "path": "the server's own Postgres checkpointer is used instead",
    "serde": "not supported; ignored",
}


@dataclass(frozen=True, kw_only=True)
class ThreadConfig:
    """``ttl`` is for threads that are made without one of their own. Expired threads are looked
    for every ``sweep_minutes``, at most ``sweep_limit`` of them a time; None is no limit.
    """

    ttl: Ttl | None = None
    sweep_minutes: float = SWEEP_MINUTES
    sweep_limit: int | None = None


def read_threads(checkpointer: Any, problems: list[str]) -> ThreadConfig:
    """What ``checkpointer.ttl`` says; what is wrong with it goes to ``problems``."""
    given = _object(_object(checkpointer, "checkpointer", problems).get("ttl"), _at(), problems)
    minutes = _minutes(given, "default_ttl", problems)
    strategy = given.get("strategy") or STRATEGIES[0]
    if strategy not in STRATEGIES:
        problems.append(f"{_at('strategy')}: must be one of {', '.join(STRATEGIES)}")
    return ThreadConfig(
        ttl=None if minutes is None else Ttl(minutes=minutes, strategy=str(strategy)),
        sweep_minutes=_minutes(given, "sweep_interval_minutes", problems) or SWEEP_MINUTES,
        sweep_limit=_limit(given, problems),
    )


def notices(checkpointer: Any) -> list[str]:
    """What is said about keys under ``checkpointer`` that do nothing here."""
    if not isinstance(checkpointer, dict):
        return []
    said = [f"checkpointer.{k}: {_NOTICES[k]}" for k in checkpointer if k in _NOTICES]
    unknown = [k for k in checkpointer if k not in {*_NOTICES, "ttl"}]
    ttl = checkpointer.get("ttl")
    unknown += [f"ttl.{k}" for k in ttl if k not in _KEYS] if isinstance(ttl, dict) else []
    return said + [f"checkpointer.{key}: unknown; ignored" for key in unknown]


def _at(key: str = "") -> str:
    return f"checkpointer.ttl.{key}" if key else "checkpointer.ttl"


def _object(raw: Any, name: str, problems: list[str]) -> dict[str, Any]:
    if raw is not None and not isinstance(raw, dict):
        problems.append(f"{name}: must be an object")
    return raw if isinstance(raw, dict) else {}


def _minutes(given: Mapping[str, Any], key: str, problems: list[str]) -> float | None:
    value = given.get(key)
    if value is None:
        return None
    number = not isinstance(value, bool) and isinstance(value, (int, float))
    if number and math.isfinite(value) and 0 < value < LONGEST_MINUTES:
        return float(value)
    problems.append(f"{_at(key)}: must be a number of minutes above 0")
    return None


def _limit(given: Mapping[str, Any], problems: list[str]) -> int | None:
    value = given.get("sweep_limit")
    if value is None or (type(value) is int and 0 < value < 2**31):
        return value
    problems.append(f"{_at('sweep_limit')}: must be a number of threads above 0")
    return None
