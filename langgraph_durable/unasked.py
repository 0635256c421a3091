"""A wait is an interrupt to LangGraph and no question to anybody: here it is left out again.

Pure: parts of LangGraph's stream and its snapshots, without the waits among their interrupts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.types import Interrupt, PregelTask, StateSnapshot

from langgraph_durable.waits import is_wait

_ASKS = "__interrupt__"


def questions(interrupts: Iterable[Interrupt]) -> tuple[Interrupt, ...]:
    """Those that ask a person."""
    return tuple(each for each in interrupts if not is_wait(each.value))


def open_waits(state: StateSnapshot) -> list[str]:
    """Ids of the waits that a state stands at."""
    return [each.id for each in state.interrupts if is_wait(each.value)]


def without_waits(state: StateSnapshot) -> StateSnapshot:
    """A snapshot as its readers see it, subgraphs included."""
    tasks = tuple(_task(task) for task in state.tasks)
    return state._replace(tasks=tasks, interrupts=questions(state.interrupts))


def part_without_waits(mode: str, payload: Any) -> Any:
    """A stream part as its readers see it; None when it tells of nothing but waits."""
    if not isinstance(payload, Mapping):
        return payload
    if mode in ("updates", "values"):
        return _asking(payload)
    if mode == "tasks":
        return _result(payload)
    if mode == "checkpoints":
        return _checkpoint(payload)
    if mode == "debug":
        inner = {"task_result": "tasks", "checkpoint": "checkpoints"}.get(payload["type"], "")
        shown = part_without_waits(inner, payload["payload"])
        return None if shown is None else {**payload, "payload": shown}
    return payload


def _task(task: PregelTask) -> PregelTask:
    nested = without_waits(task.state) if isinstance(task.state, StateSnapshot) else task.state
    return task._replace(interrupts=questions(task.interrupts), state=nested)


def _asking(payload: Mapping[str, Any]) -> Any:
    asked = payload.get(_ASKS)
    if not asked or not any(is_wait(getattr(each, "value", None)) for each in asked):
        return payload
    left = questions(asked)
    return {**payload, _ASKS: left} if left else None


def _result(task: Mapping[str, Any]) -> Any:
    asked = task.get("interrupts") or ()
    left = [each for each in asked if not is_wait(each.get("value"))]
    if len(left) == len(asked):
        return task
    return {**task, "interrupts": left} if left else None


def _checkpoint(payload: Mapping[str, Any]) -> Any:
    tasks = payload.get("tasks") or ()
    if not any(task.get("interrupts") for task in tasks):
        return payload
    shown = [
        {**task, "interrupts": [i for i in task["interrupts"] if not is_wait(i.get("value"))]}
        if task.get("interrupts")
        else task
        for task in tasks
    ]
    return {**payload, "tasks": shown}
