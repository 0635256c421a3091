"""Which fault happens when, drawn from the seed alone: the same seed gives the same schedule."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

_WEIGHTS = {
    "kill": 5,
    "freeze": 3,
    "pause": 2,
    "deploy": 3,
    "kill_postgres": 2,
    "restart_postgres": 2,
    "kill_backend": 1,
    "terminate_one": 3,
    "terminate_all": 2,
    "cut_clients": 4,
    "slow_clients": 2,
    "cut_database": 3,
    "slow_database": 2,
    "leave_database": 2,
    "stall_database": 2,
    "lose_lock": 2,
}
FAULTS = tuple(_WEIGHTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """``kind`` happens to ``server`` (or to the database) ``at`` seconds, for ``seconds``."""

    number: int
    at: float
    kind: str
    server: int
    seconds: float


def schedule(
    seed: int,
    *,
    seconds: float,
    every_seconds: float,
    servers: int,
    lease_seconds: float,
    kinds: Sequence[str] = FAULTS,
) -> list[Fault]:
    """Faults over ``seconds``, the first after three of them."""
    chance = random.Random(f"faults {seed}")
    weights = [_WEIGHTS[kind] for kind in kinds]
    faults: list[Fault] = []
    at = 3.0
    while at < seconds:
        kind = chance.choices(kinds, weights)[0]
        fault = Fault(
            number=len(faults),
            at=at,
            kind=kind,
            server=chance.randrange(servers),
            seconds=_length(kind, chance, lease_seconds),
        )
        faults.append(fault)
        at += min(chance.expovariate(1 / every_seconds), 3 * every_seconds)
    return faults


def _length(kind: str, chance: random.Random, lease: float) -> float:
    """How long it lasts, or how long what was killed stays away."""
    shortest, longest = {
        "freeze": (lease, lease * 1.5),
        "pause": (0.2, 1.5),
        "stall_database": (lease * 0.5, lease * 1.5),
        "lose_lock": (2.0, lease * 1.2),
        "leave_database": (0.5, lease * 1.3),
        "slow_database": (1.0, 4.0),
        "slow_clients": (1.0, 4.0),
    }.get(kind, (0.0, 1.2))
    return chance.uniform(shortest, longest)
