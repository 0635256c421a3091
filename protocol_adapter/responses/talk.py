"""Who may speak: the messages of a run, one voice at a time, and what a crash takes back.

Models that run in parallel interleave their chunks in the log. Clients can only take one open
text, so the others wait, whole messages at a time, and are told when the speaker is done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from . import messages as m
from .items import INCOMPLETE
from .messages import Message, Origin
from .objects import Head
from .output import Output
from .teller import Teller, Voice


class Talk:
    """``hear`` and ``confirm`` messages, ``recover`` after a crash, ``finish`` at the end."""

    def __init__(self, head: Head, output: Output) -> None:
        self._head = head
        self._output = output
        self._teller = Teller(head, output)
        self._waiting: dict[str, list[Message]] = {}
        self._usage: dict[str, Mapping[str, Any]] = {}
        self._attempt = 1
        self._nameless = 1

    @property
    def usage(self) -> list[Mapping[str, Any]]:
        """What each message cost, those of abandoned attempts too: they were paid for."""
        return list(self._usage.values())

    @property
    def cut_short(self) -> str | None:
        """Why the last message stopped before its end, in OpenAI's words."""
        return self._teller.cut_short

    def overhear(self, message: Message) -> None:
        """One part of mode ``messages`` that is not told before its node has finished."""
        if m.is_ai(message):
            self._count(self._name(message), message)

    def hear(self, message: Message, origin: Origin) -> None:
        """One part of mode ``messages``: a chunk or a whole message."""
        name = self._name(message)
        if name in self._head.told or not (m.is_ai(message) or m.is_tool(message)):
            return
        self._count(name, message)
        if origin.hides(message):
            return
        if m.is_ai(message):
            self._meet(name, origin)
        if self._must_wait(name, message):
            self._waiting.setdefault(name, []).append(message)
        else:
            self._teller.tell(name, message)
            self._drain()

    def confirm(self, told: Iterable[tuple[str, Message]], origin: Origin) -> None:
        """A node has finished: its messages are whole, and no crash takes them back."""
        for node, message in told:
            self.hear(message, Origin((*origin.nodes, node), origin.task_id))
            if voice := self._teller.voices.get(self._name(message)):
                voice.confirmed = True
                self._nameless += not message.get("id")
        for voice in self._teller.of_task(origin.task_id):
            voice.confirmed = True
            self.hear({"type": "ai", "id": voice.name}, Origin((), voice.task_id))

    def recover(self, attempt: int, *, keep: Collection[str], held: Collection[str]) -> None:
        """A later attempt goes on: closes what dangles and voids what no checkpoint holds.

        ``keep`` are the ids of tool calls that go on, ``held`` of messages in the checkpoint.
        """
        self._attempt = attempt
        voices = self._teller.voices
        lost = [v for v in voices.values() if not v.confirmed and v.name not in held]
        for voice in lost:
            self._waiting.pop(voice.name, None)
        self._silence(INCOMPLETE)
        for voice in voices.values():
            self._abandon(voice, () if voice in lost else keep)
        for voice in lost:
            self._teller.forget(voice)

    def start_over(self, attempt: int, *, held: Collection[str] = ()) -> None:
        """A later attempt begins on a rotated conversation: of what was told before, only the
        messages count that are ``held`` there.
        """
        kept = [voice for voice in self._teller.voices.values() if voice.name in held]
        for voice in self._teller.voices.values():
            voice.confirmed = voice in kept
        self._waiting.clear()
        self.recover(attempt, keep=(), held=held)
        self._output.void(but=[item for voice in kept for item in voice.items])

    def finish(self, status: str) -> None:
        """The run has ended: tells what waits and closes what is open."""
        self._silence(status)
        for voice in self._teller.voices.values():
            self._abandon(voice, ())

    def _name(self, message: Message) -> str:
        if name := message.get("id"):
            return str(name)
        if call_id := message.get("tool_call_id"):
            return f"msg_{call_id}"
        number = "" if self._nameless == 1 else f"-{self._nameless}"
        return f"msg_{self._head.response_id}{number}"

    def _count(self, name: str, message: Message) -> None:
        counts = message.get("usage_metadata")
        if not counts:
            return
        before = self._usage.get(name)
        self._usage[name] = _sum(before, counts) if before and m.is_chunk(message) else counts

    def _meet(self, name: str, origin: Origin) -> None:
        if name in self._teller.voices:
            return
        # A task that speaks in a later attempt runs anew: what it said before is void.
        for earlier in self._teller.of_task(origin.task_id):
            if earlier.attempt < self._attempt:
                earlier.void()
        self._teller.begin(Voice(name, origin.task_id, self._attempt))

    def _must_wait(self, name: str, message: Message) -> bool:
        if name in self._waiting:
            return True
        if m.is_tool(message):
            return bool(self._waiting) and self._teller.call(message["tool_call_id"]) is None
        speaker = self._teller.speaker
        if speaker is None or speaker.name == name:
            return False
        return any(True for _ in m.speeches(message))

    def _drain(self) -> None:
        while self._waiting and self._teller.speaker is None:
            name = next(iter(self._waiting))
            for message in self._waiting.pop(name):
                self._teller.tell(name, message)

    def _silence(self, status: str) -> None:
        while self._teller.speaker is not None:
            self._teller.hush(self._teller.speaker, status)
            self._drain()

    def _abandon(self, voice: Voice, keep: Collection[str]) -> None:
        for call_id, call in voice.calls.items():
            if call_id not in keep:
                self._output.abandon(call)


def _sum(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two ``usage_metadata`` added up, their details too."""
    total = dict(one)
    for key, value in other.items():
        before = total.get(key)
        if isinstance(value, Mapping):
            total[key] = _sum(before or {}, value)
        elif isinstance(value, int):
            total[key] = (before or 0) + value
    return total
