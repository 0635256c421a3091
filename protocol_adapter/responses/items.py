"""Output items: what one holds, how it looks, and the words in which its parts are streamed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

IN_PROGRESS = "in_progress"
COMPLETED = "completed"
INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Speech:
    """One kind of streamed text and its names on the wire; there are three."""

    item_type: str
    prefix: str
    part_type: str
    text_key: str
    index: str
    part_added: str
    delta: str
    done: str
    part_done: str
    part_extra: Mapping[str, Any] = field(default_factory=dict)
    event_extra: Mapping[str, Any] = field(default_factory=dict)

    def part(self, text: str) -> dict[str, Any]:
        return {"type": self.part_type, self.text_key: text, **self.part_extra}


TEXT = Speech(
    item_type="message",
    prefix="",
    part_type="output_text",
    text_key="text",
    index="content_index",
    part_added="response.content_part.added",
    delta="response.output_text.delta",
    done="response.output_text.done",
    part_done="response.content_part.done",
    part_extra={"annotations": [], "logprobs": []},
    event_extra={"logprobs": []},
)
REFUSAL = Speech(
    item_type="message",
    prefix="",
    part_type="refusal",
    text_key="refusal",
    index="content_index",
    part_added="response.content_part.added",
    delta="response.refusal.delta",
    done="response.refusal.done",
    part_done="response.content_part.done",
)
REASONING = Speech(
    item_type="reasoning",
    prefix="rs_",
    part_type="summary_text",
    text_key="text",
    index="summary_index",
    part_added="response.reasoning_summary_part.added",
    delta="response.reasoning_summary_text.delta",
    done="response.reasoning_summary_text.done",
    part_done="response.reasoning_summary_part.done",
)


@dataclass(slots=True, kw_only=True)
class Item(ABC):
    """One announced item. ``void`` ones are left out of the terminal output."""

    item_id: str
    index: int = -1
    status: str = IN_PROGRESS
    void: bool = False

    @property
    def open(self) -> bool:
        return self.status == IN_PROGRESS

    @abstractmethod
    def shape(self) -> dict[str, Any]:
        """The item as JSON, at this moment."""


@dataclass(slots=True, kw_only=True)
class Spoken(Item):
    """A message or reasoning item with one part that grows, once it has ``begun``."""

    speech: Speech
    begun: bool = False
    pieces: list[str] = field(default_factory=list)
    annotations: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def part(self) -> dict[str, Any]:
        """The part as it has grown."""
        part = self.speech.part(self.text)
        return {**part, "annotations": list(self.annotations)} if self.annotations else part

    def shape(self) -> dict[str, Any]:
        parts = [self.part] if self.begun else []
        head = {"id": self.item_id, "type": self.speech.item_type, "status": self.status}
        if self.speech.item_type == "reasoning":
            return {**head, "summary": parts}
        return {**head, "role": "assistant", "content": parts}


@dataclass(slots=True, kw_only=True)
class Call(Item):
    """A tool call: a ``function_call``, or an ``mcp_call`` that stays open until its result."""

    call_id: str
    name: str
    mcp: bool
    arguments: str = ""
    settled: bool = False
    output: str | None = None
    error: str | None = None

    def shape(self) -> dict[str, Any]:
        common = {"id": self.item_id, "name": self.name, "arguments": self.arguments}
        if not self.mcp:
            return {
                **common,
                "type": "function_call",
                "status": self.status,
                "call_id": self.call_id,
            }
        return {
            **common,
            "type": "mcp_call",
            "status": self.status,
            "server_label": "langgraph",
            "approval_request_id": None,
            "output": self.output,
            "error": None if self.error is None else _tool_error(self.error),
        }


def _tool_error(text: str) -> dict[str, Any]:
    return {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": text}]}


@dataclass(slots=True, kw_only=True)
class Whole(Item):
    """An item that is announced in one go: a tool's output, a question to a person."""

    body: Mapping[str, Any]
    status: str = COMPLETED

    def shape(self) -> dict[str, Any]:
        return {"id": self.item_id, **self.body}


def call_output(item_id: str, call_id: str, output: str) -> Whole:
    """The result of a ``function_call``."""
    body = {
        "type": "function_call_output",
        "call_id": call_id,
        "output": output,
        "status": COMPLETED,
    }
    return Whole(item_id=item_id, body=body)
