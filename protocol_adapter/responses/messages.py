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

_TYPE_OF = {"assistant": "ai", "tool": "tool", "user": "human"}
_KINDS: Mapping[str, type] = {
    "id": str,
    "tool_call_id": str,
    "tool_calls": list,
    "tool_call_chunks": list,
    "additional_kwargs": dict,
    "response_metadata": dict,
    "usage_metadata": dict,
}

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
                found = [message for each in _listed(field) if (message := message_in(each))]
                yield from ((node, message) for message in latest_turn(found))


def _is_state(value: Any) -> bool:
    return isinstance(value, dict) and message_in(value) is None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def message_in(value: Any) -> Message | None:
    """The message that ``value`` is: LangChain's, or one with a ``role`` as in OpenAI's requests.

    A person's own object may look like one in part; that one is none.
    """
    if not isinstance(value, dict) or "content" not in value:
        return None
    message = value if "type" in value else {"type": _TYPE_OF.get(str(value.get("role"))), **value}
    known = message["type"] in (*_AI, *_TOOL, *_HUMAN)
    if not (known and _fits(message)):
        return None
    calls = [*(message.get("tool_calls") or ()), *(message.get("tool_call_chunks") or ())]
    if not all(map(_is_call, calls)):
        return None
    return None if is_tool(message) and not message.get("tool_call_id") else message


def _fits(message: Message) -> bool:
    for key, kind in _KINDS.items():
        value = message.get(key)
        if value and not isinstance(value, kind):
            return False
    return True


def nameplate(value: Any) -> Message:
    """Of a message that is none of these three kinds, or no message at all: its id."""
    name = value.get("id") if isinstance(value, dict) else None
    return {"id": name} if isinstance(name, str) else {}


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and all(
        key in value and isinstance(value[key] or "", str) for key in ("id", "name")
    )


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


def references(message: Message) -> Iterator[dict[str, Any]]:
    """What the texts of a message refer to, in OpenAI's words.

    LangChain calls a reference to an address ``citation``; other kinds have no address to give.
    """
    for block in _listed(message.get("content")):
        listed = block.get("annotations") if isinstance(block, dict) else None
        for each in listed if isinstance(listed, list) else ():
            kind = each.get("type") if isinstance(each, dict) else None
            if kind in ("citation", "url_citation") and each.get("url"):
                yield {
                    "type": "url_citation",
                    "url": each["url"],
                    "title": each.get("title") or "",
                    "start_index": each.get("start_index") or 0,
                    "end_index": each.get("end_index") or 0,
                }


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
    told = message.get("response_metadata")
    if not told:
        return None
    reasons = (told.get(key) for key in ("finish_reason", "stop_reason", "done_reason"))
    return next((_CUT_SHORT[reason] for reason in reasons if reason in _CUT_SHORT), None)
