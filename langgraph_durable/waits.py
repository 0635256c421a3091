"""Waits that cost nothing, and a clock and ids that do not change when a node runs again.

    async def remind(state):
        sleep(timedelta(days=3))                      # the first statement of its node
        paid = wait_for_signal("paid", timeout=3600)  # POST /threads/{id}/signals/paid
        return {"paid": paid, "at": now(), "receipt": new_uuid()}

A run whose every open question is a wait does not end: it becomes a row, and nothing else, until
its time comes or its signal is there. Then its node runs again *from its top*, and so does what
stands before every other wait of the same step: a wait is best the first statement of its node.
What comes before it in the node must bear being repeated, or be wrapped in ``once``.

All of this is for nodes, tools, entrypoints and tasks, sync and async. Outside the durable engine
a wait is a plain ``interrupt``, which whoever drives the graph resumes.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

from langgraph.checkpoint.base import id as checkpoint_ids
from langgraph.config import get_config
from langgraph.runtime import get_runtime
from langgraph.types import interrupt

__all__ = ["new_uuid", "now", "sleep", "sleep_until", "wait_for_signal"]

MARK = "langgraph_durable.wait"
"""The key that makes an interrupt's value a wait, and an answer the engine's own."""

SLEEP, SIGNAL, DUE = "sleep", "signal", "due"
LONGEST_SECONDS = 3e9
LONGEST_NAME = 255

_IDS = uuid.UUID("6d2f5b0e-7c3a-5f0b-9a55-2f3f5e0c8d11")
_GREGORIAN = datetime(1582, 10, 15, tzinfo=UTC)
_SEND = "__pregel_send"


def sleep(span: float | timedelta) -> None:
    """Go on after ``span``: seconds or a timedelta, up to some ninety years.

    It counts from the moment the node first gets here, by the database's clock, over crashes,
    deploys and wake-ups of other waits. Raises ValueError.
    """
    _wait({MARK: SLEEP, "seconds": _seconds(span)})


def sleep_until(moment: datetime) -> None:
    """Go on at ``moment``, which must have a time zone; at once when it is past.

    Raises ValueError.
    """
    if moment.tzinfo is None:
        raise ValueError("sleep_until needs a datetime with a time zone")
    _wait({MARK: SLEEP, "until": moment.isoformat()})


def wait_for_signal(name: str, timeout: float | timedelta | None = None) -> Any:
    """The value of the oldest signal of this name that the thread has and no wait has taken.

    It may have come before. ``timeout`` is in seconds or a timedelta, and counts like a sleep.
    Raises TimeoutError when it is over without a signal, ValueError.
    """
    if not 0 < len(name) <= LONGEST_NAME:
        raise ValueError(f"a signal's name has 1 to {LONGEST_NAME} characters")
    seconds = None if timeout is None else _seconds(timeout)
    woken = _wait({MARK: SIGNAL, "name": name, "seconds": seconds})
    if not is_wait(woken):
        return woken
    if woken[MARK] == DUE:
        raise TimeoutError(f"no signal {name!r} came in time")
    return woken["value"]


def now() -> datetime:
    """The time at which this task's step began, or at which its latest wait was over; UTC.

    The same in every attempt of the task.
    """
    info = get_runtime().execution_info
    if info is None:
        raise RuntimeError("now() is for nodes and tasks of a graph")
    began = checkpoint_ids.UUID(info.checkpoint_id).time
    moment = _GREGORIAN + timedelta(microseconds=began // 10)
    return max(moment, _course().woken_at or moment)


def new_uuid() -> uuid.UUID:
    """A new id at each call: the first one of a task, its second one and so on are the same in
    every attempt of the task. So calls that run beside each other in one task must not swap.
    """
    info = get_runtime().execution_info
    if info is None:
        raise RuntimeError("new_uuid() is for nodes and tasks of a graph")
    conf = get_config()["configurable"]
    thread = conf.get("conversation_id") or info.thread_id or ""
    return uuid.uuid5(_IDS, f"{thread}|{info.checkpoint_ns}|{next(_course().ids)}")


def is_wait(value: Any) -> bool:
    """Is this interrupt's value a wait, or this answer a wake-up?"""
    return isinstance(value, Mapping) and MARK in value


class _Course:
    """What one execution of a task has got so far."""

    def __init__(self) -> None:
        self.ids = count()
        self.woken_at: datetime | None = None


@dataclass(slots=True)
class _Courses:
    """The execution of a task that goes on now; a retry of its node is another one."""

    attempt: int
    course: _Course


_running: WeakKeyDictionary[Any, _Courses] = WeakKeyDictionary()
"""By what a task sends its writes with: LangGraph makes one per execution of a task."""


def _course() -> _Course:
    send = get_config()["configurable"][_SEND]
    info = get_runtime().execution_info
    attempt = 1 if info is None else info.node_attempt
    held = _running.get(send)
    if held is None or held.attempt != attempt:
        held = _running.setdefault(send, _Courses(attempt, _Course()))
        if held.attempt != attempt:
            held.attempt, held.course = attempt, _Course()
    return held.course


def _wait(value: dict[str, Any]) -> Any:
    answer = interrupt(value)
    if is_wait(answer):
        _course().woken_at = datetime.fromisoformat(answer["at"])
    return answer


def _seconds(span: float | timedelta) -> float:
    seconds = span.total_seconds() if isinstance(span, timedelta) else float(span)
    if not seconds <= LONGEST_SECONDS:
        raise ValueError(f"a wait lasts at most {LONGEST_SECONDS:.0f} seconds, not {span}")
    return max(seconds, 0.0)
