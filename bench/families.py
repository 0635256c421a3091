"""All measures, by name, in the order in which they are taken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bench import (
    followers,
    growth,
    log,
    pace,
    recovered,
    responses,
    runs,
    startup,
    streams,
    threads,
    workers,
)
from bench.figures import Figures
from bench.stage import Stage


@dataclass(frozen=True)
class Family:
    """Figures that are measured together; ``once`` if that takes too long for several rounds."""

    name: str
    measure: Callable[[Stage], Awaitable[Figures]]
    once: bool = False


FAMILIES = (
    Family("log", log.measure),
    Family("runs", runs.measure),
    Family("threads", threads.measure),
    Family("streams", streams.measure),
    Family("responses", responses.measure),
    Family("followers", followers.measure),
    Family("start", startup.measure),
    Family("pace", pace.measure, once=True),
    Family("recovery", recovered.measure, once=True),
    Family("workers", workers.measure, once=True),
    Family("growth", growth.measure, once=True),
)
