"""Input items of a request as LangGraph messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from langgraph_durable.serde import received

from . import ids
from .refusal import Refusal

_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_TEXTS = ("input_text", "output_text", "text", "refusal", "summary_text")

_OUTPUT = "function_call_output"
REFERENCE = "item_reference"

NO_RESULT = "This call was interrupted and has no result."

Item = Mapping[str, Any]
Messages = list[dict[str, Any]]


def items_of(given: Any, param: str = "input") -> list[dict[str, Any]]:
    """``input`` as a list of items, each with its ``type``; a string is one user message.

    Raises Refusal, which names the place under ``param``.
    """
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    for index, item in enumerate(given):
        if not isinstance(item, dict):
            raise Refusal("An input item must be an object.", param=f"{param}[{index}]")
    typed = [{**item, "type": _kind(item)} for item in given]
    for index, item in enumerate(typed):
        _check(item, f"{param}[{index}]")
    return typed


def named(items: Sequence[Item], run_id: str) -> list[dict[str, Any]]:
    """The items as ``input_items`` lists them: each with an id, an output's text as a part."""
    short = run_id.replace("-", "")
    listed = []
    for number, item in enumerate(items):
        name = str(item.get("id") or f"{_LISTED.get(item['type'], 'item_')}{short}_{number}")
        status = {"status": "completed"} if item["type"] in _LISTED else {}
        listed.append({**status, **item, "id": name, **_parts(item)})
    return listed


_LISTED = {"message": "msg_", "function_call": "fc_", "function_call_output": "fco_"}


def _parts(item: Item) -> dict[str, Any]:
    if item["type"] != "message" or not isinstance(item["content"], str):
        return {}
    kind = "output_text" if item["role"] == "assistant" else "input_text"
    extra: dict[str, Any] = {"annotations": []} if kind == "output_text" else {}
    return {"content": [{"type": kind, "text": item["content"], **extra}]}


def _kind(item: Item) -> str:
    return str(item.get("type") or ("message" if "role" in item else REFERENCE))


def _check(item: Item, param: str) -> None:
    """Refuses an item that could not be told to a graph; unknown kinds pass and are left out."""
    if item["type"] == "message":
        if str(item.get("role")) not in _ROLES:
            raise Refusal(f"'role' must be one of {', '.join(_ROLES)}.", param=f"{param}.role")
        if not isinstance(item.get("content"), (str, list)):
            raise Refusal("'content' must be a string or a list.", param=f"{param}.content")
        return
    for key in _NEEDED.get(item["type"], ()):
        if not isinstance(item.get(key), str):
            raise Refusal(f"'{key}' must be a string.", param=f"{param}.{key}")
    if item["type"] == "mcp_approval_response":
        if not isinstance(item.get("approve"), bool):
            raise Refusal("'approve' must be a boolean.", param=f"{param}.approve")
        if not isinstance(item.get("reason"), (str, type(None))):
            raise Refusal("'reason' must be a string.", param=f"{param}.reason")


_NEEDED = {
    "function_call": ("call_id", "name"),
    "function_call_output": ("call_id",),
    REFERENCE: ("id",),
    "mcp_call": ("id", "name"),
    "mcp_approval_response": ("approval_request_id",),
}


def messages_of(items: Sequence[Item]) -> Messages:
    """The messages that ``items`` stand for, in order; kinds without a message are left out."""
    messages: Messages = []
    skipped = _told_again(items)
    for index, item in enumerate(items):
        if index not in skipped and (add := _KINDS.get(item["type"])):
            add(item, messages)
    return messages


def _told_again(items: Sequence[Item]) -> set[int]:
    """The places of calls without a result that come once more behind: a recovery repeats them,
    and so does the answer to a person's question that let their tool go on."""
    places: set[int] = set()
    following: dict[str, str] = {}
    for index in reversed(range(len(items))):
        item = items[index]
        if (call := _call_of(item)) is None:
            continue
        is_call = item["type"] != _OUTPUT
        if is_call and not _has_outcome(item) and following.get(call, _OUTPUT) != _OUTPUT:
            places.add(index)
        following[call] = item["type"]
    return places


