"""A thread's messages as the items of a conversation. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langgraph_durable.serde import decode

from . import messages as m
from .items import COMPLETED
from .messages import Message

Item = dict[str, Any]
_ROLES = {"human": "user", "system": "system", "developer": "developer"}


def items(channel: Sequence[Any], by_hand: Mapping[str, str | None]) -> list[Item]:
    """Every item: those of the messages in ``channel``, then what was put in by hand and no turn
    has taken up."""
    messages = [each for each in channel if _is_message(each)]
    told = [item for message in messages for item in _items_of(message)]
    held = {message.get("id") for message in messages} | {item["id"] for item in told}
    put = [decode(text) for name, text in by_hand.items() if text and name not in held]
    gone = {name for name, text in by_hand.items() if text is None}
    return [item for item in [*told, *put] if item["id"] not in gone]


def callers(channel: Sequence[Any]) -> set[str]:
    """Ids of the messages that call tools."""
    return {str(each.get("id")) for each in channel if _is_message(each) and each.get("tool_calls")}


def _is_message(value: Any) -> bool:
    """Only such a channel is a conversation: graphs may keep other things under ``messages``."""
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return False
    return value.get("type") in _ROLES or m.message_in(value) is not None


def _items_of(message: Message) -> Iterator[Item]:
    name = str(message.get("id"))
    if m.is_tool(message):
        yield {
            "id": name,
            "type": "function_call_output",
            "call_id": message["tool_call_id"],
            "output": m.plain_text(message),
            "status": COMPLETED,
        }
        return
    ai = m.is_ai(message)
    role = "assistant" if ai else _ROLES.get(str(message.get("type")))
    content = [part for block in _listed(message.get("content")) if (part := _part(block, ai))]
    if role is not None and (content or not ai):
        head = {"id": name, "type": "message", "status": COMPLETED}
        yield {**head, "role": role, "content": content}
    for call in message.get("tool_calls") or () if ai else ():
        yield {
            "id": f"fc_{call['id']}",
            "type": "function_call",
            "call_id": call["id"],
            "name": call["name"],
            "arguments": m.arguments_of(call),
            "status": COMPLETED,
        }


def _listed(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content] if content else []


def _part(block: Any, ai: bool) -> Item | None:
    """A content block as a content part; None for what has no part, such as reasoning."""
    if isinstance(block, str):
        block = {"type": "text", "text": block}
    if not isinstance(block, dict):
        return None
    text = str(block.get("text") or "")
    match block.get("type"):
        case "text" if ai:
            return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        case "text":
            return {"type": "input_text", "text": text}
        case "refusal":
            return {"type": "refusal", "refusal": block.get("refusal", "")}
        case "image":
            return {"type": "input_image", "detail": "auto", **_source(block, "image_url")}
        case "file":
            return {"type": "input_file", **_source(block, "file_url")}
    return None


def _source(block: Mapping[str, Any], key: str) -> Item:
    if block.get("file_id"):
        return {"file_id": block["file_id"]}
    if block.get("base64"):
        mime_type = block.get("mime_type", "application/octet-stream")
        return {key: f"data:{mime_type};base64,{block['base64']}"}
    return {key: block.get("url")}
