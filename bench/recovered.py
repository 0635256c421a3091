"""From a crash, or a deploy, to the second attempt at a client that follows elsewhere."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.figures import Figures, quantile
from bench.recovery import two_servers
from bench.stage import Stage


async def measure(stage: Stage) -> Figures:
    scale = stage.scale
    with (
        tempfile.TemporaryDirectory(prefix="bench-recovery-") as folder,
        stage.database() as url,
        two_servers(Path(folder), url) as bench,
    ):
        killed = [await bench.killed() for _ in range(scale.kills)]
        stopped = [await bench.stopped() for _ in range(scale.stops)]
    return {
        **_told("killed", killed),
        **_told("stopped", [signalled for signalled, _ in stopped]),
        **_told("given_back", [released for _, released in stopped]),
    }


def _told(name: str, seconds: list[float]) -> Figures:
    return {f"recovered.{name}.p{p}_s": quantile(seconds, p / 100) for p in (50, 95)}
