"""When a run's subgraphs begin and end, told from its tasks. Pure.

A namespace's last segment is ``<node>:<id of the task that entered it>``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langgraph_durable.model import RunStatus

Change = tuple[list[str], dict[str, Any]]
"""A namespace, and the data of its lifecycle event."""


class Subgraphs:
    """The subgraphs of one run that have begun; feed it the run's log, in order."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, ...], None] = {}
        self._known: set[tuple[str, ...]] = set()
        self._causes: dict[str, str] = {}

    def entered(self, namespace: list[str]) -> Iterator[Change]:
        """The subgraphs that something in ``namespace`` shows to have begun, outermost first."""
        for depth in range(1, len(namespace) + 1):
            path = tuple(namespace[:depth])
            if path not in self._known:
                self._known.add(path)
                self._open[path] = None
                yield list(path), self._beginning(path)

    def task(self, namespace: list[str], task: Mapping[str, Any]) -> Iterator[Change]:
        """A task's start may name the tool call behind it; its result ends its subgraph."""
        if "triggers" in task:
            if call := _tool_call(task.get("input")):
                self._causes[task["id"]] = call
            return
        for path in [p for p in self._open if [*p[:-1]] == namespace and _task_of(p) == task["id"]]:
            yield from self._end(path, _task_status(task), task.get("error"))

    def ended(self, status: str) -> Iterator[Change]:
        """The run is over, and with it what was open, innermost first."""
        for path in reversed(list(self._open)):
            yield from self._end(path, status, None)

    def _beginning(self, path: tuple[str, ...]) -> dict[str, Any]:
        node, task_id = path[-1].partition(":")[0], _task_of(path)
        data = {"event": "started", "graph_name": node, "trigger_call_id": task_id}
        if call := self._causes.get(task_id):
            return {**data, "cause": {"type": "toolCall", "tool_call_id": call}}
        return data

    def _end(self, path: tuple[str, ...], status: str, error: Any) -> Iterator[Change]:
        del self._open[path]
        data = {"event": status, "graph_name": path[-1].partition(":")[0]}
        yield list(path), {**data, "error": str(error)} if error else data


def root_status(run_status: str, *, asks: bool) -> str:
    """How a run ended, in the protocol's words; waiting and cancelled are both interrupted."""
    if run_status == RunStatus.SUCCESS:
        return "interrupted" if asks else "completed"
    return "interrupted" if run_status == RunStatus.INTERRUPTED else "failed"


def lifecycle_id(run_id: str, namespace: list[str], status: str, attempt: int) -> str:
    """The ``event_id`` of a lifecycle event: the JavaScript client reads the run's id in it."""
    again = "" if attempt == 1 else f"|{attempt}"
    return f"synth:{run_id}:lc|{'|'.join(namespace)}|{status}{again}"


def _task_of(path: tuple[str, ...]) -> str:
    return path[-1].partition(":")[2]


def _task_status(task: Mapping[str, Any]) -> str:
    if task.get("interrupts"):
        return "interrupted"
    return "failed" if task.get("error") else "completed"


def _tool_call(given: Any) -> str | None:
    """The id of the tool call that a task was made for: its input holds the call, or a list."""
    calls = given if isinstance(given, list) else [given]
    for call in calls:
        inner = call.get("tool_call", call) if isinstance(call, dict) else None
        if isinstance(inner, dict) and "args" in inner and isinstance(inner.get("id"), str):
            return str(inner["id"])
    return None
