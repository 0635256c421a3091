"""One run's log becomes events of the agent streaming protocol ("v3"). Pure: a fold, no I/O.

Every event has a place on its thread that never changes: the run's ticket, the ``seq`` of the log
row, and its own number among the events that this row gives. The three make ``seq``, so a client
that was cut off between two events loses none and gets none twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from langgraph_durable.model import Cursor, Event, Run
from langgraph_durable.serde import decode, encode
from protocol_adapter.langgraph.content_blocks import MessageStreams
from protocol_adapter.langgraph.lifecycle import Change, Subgraphs, lifecycle_id, root_status

LOGGED = ("values", "updates", "messages-tuple", "custom", "tasks", "tools", "checkpoint")
"""The stream modes of a run that this protocol starts: what its channels are made of."""

CHANNELS = (
    *("values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks"),
    "custom",
)
_INTERRUPT = "__interrupt__"
_SEQ_BITS, _NUMBER_BITS = 26, 10
_MESSAGES, _SUBGRAPHS, _TOLD, _LAST = 0, 256, 512, 1023
"""Numbers of one row's events: messages it finishes, subgraphs it changes, what it tells."""


def place(ticket: int, seq: int, number: int = _LAST) -> int:
    """A place on a thread as one integer, within the 53 bits that JavaScript counts exactly."""
    return ((ticket << _SEQ_BITS | seq + 1) << _NUMBER_BITS) | min(number, _LAST)


def row_of(since: int) -> Cursor:
    """The last row of its run's log that a place leaves nothing of."""
    row, number = divmod(since, 1 << _NUMBER_BITS)
    seq = (row & ((1 << _SEQ_BITS) - 1)) - 1
    return Cursor(seq if number == _LAST else seq - 1)


