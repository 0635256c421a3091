"""What figures stand beside: their limits, and bounds they are meant to keep; none is enforced."""

from __future__ import annotations

from dataclasses import dataclass

from bench.figures import Figures


@dataclass(frozen=True, kw_only=True)
class Target:
    """Bounds of a figure, and of it as a multiple of its limit."""

    at_most: float | None = None
    at_least: float | None = None
    times_at_most: float | None = None
    times_at_least: float | None = None

    def kept(self, value: float, times: float | None) -> bool:
        """Whether this value is within all of them; a ratio that is not known is."""
        ratio = times if times is not None else float("nan")
        missed = (
            self.at_most is not None and value > self.at_most,
            self.at_least is not None and value < self.at_least,
            self.times_at_most is not None and ratio > self.times_at_most,
            self.times_at_least is not None and ratio < self.times_at_least,
        )
        return not any(missed)

    def __str__(self) -> str:
        bounds = (
            ("<= {:g}", self.at_most),
            (">= {:g}", self.at_least),
            ("<= {:g} x", self.times_at_most),
            (">= {:g} x", self.times_at_least),
        )
        return ", ".join(text.format(bound) for text, bound in bounds if bound is not None)


TARGETS = {
    "wait.sdk.1.p50_ms": Target(at_most=9, times_at_most=1.4),
    "wait.sdk.1.p99_to_p50_x": Target(at_most=3),
    "wait.sdk.8.per_s": Target(at_least=150),
    "wait.sdk.32.per_s": Target(at_least=150),
    "wait.sdk.64.per_s": Target(at_least=110),
    **{f"wait.sdk.{level}.server_cpu_ms": Target(at_most=5) for level in (1, 8, 32, 64)},
    **{f"wait.sdk.{level}.postgres_cpu_ms": Target(at_most=2) for level in (1, 8, 32, 64)},
    "wait.raw.32.per_s": Target(at_least=400),
    "create.sdk.32.per_s": Target(at_least=450),
    "state.sdk.32.per_s": Target(at_least=350),
    "history.sdk.p50_ms": Target(at_most=6),
    "ten_steps.sdk.p50_ms": Target(at_most=25, times_at_most=1.3),
    "stream_200.sdk.first_ms": Target(at_most=10),
    "stream_5000.sdk.per_s": Target(at_least=40_000),
    "streams_at_once_50.raw.per_s": Target(at_least=16_000),
    "streams_at_once_50.raw.first.p50_ms": Target(at_most=150),
    "messages.sdk.per_s": Target(times_at_least=0.5),
    "pace.raw.p50_ms": Target(at_most=5),
    "pace.raw.p99_ms": Target(at_most=50),
    "replay_langgraph.raw.total_ms": Target(at_most=100),
    "replay_responses.raw.total_ms": Target(at_most=300),
    "followers.memory_mb": Target(at_most=100),
    "start.ready_s": Target(at_most=2),
    "start.resident_mb": Target(at_most=130),
    "start.version_ms": Target(at_most=120),
    "recovered.killed.p50_s": Target(at_most=1.3),
    "recovered.killed.p95_s": Target(at_most=1.6),
    "growth.claim.many.p50_ms": Target(at_most=3),
    "growth.turn.sdk.last_to_10th_x": Target(at_most=1.5),
    "growth.event.late_to_early_x": Target(at_most=1.2),
}

_LIMITS = {
    "create.sdk.32.per_s": "log.commits_per_s",
    "create.raw.32.per_s": "log.commits_per_s",
    "stream_5000.raw.per_s": "log.inserted_per_s",
    "foreground.raw.p50_ms": "wait.bare.1.p50_ms",
    "background_stream.raw.total.p50_ms": "wait.bare.1.p50_ms",
    "background_poll.raw.p50_ms": "wait.bare.1.p50_ms",
    "pace.raw.p50_ms": "log.commit_ms",
    "replay_langgraph.raw.total_ms": "log.read_10000_ms",
    "replay_responses.raw.total_ms": "log.read_10000_ms",
    "followers.wait.p50_ms": "followers.wait_before.p50_ms",
    "dead_readers.wait.p50_ms": "followers.wait_before.p50_ms",
    "start.ready_s": "start.imports_s",
    "start.resident_mb": "start.imports_mb",
    "start.version_ms": "start.python_ms",
    "growth.wait.many_finished.p50_ms": "growth.wait.few_finished.p50_ms",
    "growth.claim.many.p50_ms": "growth.claim.few.p50_ms",
    "growth.submit.many.p50_ms": "growth.submit.few.p50_ms",
    "growth.drained.many.per_s": "growth.drained.few.per_s",
}


def limits(figures: Figures) -> dict[str, str]:
    """Of each figure, the name of what it is compared with, if that was measured as well.

    That is bare LangGraph, bare PostgreSQL, or the same without what is said to do no harm.
    """
    found = {name: _limit(name) for name in figures}
    return {name: limit for name, limit in found.items() if limit != name and limit in figures}


def _limit(name: str) -> str:
    if name.endswith(".to_one_x"):
        return name.replace(".to_one_x", ".processors_x")
    bare = name.replace(".sdk.", ".bare.").replace(".raw.", ".bare.")
    return _LIMITS.get(name, bare)
