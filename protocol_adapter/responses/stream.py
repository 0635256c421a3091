"""The fold of a run's log into the events of a response.

Pure and deterministic: the same log gives the same frames, whoever reads it and whenever, so
``sequence_number`` is nothing but a frame's index and a reader's cursor means the same in every
process. :data:`PROJECTION_VERSION` is stored with each response, because a change to what is told
here would move the cursors of streams that are still being read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langgraph_durable.model import Event, Run, RunStatus
from langgraph_durable.serde import decode, encode

from . import ids, interrupts, messages, objects
from .items import COMPLETED, IN_PROGRESS, INCOMPLETE, TEXT
from .messages import Origin
from .objects import Head
from .output import Output
from .talk import Talk

PROJECTION_VERSION = 1

_LIMITS = {"GraphRecursionError": "recursion_limit"}
"""Errors that only say a run was not allowed to go on, and the reason a client is told."""

Frame = dict[str, Any]


class Fold:
    """Feed it a run's events in order; ``terminal`` is the last Response once ``end`` came."""

    def __init__(self, head: Head) -> None:
        self.terminal: dict[str, Any] | None = None
        self._head = head
        self._frames: list[Frame] = []
        self._told = 0
        self._output = Output(self._emit)
        self._talk = Talk(head, self._output)
        self._begun = False
        self._attempt = 1
        self._questions: set[str] = set()
        self._conversation_id: str | None = None
        self._steps: Mapping[str, Callable[[Event], None]] = {
            "created": self._created,
            "started": self._started,
            "messages": self._message,
            "custom": self._written,
            "updates": self._update,
            "recovered": self._recovered,
            "asked": self._asked,
        }

    @property
    def item_ids(self) -> list[str]:
        """The ids of all items told so far, also of those that a recovery took back."""
        return [item["id"] for item in self._output.announced()]

    def feed(self, event: Event, ended: Run | None = None) -> list[Frame]:
        """The frames that ``event`` adds; ``end`` comes with the ``ended`` run."""
        if event.mode == "end" and ended is not None:
            self._end(decode(event.data), ended)
        elif step := self._steps.get(event.mode):
            step(event)
        frames, self._frames = self._frames, []
        return frames

    def _emit(self, kind: str, **fields: Any) -> None:
        frame: Frame = {"type": kind, "sequence_number": self._told, **fields}
        if self._head.dialect == "mlflow":
            frame["response_id"] = self._head.response_id
        self._frames.append(frame)
        self._told += 1

    def _snapshot(self, status: str, output: list[dict[str, Any]], **outcome: Any) -> Frame:
        return objects.snapshot(
            self._head,
            status,
            output,
            attempt=self._attempt,
            conversation_id=self._conversation_id,
            **outcome,
        )

    def _created(self, _: Event) -> None:
        status = "queued" if self._head.background else IN_PROGRESS
        self._emit("response.created", response=self._snapshot(status, []))
        if self._head.background:
            self._emit("response.queued", response=self._snapshot(status, []))
        else:
            self._begin()

    def _started(self, _: Event) -> None:
        if not self._begun:
            self._begin()

    def _begin(self) -> None:
        self._begun = True
        snapshot = self._snapshot(IN_PROGRESS, self._output.announced())
        self._emit("response.in_progress", response=snapshot)

    def _message(self, event: Event) -> None:
        message, metadata = decode(event.data)
        if self._head.granularity == "item":
            self._talk.overhear(message)
        else:
            self._talk.hear(message, Origin.of(metadata.get("langgraph_checkpoint_ns") or ""))

    def _written(self, event: Event) -> None:
        """A message that a node writes by itself is told as if a model had said it."""
        message = messages.message_in(decode(event.data))
        if message is not None and self._head.granularity == "token":
            self._talk.hear(message, Origin.of(event.namespace))

    def _update(self, event: Event) -> None:
        updates = decode(event.data)
        if not isinstance(updates, dict) or "__interrupt__" in updates:
            return
        namespace = event.name.partition("|")[2]
        origin = Origin(Origin.of(namespace).nodes, event.task_id)
        self._talk.confirm(messages.updated_messages(updates), origin)

    def _recovered(self, event: Event) -> None:
        data = decode(event.data)
        self._attempt = data["attempt"]
        self._conversation_id = data.get("conversation_id")
        held = _message_ids(data.get("values"))
        if data.get("strategy") == "event_log" and data.get("reason") != "deploy":
            # One that has slept starts over from where it woke up.
            self._questions.clear()
            self._talk.start_over(self._attempt, held=held if data.get("woken") else ())
        else:
            keep = data.get("open_tool_call_ids") or ()
            self._talk.recover(self._attempt, keep=keep, held=held)
        self._begin()
        self._emit(
            "response.resumed",
            attempt=self._attempt,
            from_seq=self._told,
            conversation_id=self._conversation_id,
        )

    def _asked(self, event: Event) -> None:
        """The run sleeps beside its questions: whoever is to answer them must see them now."""
        self._ask(decode(event.data)["interrupts"])

    def _ask(self, questions: Iterable[Mapping[str, Any]]) -> None:
        run_id = ids.run_id(self._head.response_id)
        for question in questions:
            if question["id"] not in self._questions:
                self._questions.add(question["id"])
                for item in interrupts.told(question, run_id=run_id, kind=self._head.interrupts):
                    self._output.tell(item)

    def _end(self, data: Mapping[str, Any], run: Run) -> None:
        succeeded = data["status"] == RunStatus.SUCCESS
        self._talk.finish(COMPLETED if succeeded else INCOMPLETE)
        if succeeded:
            self._conclude(data.get("interrupts") or (), run)
        kind, status, outcome = self._outcome(data)
        custom = objects.custom_outputs(self._head, run)
        self.terminal = self._snapshot(
            status,
            self._output.final(),
            usage=objects.usage(self._talk.usage),
            completed_at=run.finished_at and int(run.finished_at.timestamp()),
            **custom,
            **outcome,
        )
        self._emit(f"response.{kind}", response=self.terminal, **custom)

    def _conclude(self, questions: Any, run: Run) -> None:
        self._ask(questions)
        values = decode(run.output) if run.output else None
        if isinstance(values, dict) and self._head.dialect == "mlflow":
            values.pop(objects.CUSTOM_OUTPUTS, None)
        if values and not self._output.final() and (text := self._answer(values)):
            spoken = self._output.speak(f"msg_{self._head.response_id}", TEXT)
            self._output.say(spoken, text)
            self._output.fall_silent(spoken)

    def _answer(self, values: Any) -> str | None:
        """What a graph without messages answers: its values, or the one it is known to answer."""
        key = self._head.output_key
        if isinstance(values, dict) and key is not None:
            answer = values.get(key)
            return answer if isinstance(answer, str) else encode(answer)
        talks = isinstance(values, dict) and "messages" in values
        if talks:
            return None
        return values if isinstance(values, str) else encode(values)

    def _outcome(self, data: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
        """The terminal event, the status it shows and what else the Response says."""
        if data["status"] == RunStatus.INTERRUPTED:
            return "incomplete", "cancelled", {}
        reason = self._talk.cut_short
        if data["status"] != RunStatus.SUCCESS:
            reason = _LIMITS.get(str((data.get("error") or {}).get("error")))
            if reason is None:
                return "failed", "failed", {"error": _error(data)}
        if reason:
            return "incomplete", "incomplete", {"incomplete_details": {"reason": reason}}
        return "completed", "completed", {}


def _message_ids(values: Any) -> set[str]:
    found = values.get("messages") if isinstance(values, dict) else None
    listed = found if isinstance(found, list) else []
    return {name for each in listed if (name := messages.nameplate(each).get("id"))}


def _error(data: Mapping[str, Any]) -> dict[str, Any]:
    told = data.get("error") or {}
    message = told.get("message") or told.get("error") or f"The run ended in {data['status']}."
    return {"code": "server_error", "message": message, "type": "server_error", "param": None}
