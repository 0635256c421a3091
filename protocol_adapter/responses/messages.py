"""Reading LangGraph's messages out of a run's log: who speaks, what is said, what is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_durable.serde import encode

from .items import REASONING, REFUSAL, TEXT, Speech

Message = Mapping[str, Any]

_AI = ("ai", "AIMessageChunk")
_TOOL = ("tool", "ToolMessageChunk")
_HUMAN = ("human", "HumanMessageChunk")

_TOOL_NODES = frozenset({"tools"})
"""Nodes that run tools. What a model says inside one is the tool's affair, not the answer."""

_CUT_SHORT = {
    "length": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "MAX_TOKENS": "max_output_tokens",
    "content_filter": "content_filter",
    "SAFETY": "content_filter",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a message comes from: the nodes from the outermost graph inwards, and the task."""

    nodes: tuple[str, ...]
    task_id: str | None

    @classmethod
    def of(cls, namespace: str, task_id: str | None = None) -> Origin:
        """Of a checkpoint namespace ``node:task|node:task``."""
        steps = [step.partition(":") for step in namespace.split("|") if step]
        own = steps[-1][2] if steps else None
        return cls(tuple(step[0] for step in steps), task_id or own)

    def hides(self, message: Message) -> bool:
        """A tool's own output counts, whatever its inside says does not."""
        outer = self.nodes[:-1] if is_tool(message) else self.nodes
        return not _TOOL_NODES.isdisjoint(outer)


def is_ai(message: Message) -> bool:
    return message.get("type") in _AI


def is_tool(message: Message) -> bool:
    return message.get("type") in _TOOL


def is_chunk(message: Message) -> bool:
    return message.get("type") == "AIMessageChunk"


def latest_turn(messages: Sequence[Message]) -> list[Message]:
    """The messages behind the last one of a person."""
    turn: list[Message] = []
    for message in messages:
        turn = [] if message.get("type") in _HUMAN else [*turn, message]
    return turn


def updated_messages(updates: Mapping[str, Any]) -> Iterator[tuple[str, Message]]:
    """Each message of an ``updates`` part that belongs to the latest turn, and its node.

    A node that wraps a subgraph hands on the whole history, so older turns are left out.
    """
    for node, update in updates.items():
        for written in update if isinstance(update, list) else [update]:
            fields = written.values() if _is_state(written) else [written]
            for field in fields:
                found = [each for each in _listed(field) if _is_message(each)]
                yield from ((node, message) for message in latest_turn(found))


def _is_state(value: Any) -> bool:
    return isinstance(value, dict) and not _is_message(value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_message(value: Any) -> bool:
    known = (*_AI, *_TOOL, *_HUMAN)
    return isinstance(value, dict) and value.get("type") in known and "content" in value


def speeches(message: Message) -> Iterator[tuple[Speech, str]]:
    """The texts of a message or chunk in order, empty ones left out."""
    extra = message.get("additional_kwargs") or {}
    found = [(REASONING, extra.get("reasoning_content"))]
    found += [_speech(block) for block in _listed(message.get("content"))]
    found.append((REFUSAL, extra.get("refusal")))
    return ((speech, text) for speech, text in found if isinstance(text, str) and text)


def _speech(block: Any) -> tuple[Speech, Any]:
    if not isinstance(block, dict):
        return TEXT, block
    match block.get("type"):
        case "refusal":
            return REFUSAL, block.get("refusal")
        case "thinking":
            return REASONING, block.get("thinking")
        case "reasoning":
            return REASONING, block.get("reasoning") or _summary(block)
        case "text":
            return TEXT, block.get("text")
    return TEXT, None


def _summary(block: Mapping[str, Any]) -> str:
    return "\n".join(part.get("text", "") for part in block.get("summary") or ())


def plain_text(message: Message) -> str:
    """A tool's output as one text: JSON when it is more than text."""
    blocks = _listed(message.get("content"))
    texts = [_speech(block)[1] for block in blocks]
    if all(isinstance(text, str) for text in texts):
        return "".join(texts)
    return encode(message.get("content"))


def arguments_of(call: Mapping[str, Any]) -> str:
    """A tool call's arguments as JSON text."""
    args = call.get("args")
    return args if isinstance(args, str) else encode(args or {})


def cut_short(message: Message) -> str | None:
    """Why the provider stopped before the end, in OpenAI's words; None when it did not say."""
    told = message.get("response_metadata") or {}
    reasons = (told.get(key) for key in ("finish_reason", "stop_reason", "done_reason"))
    return next((_CUT_SHORT[reason] for reason in reasons if reason in _CUT_SHORT), None)
