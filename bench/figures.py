"""Figures: a name that ends in its unit, and a number."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

Figures = dict[str, float]
"""``wait.sdk.p50_ms`` and the like; names end in ``_ms``, ``_s``, ``_per_s``, ``_mb`` or ``_x``."""


def quantile(values: Iterable[float], share: float) -> float:
    """The value below which ``share`` of them lie; of at least one."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def in_ms(name: str, seconds: Sequence[float], *shares: int) -> Figures:
    """Percentiles, by default the middle and the 99th: ``<name>.p50_ms``; nothing of nothing."""
    if not seconds:
        return {}
    return {
        f"{name}.p{share}_ms": 1000 * quantile(seconds, share / 100) for share in shares or (50, 99)
    }


def medians(rounds: Sequence[Figures]) -> Figures:
    """The middle of each figure over those rounds that have it."""
    names = dict.fromkeys(name for figures in rounds for name in figures)
    return {n: statistics.median(f[n] for f in rounds if n in f) for n in names}


def spreads(rounds: Sequence[Figures]) -> dict[str, tuple[float, float]]:
    """The least and the most of each figure."""
    found = {name: [f[name] for f in rounds if name in f] for name in medians(rounds)}
    return {name: (min(values), max(values)) for name, values in found.items()}


def ratios(rounds: Sequence[Figures], limits: Mapping[str, str]) -> Figures:
    """Each figure as a multiple of its limit: the middle of what the rounds say, each by itself."""
    each = [
        {n: f[n] / f[limit] for n, limit in limits.items() if n in f and f.get(limit)}
        for f in rounds
    ]
    return medians(each)
