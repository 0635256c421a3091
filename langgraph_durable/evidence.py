"""The ``[RECOVERY]`` message of EVENT_LOG: what a crashed run's durable events tell its successor.

Pure: events in, one message out. Structured, capped in size (oldest text is shortened first),
with the tool calls that were never answered named as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph_durable.model import Event, RunRequest
from langgraph_durable.serde import decode, encode

CAP_CHARACTERS = 24_000
_SHORTENED = (2_000, 400, 80)

_PREAMBLE = (
    "[RECOVERY] An earlier attempt at this request was cut off by a crash and is being repeated"
    " from here. These are the durable events it left behind, oldest first, as JSON. Use results"
    " that are there instead of producing them again."
)
_OPEN_CALLS = (
    " These tool calls were started and never answered; they may or may not have taken effect, so"
    " check before repeating them: "
)
_EVENTS = "\nEvents:\n"


def recovery_message(events: Sequence[Event]) -> dict[str, Any]:
    """One user message with the evidence of every earlier attempt of a run."""
    text = _PREAMBLE
    if calls := open_tool_calls(events):
        room = CAP_CHARACTERS - len(_PREAMBLE + _OPEN_CALLS + _EVENTS)
        text += _OPEN_CALLS + _named(calls, room)
    text += _EVENTS
    lines = _capped(_entries(events), CAP_CHARACTERS - len(text))
    return {"role": "user", "content": text + "\n".join(lines)}


def with_evidence(request: RunRequest, events: Sequence[Event]) -> RunRequest:
    """The original input or command plus one message with the evidence of earlier attempts."""
    message = recovery_message(events)
    if request.command:
        update = request.command.get("update")
        if update is not None and not isinstance(update, Mapping):
            return request
        return replace(
            request, command={**request.command, "update": _with_message(update or {}, message)}
        )
    if request.input is None:
        # A run that goes on where its thread stands must not become a new turn.
        return replace(request, command={"update": _with_message({}, message)})
    if not isinstance(request.input, Mapping):
        return request
    return replace(request, input=_with_message(request.input, message))


def _with_message(update: Mapping[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    held = update.get("messages") or []
    return {**update, "messages": [*(held if isinstance(held, list) else [held]), message]}


def open_tool_calls(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Calls that some message of the log makes and no tool message answers."""
    calls: dict[str, dict[str, Any]] = {}
    answered: set[str] = set()
    for message in _messages(events):
        for call in message.get("tool_calls") or ():
            if call.get("id") and call.get("name"):
                known = calls.setdefault(call["id"], {"id": call["id"], "name": call["name"]})
                known["args"] = call.get("args") or known.get("args") or {}
        if message.get("type") == "tool" and message.get("tool_call_id"):
            answered.add(message["tool_call_id"])
    return [call for call_id, call in calls.items() if call_id not in answered]


def streamed_message_ids(events: Iterable[Event]) -> set[str]:
    """Ids of messages that readers of the log have begun to see."""
    return _message_ids(events, "messages")


def result_message_ids(events: Iterable[Event]) -> set[str]:
    """Ids of messages among the results of finished tasks."""
    return _message_ids(events, "updates")


def _message_ids(events: Iterable[Event], mode: str) -> set[str]:
    of_mode = (decode(event.data) for event in events if event.mode == mode)
    return {message["id"] for part in of_mode for message in _found(part) if message.get("id")}


def _messages(events: Iterable[Event]) -> Iterable[dict[str, Any]]:
    for event in events:
        if event.mode in ("messages", "updates"):
            yield from _found(decode(event.data))


def _found(part: Any) -> Iterable[dict[str, Any]]:
    if isinstance(part, dict):
        if _is_message(part):
            yield part
        else:
            for value in part.values():
                yield from _found(value)
    elif isinstance(part, list):
        for value in part:
            yield from _found(value)


def _is_message(part: dict[str, Any]) -> bool:
    """A user's own dict may have a type and a content too, and anything else beside them."""
    texts = (part.get("id") or "", part.get("tool_call_id") or "", part.get("type"))
    calls = part.get("tool_calls") or []
    return (
        "content" in part
        and all(isinstance(text, str) for text in texts)
        and isinstance(calls, list)
        and all(isinstance(call, dict) and isinstance(call.get("id") or "", str) for call in calls)
    )


def _entries(events: Iterable[Event]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    texts: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.mode in ("updates", "custom"):
            data = _brief(decode(event.data))
            entries.append({"attempt": event.attempt, "event": event.name, "data": data})
        elif event.mode == "messages":
            _gather_text(event, texts, entries)
    whole = {m.get("id") for e in events if e.mode == "updates" for m in _found(decode(e.data))}
    return [e for e in entries if e.get("id") is None or e["id"] not in whole]


def _gather_text(
    event: Event, texts: dict[str, dict[str, Any]], entries: list[dict[str, Any]]
) -> None:
    for message in _found(decode(event.data)):
        key = message.get("id")
        if key is None or not isinstance(message.get("content"), str):
            continue
        if key not in texts:
            texts[key] = {"attempt": event.attempt, "event": "partial text", "id": key, "data": ""}
            entries.append(texts[key])
        texts[key]["data"] += message["content"]


_KEPT = ("type", "content", "name", "id", "tool_calls", "tool_call_id", "status")


def _brief(value: Any) -> Any:
    """Messages without their empty and technical fields."""
    if isinstance(value, dict):
        if _is_message(value):
            return {k: value[k] for k in _KEPT if value.get(k)}
        return {k: _brief(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_brief(v) for v in value]
    return value


def _named(calls: list[dict[str, Any]], room: int) -> str:
    """Open calls in one line; their arguments are shortened, then left out, before a name is."""
    for longest in _SHORTENED:
        if len(text := encode(calls)) <= room:
            return text
        calls = [{**call, "args": _shortened(call["args"], longest)} for call in calls]
    bare = [{"id": call["id"], "name": call["name"]} for call in calls]
    return "[" + ",".join(_newest(list(map(encode, bare)), room - 2)) + "]"


def _capped(entries: list[dict[str, Any]], room: int) -> list[str]:
    """One line of JSON per entry, in ``room`` characters together."""
    lines = [encode(e) for e in entries]
    size = _size(lines)
    for longest in _SHORTENED:
        for i, entry in enumerate(entries):
            if size <= room:
                return lines
            size -= len(lines[i])
            lines[i] = encode(_shortened(entry, longest))
            size += len(lines[i])
    return _newest(lines, room)


def _newest(lines: list[str], room: int) -> list[str]:
    size, first = _size(lines), 0
    while size > room:
        size -= len(lines[first]) + 1
        first += 1
    return lines[first:]


def _size(lines: list[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return value[:longest] + "..."
    if isinstance(value, dict):
        return {k: _shortened(v, longest) for k, v in value.items()}
    if isinstance(value, list):
        return [_shortened(v, longest) for v in value]
    return value
