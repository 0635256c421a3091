"""One message at a time becomes output items: its text, its tool calls, a tool's result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import ids
from . import messages as m
from .items import COMPLETED, TEXT, Call, Item, Speech, Spoken, call_output
from .messages import Message
from .objects import Head
from .output import Output


@dataclass(slots=True, eq=False)
class Voice:
    """One AI message: what was told of it, and whether a crash can still take it back."""

    name: str
    task_id: str | None
    attempt: int
    confirmed: bool = False
    spoken: Spoken | None = None
    said: dict[Speech, list[str]] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    chunked: dict[Any, Call] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)

    def void(self) -> None:
        for item in self.items:
            item.void = True


class Teller:
    """Tells messages as they come; ``speaker`` is the voice whose text is open."""

    def __init__(self, head: Head, output: Output) -> None:
        self.voices: dict[str, Voice] = {}
        self.speaker: Voice | None = None
        self.cut_short: str | None = None
        self._head = head
        self._output = output
        self._answered: set[str] = set()

    def begin(self, voice: Voice) -> None:
        self.voices[voice.name] = voice
        self.cut_short = None

    def forget(self, voice: Voice) -> None:
        """``voice`` never spoke: its items are void, and its calls may come again."""
        voice.void()
        self._answered.difference_update(voice.calls)
        del self.voices[voice.name]

    def of_task(self, task_id: str | None) -> list[Voice]:
        return [v for v in self.voices.values() if task_id and v.task_id == task_id]

    def call(self, call_id: str) -> tuple[Voice, Call] | None:
        found = ((v, v.calls[call_id]) for v in self.voices.values() if call_id in v.calls)
        return next(found, None)

    def tell(self, name: str, message: Message) -> None:
        if m.is_tool(message):
            self._result(name, message)
            return
        self.cut_short = m.cut_short(message) or self.cut_short
        if m.is_chunk(message):
            self._chunk(self.voices[name], message)
        else:
            self._whole(self.voices[name], message)

    def hush(self, voice: Voice, status: str = COMPLETED) -> None:
        """Closes the open text of ``voice``."""
        if voice.spoken is not None:
            self._output.fall_silent(voice.spoken, status)
        voice.spoken = None
        if self.speaker is voice:
            self.speaker = None

    # -- what models say --------------------------------------------------------------------

    def _chunk(self, voice: Voice, chunk: Message) -> None:
        for speech, text in m.speeches(chunk):
            self._say(voice, speech, text)
        self._annotate(voice, chunk)
        for piece in chunk.get("tool_call_chunks") or ():
            self._piece(voice, piece)
        if chunk.get("chunk_position") == "last":
            self._end(voice)

    def _whole(self, voice: Voice, message: Message) -> None:
        """Tells what the chunks left out; all of a message that never came in chunks."""
        whole: dict[Speech, str] = {}
        for speech, text in m.speeches(message):
            whole[speech] = whole.get(speech, "") + text
        for speech, text in whole.items():
            said = "".join(voice.said.get(speech, ()))
            if text != said and text.startswith(said):
                self._say(voice, speech, text[len(said) :])
        self._annotate(voice, message)
        for call in message.get("tool_calls") or ():
            call_id = call["id"] or voice.name
            if call_id not in voice.calls:
                opened = self._open(voice, call_id, call["name"])
                self._output.argue(opened, m.arguments_of(call))
        self._end(voice)

    def _say(self, voice: Voice, speech: Speech, text: str) -> None:
        if voice.spoken is None or voice.spoken.speech is not speech:
            self.hush(voice)
            voice.spoken = self._output.speak(voice.name, speech)
            voice.items.append(voice.spoken)
        self.speaker = voice
        voice.said.setdefault(speech, []).append(text)
        self._output.say(voice.spoken, text)

    def _annotate(self, voice: Voice, message: Message) -> None:
        if voice.spoken is not None and voice.spoken.speech is TEXT:
            for annotation in m.references(message):
                self._output.annotate(voice.spoken, annotation)

    def _piece(self, voice: Voice, piece: Mapping[str, Any]) -> None:
        key = piece.get("index")
        if piece.get("id") and piece["id"] not in voice.calls:
            voice.chunked[key] = self._open(voice, piece["id"], piece.get("name") or "")
        if key in voice.chunked and piece.get("args"):
            self._output.argue(voice.chunked[key], piece["args"])

    def _open(self, voice: Voice, call_id: str, name: str) -> Call:
        self.hush(voice)
        call = self._output.call(call_id, name, mcp=self._is_mcp(name))
        voice.calls[call_id] = call
        voice.items.append(call)
        return call

    def _is_mcp(self, name: str) -> bool:
        return self._head.tool_items == "mcp_call" and name not in self._head.client_tools

    def _end(self, voice: Voice) -> None:
        self.hush(voice)
        for call in voice.calls.values():
            self._output.settle(call)

    # -- what tools answer ------------------------------------------------------------------

    def _result(self, name: str, message: Message) -> None:
        call_id = message["tool_call_id"]
        if call_id in self._answered:
            return
        self._answered.add(call_id)
        voice, call = self.call(call_id) or (None, self._earlier_call(call_id, message))
        text = m.plain_text(message)
        if call is not None:
            self._output.settle(call)
        if call is not None and call.mcp:
            self._output.answer(call, text, failed=message.get("status") == "error")
            return
        item = call_output(name, call.call_id if call else call_id, text)
        self._output.tell(item)
        if voice is not None:
            voice.items.append(item)

    def _earlier_call(self, call_id: str, message: Message) -> Call | None:
        """A call that an earlier response showed: as ``mcp_call`` told again with its result.

        Under a new name: clients that keep a history take an item of a known name for the same.
        """
        known = self._head.calls.get(call_id, {})
        name = known.get("name") or message.get("name") or "tool"
        if not self._is_mcp(name):
            return None
        if known:
            self._output.reserve(ids.MCP_CALL + call_id)
        call = self._output.call(call_id, name, mcp=True)
        self._output.argue(call, known.get("arguments", "{}"))
        return call