def ticket_of(since: int) -> int:
    """The ticket of the run that a place lies in."""
    return since >> (_SEQ_BITS + _NUMBER_BITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolEvent:
    """One event. ``data`` is JSON text, ``seq`` its place on the thread, ``at`` milliseconds.

    ``channels`` are those that show it: a named custom event has one of its own as well.
    """

    event_id: str
    seq: int
    method: str
    channels: frozenset[str]
    namespace: list[str]
    data: str
    at: int
    node: str | None

    def json(self) -> str:
        """The event as it goes on the wire; ``data`` stays as it is."""
        node = f',"node":{encode(self.node)}' if self.node else ""
        place = f'"namespace":{encode(self.namespace)},"timestamp":{self.at}'
        return (
            f'{{"type":"event","event_id":{encode(self.event_id)},"seq":{self.seq},'
            f'"method":"{self.method}","params":{{{place},"data":{self.data}{node}}}}}'
        )


@dataclass(frozen=True, slots=True)
class _Told:
    """An event before it has its place. ``name`` is that of a custom event."""

    method: str
    namespace: list[str]
    data: str
    node: str | None = None
    event_id: str | None = None
    name: str | None = None

    @property
    def channels(self) -> frozenset[str]:
        channel = "input" if self.method == "input.requested" else self.method
        return frozenset({channel, f"custom:{self.name}"} if self.name else {channel})


class ProtocolEvents:
    """The events of one run; feed it the run's log from the beginning, in order.

    Only rows that can give events of the ``channels`` are looked at.
    """

    def __init__(self, run: Run, channels: frozenset[str] = frozenset(CHANNELS)) -> None:
        self._run = run
        self._messages = MessageStreams() if "messages" in channels else None
        self._subgraphs = Subgraphs() if "lifecycle" in channels else None
        self._questions: set[str] = set()
        self._telling = {mode: tell for mode, (tell, gives) in _TELLING.items() if channels & gives}

    def events(self, row: Event) -> Iterator[ProtocolEvent]:
        """What one log row gives."""
        namespace = row.name.split("|")[1:]
        tell = self._telling.get(row.mode)
        yield from self._placed(row, _MESSAGES, self._finished(row))
        yield from self._placed(row, _SUBGRAPHS, self._changed(row, namespace))
        if tell is not None:
            yield from self._placed(row, _TOLD, tell(self, row, namespace))

    def _placed(self, row: Event, first: int, told: Iterable[_Told]) -> Iterator[ProtocolEvent]:
        for number, event in enumerate(told, first):
            yield ProtocolEvent(
                event_id=event.event_id or f"{row.run_id}:{row.seq}:{number}",
                seq=place(self._run.ticket, row.seq, number),
                method=event.method,
                channels=event.channels,
                namespace=event.namespace,
                data=event.data,
                at=row.at,
                node=event.node,
            )

    def _finished(self, row: Event) -> Iterator[_Told]:
        """A task's update finishes its messages, the end of an attempt all of them."""
        over = row.mode in ("recovered", "end")
        if self._messages is None or not (over or (row.mode == "updates" and row.task_id)):
            return
        for message, data in self._messages.close(None if over else row.task_id):
            yield _Told("messages", message.namespace, encode(data), message.node)

    def _changed(self, row: Event, namespace: list[str]) -> Iterator[_Told]:
        if self._subgraphs is None:
            return
        changes = list(self._subgraphs.entered(namespace))
        if row.mode == "tasks":
            changes += self._subgraphs.task(namespace, decode(row.data))
        if row.mode == "end":
            changes += self._subgraphs.ended(_status(decode(row.data)))
        for change in changes:
            yield self._lifecycle(row, change)

    def _lifecycle(self, row: Event, change: Change) -> _Told:
        namespace, data = change
        name = lifecycle_id(row.run_id, namespace, data["event"], row.attempt)
        return _Told("lifecycle", namespace, encode(data), event_id=name)

    # -- what a row tells --------------------------------------------------------------------

    def _running(self, row: Event, namespace: list[str]) -> Iterator[_Told]:
        """Clients drop what was told but never checkpointed when a run is running again."""
        data = {"event": "running", "graph_name": self._run.graph_id}
        yield self._lifecycle(row, ([], data))
        values = decode(row.data).get("values")
        if values is not None:
            yield from self._values(row, [], encode(values))

    def _ended(self, row: Event, namespace: list[str]) -> Iterator[_Told]:
        end = decode(row.data)
        data = {"event": _status(end), "graph_name": self._run.graph_id}
        if data["event"] == "failed":
            data["error"] = (end.get("error") or {}).get("message") or end["status"]
        yield self._lifecycle(row, ([], data))

    def _values(self, row: Event, namespace: list[str], data: str | None = None) -> Iterator[_Told]:
        """Questions are told as ``input.requested``, not inside the state."""
        data = row.data if data is None else data
        if f'"{_INTERRUPT}"' in data and isinstance(values := decode(data), dict):
            values.pop(_INTERRUPT, None)
            data = encode(values) if values else ""
        if data:
            yield _Told("values", namespace, data)

    def _updates(self, row: Event, namespace: list[str]) -> Iterator[_Told]:
        update = decode(row.data)
        if not isinstance(update, dict):
            return
        for question in update.pop(_INTERRUPT, None) or ():
            yield from self._question(question, namespace)
        for node, values in update.items():
            if node != "__metadata__":
                data = encode({"node": node, "values": {} if values is None else values})
                yield _Told("updates", namespace, data, node)

    def _question(self, question: dict[str, Any], namespace: list[str]) -> Iterator[_Told]:
        """Once each, where it was asked; the protocol says payload, the Python client value."""
        if question["id"] not in self._questions:
            self._questions.add(question["id"])
            value = question.get("value")
            data = {"interrupt_id": question["id"], "payload": value, "value": value}
            yield _Told("input.requested", namespace, encode(data))

    def _message(self, row: Event, namespace: list[str]) -> Iterator[_Told]:
        if self._messages is not None:
            message, metadata = decode(row.data)
            for data in self._messages.add(message, metadata, namespace):
                yield _Told("messages", namespace, encode(data), metadata.get("langgraph_node"))

    def _custom(self, row: Event, namespace: list[str]) -> Iterator[_Told]:
        """What the graph wrote is the payload; a ``name`` in it names the channel."""
        said = decode(row.data)
        name = said.get("name") if isinstance(said, dict) else None
        if isinstance(name, str):
            data = encode({"payload": said, **said})
            yield _Told("custom", namespace, data, name=name or None)
        else:
            yield _Told("custom", namespace, encode({"payload": said}))

    def _checkpoint(self, row: Event, namespace: list[str]) -> Iterator[_Told]:
        """A thread's first checkpoint has no parent, and says nothing of one."""
        slim = {key: value for key, value in decode(row.data).items() if value is not None}
        yield _Told("checkpoints", namespace, encode(slim))

    def _plain(self, row: Event, namespace: list[str]) -> Iterator[_Told]:
        yield _Told(row.mode, namespace, row.data)


_TELLING = {
    "started": (ProtocolEvents._running, {"lifecycle"}),
    "recovered": (ProtocolEvents._running, {"lifecycle", "values"}),
    "end": (ProtocolEvents._ended, {"lifecycle"}),
    "values": (ProtocolEvents._values, {"values"}),
    "updates": (ProtocolEvents._updates, {"updates", "input"}),
    "messages": (ProtocolEvents._message, {"messages"}),
    "custom": (ProtocolEvents._custom, {"custom"}),
    "checkpoint": (ProtocolEvents._checkpoint, {"checkpoints"}),
    "tasks": (ProtocolEvents._plain, {"tasks"}),
    "tools": (ProtocolEvents._plain, {"tools"}),
}
"""What reads the rows of a mode, and the channels that it gives events of."""


def _status(end: dict[str, Any]) -> str:
    return root_status(end["status"], asks=bool(end.get("interrupts")))
