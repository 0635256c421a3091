"""One trace for each run, one span for each of its attempts.

A trace is named after its run: a run's id has as many bits as a trace's, so every process knows
the trace of a run without asking, and an attempt that takes over adds to what a dead one left.
Off, which is what :class:`Tracing` itself is, nothing is traced and nothing imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from langgraph_durable.model import TRACE_KEY, Event, RunStatus
from langgraph_durable.store.claims import Claim


class AttemptTrace:
    """What one attempt tells its trace; nothing here. Entered where the graph is to run."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        stack: TracebackType | None,
    ) -> None:
        return

    def recovered(self, past: Sequence[Event]) -> None:
        """The attempt takes a crashed one's place; ``past`` is the log it found."""

    def ended(
        self,
        status: RunStatus | None,
        *,
        output: str | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        """How the attempt ended, and with it the run unless ``status`` is None (handed back)."""


class Tracing:
    """Traces nothing."""

    async def start(self) -> None:
        """Get ready, before the first attempt."""

    async def stop(self) -> None:
        """Write what is left, within seconds."""

    def attempt(self, claim: Claim) -> AttemptTrace:
        """The trace of one attempt; never raises, never waits."""
        return AttemptTrace()


def trace_id(run_id: str) -> str:
    """The id of a run's trace, in MLflow's spelling."""
    return f"tr-{UUID(run_id).hex}"


def trace_metadata(kind: str | None, run_id: str) -> dict[str, str]:
    """What a run that is traced as ``Settings.tracing`` says keeps in its metadata."""
    return {TRACE_KEY: trace_id(run_id)} if kind == "mlflow" else {}