def _call_of(item: Item) -> str | None:
    match item["type"]:
        case "mcp_call":
            return ids.original(item["id"]).removeprefix(ids.MCP_CALL)
        case "function_call" | "function_call_output":
            return ids.original(item["call_id"])
    return None


def _has_outcome(item: Item) -> bool:
    return item.get("output") is not None or item.get("error") is not None


def _message(item: Item, messages: Messages) -> None:
    message = {"role": _ROLES[item["role"]], "content": _content(item["content"])}
    if item.get("id"):
        message["id"] = ids.original(str(item["id"]))
    messages.append(message)


def _function_call(item: Item, messages: Messages) -> None:
    _add_call(messages, ids.original(item["call_id"]), item)


def _function_call_output(item: Item, messages: Messages) -> None:
    message = {
        "role": "tool",
        "tool_call_id": ids.original(item["call_id"]),
        "content": _content(item.get("output") or ""),
    }
    if item.get("id"):
        message["id"] = ids.original(str(item["id"]))
    messages.append(message)


def _mcp_call(item: Item, messages: Messages) -> None:
    """A tool that the graph ran in an earlier turn, shown again by a stateless client."""
    call_id = ids.original(item["id"]).removeprefix(ids.MCP_CALL)
    _add_call(messages, call_id, item)
    result: dict[str, Any] = {"role": "tool", "tool_call_id": call_id}
    if not _has_outcome(item):
        messages.append({**result, "status": "error", "content": NO_RESULT})
        return
    error = item.get("error")
    if isinstance(error, dict):
        error = error.get("content") or error.get("message")
    messages.append({**result, "content": _content(item.get("output") or error or "")})


_KINDS: Mapping[str, Callable[[Item, Messages], None]] = {
    "message": _message,
    "function_call": _function_call,
    "function_call_output": _function_call_output,
    "mcp_call": _mcp_call,
}


def _add_call(messages: Messages, call_id: str, item: Item) -> None:
    """Calls belong to the assistant's message before them, as the model made them."""
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": ""})
    call = {"id": call_id, "name": item["name"], "args": _arguments(item), "type": "tool_call"}
    messages[-1].setdefault("tool_calls", []).append(call)


def _arguments(item: Item) -> dict[str, Any]:
    given = item.get("arguments") or "{}"
    try:
        args = received(given.encode()) if isinstance(given, str) else given
    except ValueError:
        args = given
    return args if isinstance(args, dict) else {"arguments": args}


def _content(content: Any) -> Any:
    """One text as a string, which every graph reads; more or richer parts as content blocks."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else orjson.dumps(content).decode()
    blocks = [_block(part) for part in content]
    if len(blocks) == 1 and blocks[0].get("type") == "text":
        return blocks[0]["text"]
    return blocks


def _block(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, dict):
        raise Refusal("A content part must be an object.", param="input")
    match _string(part, "type"):
        case kind if kind in _TEXTS:
            text = _string(part, "text") or _string(part, "refusal")
            return {"type": "text", "text": text or ""}
        case "input_image":
            return _source("image", _string(part, "image_url"), part)
        case "input_file":
            return _source("file", _string(part, "file_url") or _string(part, "file_data"), part)
    return part


def _string(part: Item, key: str) -> str | None:
    value = part.get(key)
    if value is not None and not isinstance(value, str):
        raise Refusal(f"'{key}' of a content part must be a string.", param="input")
    return value


def _source(kind: str, address: str | None, part: Item) -> dict[str, Any]:
    """A standard content block by URL, by base64 or by the provider's file id."""
    block: dict[str, Any] = {"type": kind}
    if filename := _string(part, "filename"):
        block["filename"] = filename
    if not address:
        return {**block, "file_id": _string(part, "file_id")}
    head, comma, data = address.partition(",")
    if head.startswith("data:") and comma:
        mime_type = head.removeprefix("data:").partition(";")[0]
        return {**block, "base64": data, "mime_type": mime_type}
    is_url = address.startswith(("http://", "https://"))
    return {**block, "url" if is_url else "base64": address}
