"""How much of everything: ten minutes of it, or two."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Counts and seconds of every measure; the defaults are those of ``make bench``."""

    rounds: int = 3
    seconds: float = 2.0
    """How long a rate is counted."""
    repeats: int = 20
    levels: tuple[int, ...] = (1, 8, 32, 64)
    """How many ask at once."""
    stream_events: tuple[int, ...] = (200, 5000)
    streams_at_once: tuple[int, ...] = (50, 200)
    pace_runs: int = 100
    pace_seconds: float = 30.0
    replayed_events: int = 10_000
    followers: int = 2000
    dead_readers: int = 50
    dead_events: int = 5000
    kills: int = 10
    stops: int = 5
    pending: int = 100_000
    finished: int = 1_000_000
    few_pending: int = 1000
    sudden: int = 10_000
    """Runs that come to wait before PostgreSQL's statistics know of any."""
    turns: int = 200
    long_events: int = 1_000_000
    processes: tuple[int, ...] = (2, 4)


FULL = Scale()
QUICK = Scale(
    rounds=1,
    seconds=1.0,
    repeats=10,
    pace_runs=30,
    pace_seconds=5.0,
    followers=200,
    dead_readers=10,
    kills=2,
    stops=1,
    pending=10_000,
    finished=50_000,
    few_pending=300,
    sudden=2000,
    long_events=100_000,
    processes=(2,),
)
