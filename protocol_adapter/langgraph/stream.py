"""One run's log becomes the frames of one view. Pure: a fold over events, no I/O.

An event's JSON text goes on the wire as it stands in the log. Only an event's last frame carries
its ``id``, so a connection cut between two frames of one event loses neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langgraph_durable.model import BEGINNING, Cursor, Event, Run, RunStatus
from langgraph_durable.serde import decode, encode
from protocol_adapter.langgraph.fields import digits
from protocol_adapter.langgraph.messages import MessageFold
from protocol_adapter.sse import frame


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What one follower wants to see: modes by their client names, subgraphs or not.

    ``namespaces`` stand in for ``subgraphs``: exactly these, ``""`` being the graph itself.
    ``narrowed`` marks modes named by the follower itself; without them a replay opens with the
    ``metadata`` frame of the first attempt.
    """

    modes: frozenset[str]
    subgraphs: bool = False
    namespaces: frozenset[str] | None = None
    narrowed: bool = False

    @property
    def folds_messages(self) -> bool:
        """Growing messages were asked for; raw tuples win when both were."""
        return "messages" in self.modes and "messages-tuple" not in self.modes

    def shows(self, namespace: str) -> bool:
        """Are parts of this graph wanted?"""
        if self.namespaces is not None:
            return namespace in self.namespaces
        return self.subgraphs or not namespace

    @property
    def query(self) -> dict[str, Any]:
        """The view as a query of ``Location``, so that it survives a reconnect."""
        query: dict[str, Any] = {"stream_mode": sorted(self.modes)}
        if self.subgraphs:
            query["stream_subgraphs"] = "true"
        if self.namespaces is not None:
            query["namespace"] = sorted(self.namespaces)
        return query

    @property
    def passed(self) -> frozenset[str]:
        """The log's modes that go out as they are."""
        raw = self.modes - {"messages", "messages-tuple"}
        return raw | {"messages"} if "messages-tuple" in self.modes else raw


class Projection:
    """The frames of one view after one cursor; ``ended`` once the terminal event was seen.

    ``name`` makes the ``id`` of an event's last frame from its ``seq``.
    """

    def __init__(
        self,
        view: View,
        after: Cursor = BEGINNING,
        *,
        name: Callable[[int], int | str] = lambda seq: seq,
    ) -> None:
        self.ended = False
        self._name = name
        self._view = view
        self._passed = view.passed
        self._after = after
        self._fold = MessageFold() if view.folds_messages else None
        self._last_name, self._goes_out = "", False

    @property
    def start(self) -> Cursor:
        """Where to begin reading: a fold needs the run from its beginning."""
        return self._after if self._fold is None else BEGINNING

    def frames(self, event: Event) -> bytes:
        """The bytes that ``event`` gives in this view, none if it is hidden."""
        shown = self._project(event)
        self.ended = self.ended or event.name == "end"
        return shown if event.seq > self._after else b""

    def _project(self, event: Event) -> bytes:
        if event.name == "created":
            return b"" if self._view.narrowed else _first_attempt(event, self._name(event.seq))
        if event.name == "recovered":
            return _next_attempt(event, self._name(event.seq))
        if event.name == "end":
            data = decode(event.data)
            return self._end(event.run_id, data["status"], data.get("error"), event.seq)
        return self._part(event)

    def _end(self, run_id: str, status: str, error: Mapping[str, Any] | None, seq: int) -> bytes:
        return _ending(run_id, status, error, seq)

    def _part(self, event: Event) -> bytes:
        if event.name != self._last_name:  # tokens come in a row
            self._last_name, self._goes_out = event.name, self._passes(event)
        if self._goes_out:
            return frame(event.name, event.data, event_id=self._name(event.seq))
        if not self._view.shows(event.namespace):
            return b""
        if event.mode == "messages" and self._fold is not None:
            *before, last = self._fold.add(event.data)
            heads = b"".join(frame(name, data) for name, data in before)
            return heads + frame(*last, event_id=self._name(event.seq))
        return b""

    def _passes(self, event: Event) -> bool:
        return event.mode in self._passed and self._view.shows(event.namespace)


class ThreadProjection(Projection):
    """One run's frames in its thread's stream, which goes on behind the run's end.

    A thread outlives the logs of its runs: the end of one whose events are gone says so.
    """

    def __init__(self, *about: Any, events_deleted_at: datetime | None = None, **more: Any) -> None:
        super().__init__(*about, **more)
        gone = events_deleted_at is not None
        self._lacks = {"events_deleted_at": events_deleted_at} if gone else {}

    def _end(self, run_id: str, status: str, error: Mapping[str, Any] | None, seq: int) -> bytes:
        failed = error is not None and status != RunStatus.INTERRUPTED
        head = frame("error", encode(error)) if failed else b""
        done = encode({"status": "run_done", "run_id": run_id, **self._lacks})
        return head + frame("metadata", done, event_id=self._name(seq))


def finished(run: Run, view: View) -> bytes:
    """What a late comer without a cursor gets from a finished run: last values, then the end."""
    asked = view.shows("") and (not view.narrowed or "values" in view.modes)
    wanted = asked and run.output is not None
    values = frame("values", run.output or "") if wanted else b""
    return values + _ending(run.run_id, run.status, run.error, run.next_seq - 1)


def view_of(
    run: Run, modes: list[str], subgraphs: bool | None, namespaces: list[str] | None = None
) -> View:
    """The view of a follower: the filter it names, else what the run was asked for."""
    return View(
        modes=frozenset(modes or run.request["stream_modes"]),
        subgraphs=run.request["stream_subgraphs"] if subgraphs is None else subgraphs,
        namespaces=None if namespaces is None else frozenset(namespaces),
        narrowed=bool(modes),
    )


def cursor_of(last_event_id: str | None, run: Run) -> Cursor | None:
    """The cursor that a ``Last-Event-ID`` names; None without one. Foreign text: the start."""
    if not last_event_id:
        return None
    seq = digits(last_event_id)
    return BEGINNING if seq is None else Cursor(min(seq, run.next_seq - 1))


def live_from(run: Run) -> Cursor:
    """The cursor of "from now on"; a run that has not started yet is seen whole."""
    return Cursor(run.next_seq - 1) if run.started_at else BEGINNING


def _first_attempt(event: Event, event_id: int | str) -> bytes:
    """Sent as soon as the run exists, so that a client has a cursor before anything can be lost."""
    data = encode({"run_id": event.run_id, "attempt": 1})
    return frame("metadata", data, event_id=event_id)


def _next_attempt(event: Event, event_id: int | str) -> bytes:
    """The true attempt, then fresh values: clients drop what the lost attempt left half done."""
    data = decode(event.data)
    values = data.pop("values", None)
    metadata = encode({"run_id": event.run_id, **data})
    if values is None:
        return frame("metadata", metadata, event_id=event_id)
    return frame("metadata", metadata) + frame("values", encode(values), event_id=event_id)


def _ending(run_id: str, status: str, error: Mapping[str, Any] | None, seq: int) -> bytes:
    failed = error is not None and status != RunStatus.INTERRUPTED
    head = frame("error", encode(error)) if failed else b""
    return head + frame("end", encode({"run_id": run_id, "status": status}), event_id=seq)
