"""What the runs of one graph may take: attempts, time, and places beside each other."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

_LONGEST_SECONDS = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long a run rests behind a crash. The first recovery always begins at once; the second
    one after ``initial_seconds``, each later one after ``factor`` times as long, at most
    ``max_seconds``.
    """

    initial_seconds: float = 0.0
    factor: float = 2.0
    max_seconds: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPolicy:
    """Bounds for the runs of one graph; None leaves one to what holds for all.

    ``max_attempts`` are crashes without progress before a run is given up.
    ``run_deadline_seconds`` is the time from a run's first start to its end, over all attempts:
    work, crashes, rests and deploys count; waiting for the first start, sleeping and waiting for a
    signal do not. ``step_timeout_seconds`` bounds each step of the graph. ``concurrency`` is how
    many of the graph's runs all servers together execute at a time.
    """

    max_attempts: int | None = None
    run_deadline_seconds: float | None = None
    step_timeout_seconds: float | None = None
    concurrency: int | None = None
    retry: Backoff | None = None

    def over(self, other: RunPolicy | None) -> RunPolicy:
        """This policy, with what it leaves open from another one."""
        if other is None:
            return self
        held = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(other, **{name: value for name, value in held.items() if value is not None})


NO_POLICIES: Mapping[str, RunPolicy] = MappingProxyType({})


def read_policies(raw: Any, at: str, problems: list[str]) -> dict[str, RunPolicy]:
    """Policies by graph as JSON tells them; what is wrong goes to ``problems``, behind ``at``."""
    given = _object(raw, at, problems)
    return {name: _policy(told, f"{at}.{name}", problems) for name, told in given.items()}


def policies(text: str) -> dict[str, RunPolicy]:
    """Policies by graph from JSON text; ValueError lists everything that is wrong."""
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    problems: list[str] = []
    found = read_policies(raw, "policies", problems)
    if problems:
        raise ValueError("; ".join(problems))
    return found


def _policy(raw: Any, at: str, problems: list[str]) -> RunPolicy:
    given = _object(raw, at, problems)
    _known(given, RunPolicy, at, problems)
    return RunPolicy(
        max_attempts=_count(given, "max_attempts", at, problems),
        run_deadline_seconds=_seconds(given, "run_deadline_seconds", at, problems),
        step_timeout_seconds=_seconds(given, "step_timeout_seconds", at, problems),
        concurrency=_count(given, "concurrency", at, problems),
        retry=_backoff(given["retry"], f"{at}.retry", problems) if given.get("retry") else None,
    )


def _backoff(raw: Any, at: str, problems: list[str]) -> Backoff:
    given = _object(raw, at, problems)
    _known(given, Backoff, at, problems)
    usual = Backoff()
    factor = _number(given, "factor", at, problems, least=1.0)
    longest = _seconds(given, "max_seconds", at, problems)
    return Backoff(
        initial_seconds=_seconds(given, "initial_seconds", at, problems) or usual.initial_seconds,
        factor=usual.factor if factor is None else factor,
        max_seconds=usual.max_seconds if longest is None else longest,
    )


def _object(raw: Any, at: str, problems: list[str]) -> dict[str, Any]:
    if isinstance(raw, dict):
        return raw
    problems.append(f"{at}: must be an object")
    return {}


def _known(given: Mapping[str, Any], kind: type[Any], at: str, problems: list[str]) -> None:
    names = [f.name for f in fields(kind)]
    unknown = [key for key in given if key not in names]
    problems += [f"{at}.{key}: unknown; there are {', '.join(names)}" for key in unknown]


def _count(given: Mapping[str, Any], key: str, at: str, problems: list[str]) -> int | None:
    value = given.get(key)
    if value is None or (type(value) is int and 0 < value < 2**31):
        return value
    problems.append(f"{at}.{key}: must be a whole number above 0")
    return None


def _seconds(given: Mapping[str, Any], key: str, at: str, problems: list[str]) -> float | None:
    return _number(given, key, at, problems, least=0.001, unit=" of seconds")


def _number(
    given: Mapping[str, Any],
    key: str,
    at: str,
    problems: list[str],
    *,
    least: float,
    unit: str = "",
) -> float | None:
    value = given.get(key)
    if value is None:
        return None
    number = not isinstance(value, bool) and isinstance(value, (int, float))
    if number and math.isfinite(value) and least <= value <= _LONGEST_SECONDS:
        return float(value)
    problems.append(f"{at}.{key}: must be a number{unit}, at least {least:g}")
    return None
