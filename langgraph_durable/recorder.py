"""LangGraph's stream parts become log rows; repeated ones are recognised and dropped.

LangGraph sends a task's ``tasks`` part right behind its ``updates`` part, and a ``checkpoints``
part right behind its ``values`` part: that is where the ids in the log come from. On re-entry it
repeats the head's values and the finished tasks' updates; what the log already holds is left out,
what it lacks is appended, so that nothing in a checkpoint is missing from the log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph_durable.serde import encode, name_messages
from langgraph_durable.snapshot import FinishedTask
from langgraph_durable.store.events import Marks

ALWAYS = ("values", "updates", "tasks", "checkpoints", "custom")
"""Asked of LangGraph for every run; ``custom`` also forces its concurrent path."""

SLIM = "checkpoint"
"""A mode of the log alone: what a checkpoint is, without its values, right before them."""

_LOGGED_ALWAYS = frozenset({"updates", "custom"})
INTERRUPT = "__interrupt__"


@dataclass(slots=True)
class Part:
    """A log row in the making."""

    name: str
    data: str
    task_id: str | None = None
    checkpoint_id: str | None = None


@dataclass(slots=True)
class _Held:
    """Parts that wait for the id in the part behind them."""

    namespace: tuple[str, ...] = ()
    parts: list[tuple[str, Any]] = field(default_factory=list)


class Recorder:
    """One attempt's stream. ``asked`` are the modes the client wants to read.

    ``marks`` is what earlier attempts logged; None in a run's first attempt. ``cached`` lists the
    finished tasks of the step that is entered again, ``returned`` results of a function's tasks,
    by id, that the log lacks and LangGraph does not repeat.
    """

    def __init__(
        self,
        asked: Collection[str],
        *,
        marks: Marks | None = None,
        cached: Iterable[FinishedTask] = (),
        head_id: str | None = None,
    ) -> None:
        self._asked = frozenset(asked)
        self._logged = _LOGGED_ALWAYS | self._asked
        self._marks = marks
        self._cached: dict[tuple[tuple[str, ...], str], deque[str]] = {}
        for task in cached:
            self._cached.setdefault((task.namespace, task.node), deque()).append(task.task_id)
        self.returned: Mapping[str, Any] = {}
        self._told: set[str | None] = set(marks.results) if marks else set()
        self._begun = marks is not None
        self._head_id = head_id
        self._held = _Held()
        self._dropping = False
        self.values: Any = None
        self.next: Sequence[str] = ()

    def record(self, namespace: tuple[str, ...], mode: str, payload: Any) -> Iterator[Part]:
        """Rows that this part completes, encoded before anything else can change it."""
        self._begun = True
        if mode == "checkpoints":
            yield from self._checkpoint(namespace, payload)
        elif mode == "tasks":
            yield from self._task(namespace, payload)
        elif mode in ("updates", "values"):
            yield from self._hold(namespace, mode, payload)
        elif mode == "debug":
            if not self._dropping and mode in self._logged:
                yield Part(_name(mode, namespace), encode(payload))
        else:
            yield from self.flush()
            if mode in self._logged:
                yield Part(_name(mode, namespace), encode(payload))

    def flush(self) -> Iterator[Part]:
        """What is still held goes out without an id."""
        yield from self._release()

    def missing(self, finished: Iterable[FinishedTask]) -> Iterator[Part]:
        """Results on record that the graph had no time to tell, because it was stopped."""
        for task in finished if self._begun else ():
            if task.node.startswith("__"):
                continue
            if self._holds_update_of(task):
                yield from self._release(task.task_id)
            elif task.task_id not in self._told:
                self._told.add(task.task_id)
                update = encode({task.node: _as_streamed(task.result)})
                yield Part(_name("updates", task.namespace), update, task.task_id)

    def _holds_update_of(self, task: FinishedTask) -> bool:
        return self._held.namespace == task.namespace and any(
            mode == "updates" and task.node in payload for mode, payload in self._held.parts
        )

    def _hold(self, namespace: tuple[str, ...], mode: str, payload: Any) -> Iterator[Part]:
        question_values = mode == "values" and _asks(payload)
        if not (question_values and self._held.parts and self._held.namespace == namespace):
            yield from self._release()
        if mode == "updates":
            name_messages(payload)
        self._held.namespace = namespace
        self._held.parts.append((mode, payload))
        if mode == "values" and not namespace:
            self.values = payload

    def _task(self, namespace: tuple[str, ...], task: Mapping[str, Any]) -> Iterator[Part]:
        started = "triggers" in task
        yield from self._release(None if started else task["id"])
        known = self._marks.task_starts if self._marks else ()
        self._dropping = started and task["id"] in known
        if started and task["id"] in self.returned and task["id"] not in self._told:
            self._told.add(task["id"])
            update = encode({task["name"]: self.returned[task["id"]]})
            yield Part(_name("updates", namespace), update, task["id"])
        if "tasks" in self._asked and not self._dropping:
            yield Part(_name("tasks", namespace), encode(task), task_id=task["id"])

    def _checkpoint(self, namespace: tuple[str, ...], payload: Mapping[str, Any]) -> Iterator[Part]:
        place = (payload.get("config") or {}).get("configurable") or {}
        checkpoint_id = place.get("checkpoint_id")
        if SLIM in self._asked and not self._holds_checkpoint(
            _name(SLIM, namespace), checkpoint_id
        ):
            slim = encode(_slim(checkpoint_id, payload))
            yield Part(_name(SLIM, namespace), slim, checkpoint_id=checkpoint_id)
        yield from self._release(checkpoint_id=checkpoint_id)
        if not namespace:
            self.next = payload.get("next") or ()
        name = _name("checkpoints", namespace)
        self._dropping = self._holds_checkpoint(name, checkpoint_id)
        if "checkpoints" in self._asked and not self._dropping:
            yield Part(name, encode(payload), checkpoint_id=checkpoint_id)

    def _release(
        self, task_id: str | None = None, checkpoint_id: str | None = None
    ) -> Iterator[Part]:
        held, self._held = self._held, _Held()
        for mode, payload in held.parts:
            name = _name(mode, held.namespace)
            if mode not in self._logged:
                continue
            if mode == "updates":
                part = self._update(name, payload, task_id, held.namespace)
            else:
                part = self._values(name, payload, checkpoint_id, held.namespace)
            if part is not None:
                yield part

    def _update(
        self, name: str, payload: Any, task_id: str | None, namespace: tuple[str, ...]
    ) -> Part | None:
        questions = payload.get(INTERRUPT) if isinstance(payload, dict) else None
        if questions is not None:
            return None if self._asked_before(questions) else Part(name, encode(payload), task_id)
        if self._marks is not None and _is_cached(payload):
            payload = {k: v for k, v in payload.items() if k != "__metadata__"}
            task_id = self._cached_task(namespace, payload)
            if task_id in self._told:
                return None
        self._told.add(task_id)
        return Part(name, encode(payload), task_id)

    def _values(
        self, name: str, payload: Any, checkpoint_id: str | None, namespace: tuple[str, ...]
    ) -> Part | None:
        if _asks(payload) and self._asked_before(payload[INTERRUPT]):
            return None
        if self._holds_checkpoint(name, checkpoint_id):
            return None
        if not namespace and checkpoint_id and checkpoint_id == self._head_id:
            return None
        return Part(name, encode(payload), checkpoint_id=checkpoint_id)

    def _holds_checkpoint(self, name: str, checkpoint_id: str | None) -> bool:
        return self._marks is not None and (name, checkpoint_id) in self._marks.checkpoints

    def _asked_before(self, questions: Iterable[Any]) -> bool:
        ids = [getattr(q, "id", None) for q in questions]
        return bool(ids) and self._marks is not None and set(ids) <= self._marks.questions

    def _cached_task(self, namespace: tuple[str, ...], payload: Mapping[str, Any]) -> str | None:
        for node in payload:
            if waiting := self._cached.get((namespace, node)):
                return waiting.popleft()
        return None


def _name(mode: str, namespace: tuple[str, ...]) -> str:
    return "|".join((mode, *namespace))


def _as_streamed(result: Any) -> Any:
    """A result as a snapshot holds it, in the form of the ``updates`` stream."""
    if not isinstance(result, Mapping):
        return result
    parts = {channel: _writes(value) for channel, value in result.items()}
    if all(len(values) == 1 for values in parts.values()):
        return dict(result) or None
    return [{channel: value} for channel, values in parts.items() for value in values]


def _writes(value: Any) -> Sequence[Any]:
    several = isinstance(value, Mapping) and value.keys() == {"$writes"}
    return value["$writes"] if several else [value]


def _slim(checkpoint_id: str | None, payload: Mapping[str, Any]) -> dict[str, Any]:
    parent = (payload.get("parent_config") or {}).get("configurable") or {}
    metadata = payload.get("metadata") or {}
    return {
        "id": checkpoint_id,
        "parent_id": parent.get("checkpoint_id"),
        "step": metadata.get("step"),
        "source": metadata.get("source"),
    }


def _asks(payload: Any) -> bool:
    return isinstance(payload, dict) and INTERRUPT in payload


def _is_cached(payload: Any) -> bool:
    return isinstance(payload, dict) and bool((payload.get("__metadata__") or {}).get("cached"))
