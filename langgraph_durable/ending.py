"""How an attempt ends, and the change that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langgraph.types import StateSnapshot

from langgraph_durable.answers import UNKNOWN
from langgraph_durable.eventlog.change import Change, RunLog, Statement
from langgraph_durable.model import RunStatus, ThreadStatus
from langgraph_durable.serde import encode
from langgraph_durable.snapshot import Graph, output_values, question, questions_by_task
from langgraph_durable.sql import statements
from langgraph_durable.store import waits
from langgraph_durable.store.runs import end_data
from langgraph_durable.unasked import questions

_SQL = statements("writer")

OVERDUE = {
    "error": "RunDeadlineExceeded",
    "message": "The run did not end within the time that its graph's runs have.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A run's last word. ``status`` None hands the run back instead of ending it, or lets it sleep
    until a wait of ``sleeps`` is over; ``undoes`` are the statements of a rollback, which settle
    the thread themselves; ``retracts`` take back the answers of a run that did not succeed.
    ``pause`` delays a handed-back run by seconds.

    ``values``, ``interrupts`` and ``output`` are JSON text; None leaves the thread's as they are.
    """

    status: RunStatus | None
    thread_status: ThreadStatus = ThreadStatus.IDLE
    values: str | None = None
    output: str | None = None
    interrupts: str | None = None
    questions: Sequence[Mapping[str, Any]] = ()
    error: Mapping[str, str] | None = None
    pause: float = 0.0
    sleeps: Sequence[str] = ()
    retracts: Sequence[Statement] = field(default=())
    undoes: Sequence[Statement] = field(default=())

    @classmethod
    def handed_back(cls, *, pause: float = 0.0) -> Ending:
        """The run goes on elsewhere, without a strike."""
        return cls(status=None, pause=pause)

    @classmethod
    def rolled_back(cls, undoes: Sequence[Statement]) -> Ending:
        """Stopped and undone: the thread is as it was before."""
        return cls(status=RunStatus.INTERRUPTED, undoes=undoes)

    @classmethod
    def complete(cls, values: Any) -> Ending:
        """The graph ran to its end."""
        text = encode(values)
        return cls(status=RunStatus.SUCCESS, values=text, output=text, interrupts="{}")

    @classmethod
    def without_state(cls, status: RunStatus, error: Mapping[str, str] | None) -> Ending:
        """Nothing could be read or run."""
        settled = ThreadStatus.ERROR if error else ThreadStatus.IDLE
        return cls(status=status, thread_status=settled, error=error)

    def asleep(self, waits: Sequence[str]) -> Ending:
        """This ending put off: the run goes on when one of its open waits is over."""
        return replace(self, status=None, sleeps=waits)

    def change(self, log: RunLog, change: Change) -> Change:
        """The attempt's last change, after the events that ``change`` already carries."""
        change.closing = change.urgent = True
        if self.status is None:
            change.statements.extend(self._not_yet(log, change))
            return change
        change.events.append(log.event("end", end_data(self.status, self.error, self.questions)))
        change.finish = self._last_word(log)
        change.settle = None if self.undoes else self._legacy(log)
        change.statements.extend([*self.retracts, *self.undoes])
        return change

    def _not_yet(self, log: RunLog, change: Change) -> list[Statement]:
        if not self.sleeps:
            return [(_SQL["hand_back"], (self.pause, log.run_id))]
        if self.questions:
            change.events.append(log.event("asked", encode({"interrupts": list(self.questions)})))
        return waits.fall_asleep(
            log.run_id,
            log.thread_id,
            open_waits=self.sleeps,
            asks=[question["id"] for question in self.questions],
            output=self.output,
            values=self.values,
            interrupts=self.interrupts,
        )

    def _last_word(self, log: RunLog) -> dict[str, Any]:
        return {
            "run_id": log.run_id,
            "status": self.status,
            "output": self.output,
            "error": encode(self.error) if self.error else None,
        }

    def _legacy(self, log: RunLog) -> dict[str, Any]:
        failed = self.thread_status is ThreadStatus.ERROR and self.error
        return {
            "thread_id": log.thread_id,
            "status": self.thread_status,
            "values": self.values,
            "interrupts": self.interrupts,
            "error": encode(self.error) if failed else None,
            "counted": log.counted,
        }


def ended_by(
    graph: Graph, state: StateSnapshot, status: RunStatus, error: Mapping[str, str] | None
) -> Ending:
    """The ending that a thread's newest checkpoint shows."""
    by_task = questions_by_task(state)
    waits = bool(state.next or by_task)
    settled = ThreadStatus.INTERRUPTED if waits else ThreadStatus.IDLE
    values = output_values(graph, state.values)
    output = values
    asks = questions(state.interrupts)
    if asks:
        asked = {"__interrupt__": list(asks)}
        output = {**values, **asked} if isinstance(values, dict) else asked
    return Ending(
        status=status,
        thread_status=ThreadStatus.ERROR if error else settled,
        values=encode(values),
        output=encode(output),
        interrupts=encode(by_task),
        questions=[question(i) for i in asks] if status is RunStatus.SUCCESS else (),
        error=error,
    )


def refused_by(graph: Graph, state: StateSnapshot, error: Mapping[str, str]) -> Ending:
    """The ending of a run whose answer was refused before anything was written.

    A strict one leaves its thread as it was: still waiting.
    """
    if error["error"] != UNKNOWN:
        return ended_by(graph, state, RunStatus.ERROR, error)
    as_it_was = ended_by(graph, state, RunStatus.SUCCESS, None)
    return replace(as_it_was, status=RunStatus.ERROR, error=error, questions=())


def failure(error: BaseException) -> dict[str, str]:
    """What a client is told of an exception: type and message, never a stack or SQL."""
    name = type(error).__name__
    if type(error).__module__.partition(".")[0] in ("psycopg", "psycopg_pool"):
        return {"error": name, "message": "the database refused an operation"}
    return {"error": name, "message": str(error)}
