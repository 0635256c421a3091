"""What one run of the harness is asked for, and its command line."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.plans import GRAPHS
from tests.chaos.schedule import FAULTS

MUTATIONS = ("fence", "early_ack", "blind_restart")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """One run. Times are in seconds. ``faults`` are the kinds that may happen, ``every_seconds``
    is how often one does on average. ``mutation`` names what is broken on purpose."""

    seconds: float
    seed: int
    folder: Path
    workers: int = 3
    clients: int = 16
    every_seconds: float = 2.5
    lease_seconds: float = 6.0
    settle_seconds: float = 90.0
    faults: Sequence[str] = field(default=FAULTS)
    graphs: Sequence[str] = field(default=tuple(GRAPHS))
    mutation: str | None = None

    @property
    def replay(self) -> str:
        """The command that does the same again."""
        parts = [
            f"python -m tests.chaos --minutes {self.seconds / 60:g} --seed {self.seed}",
            f"--workers {self.workers} --clients {self.clients} --every {self.every_seconds:g}",
        ]
        if self.mutation:
            parts.append(f"--mutation {self.mutation}")
        elif tuple(self.faults) != FAULTS:
            parts.append(f"--faults {','.join(self.faults)}")
        return " ".join(parts)


def parse(arguments: Sequence[str]) -> Options:
    """The options that a command line asks for."""
    given = _parser().parse_args(arguments)
    seconds = given.hours * 3600 if given.hours else given.minutes * 60
    seed = random.SystemRandom().randrange(1_000_000) if given.seed is None else given.seed
    mix = _MIXES.get(given.mutation, {})
    return Options(
        seconds=seconds,
        seed=seed,
        folder=given.artifacts or Path(tempfile.mkdtemp(prefix=f"chaos-{seed}-")),
        workers=given.workers,
        clients=given.clients,
        mutation=given.mutation,
        **{
            "every_seconds": given.every,
            "lease_seconds": given.lease,
            "faults": tuple(given.faults.split(",")) if given.faults else FAULTS,
            **mix,
        },
    )


_MIXES: dict[str | None, dict[str, Any]] = {
    "fence": {
        "faults": ("lose_lock",),
        "graphs": ("chatter", "chain", "parallel"),
        "every_seconds": 1.0,
        "settle_seconds": 20.0,
    },
    "early_ack": {
        "faults": ("kill", "terminate_all", "kill_postgres"),
        "every_seconds": 1.5,
        "settle_seconds": 20.0,
    },
    "blind_restart": {
        "faults": ("kill_postgres", "restart_postgres"),
        "settle_seconds": 20.0,
    },
}
"""What makes a mutation visible soon."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long faults happen")
    parser.add_argument("--hours", type=float, default=0.0, help="the same, in hours")
    parser.add_argument("--seed", type=int, help="what happens is drawn from it (default: any)")
    parser.add_argument("--workers", type=int, default=3, help="server processes")
    parser.add_argument("--clients", type=int, default=16, help="conversations at a time")
    parser.add_argument("--every", type=float, default=2.5, help="mean seconds between faults")
    parser.add_argument("--lease", type=float, default=6.0, help="lease_seconds of the servers")
    parser.add_argument("--faults", help=f"which ones, with commas: {', '.join(FAULTS)}")
    parser.add_argument("--artifacts", type=Path, help="a folder for logs and evidence")
    parser.add_argument("--mutation", choices=MUTATIONS, help="break the product on purpose")
    return parser
