"""What a thread already holds, and which part of a request's input is new to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph_durable.serde import decode

from . import ids, inbound
from . import messages as m
from .messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A thread as the next turn finds it.

    ``calls`` are all tool calls ever made there, ``open_calls`` those of the last AI message
    that have no result: ``{call_id: {"name", "arguments"}}``. ``turn`` are the ids of the
    messages since a person last spoke. ``questions`` are the open interrupts, id -> value.
    ``settled`` are names of questions answered before.
    ``put`` are items that were put into the conversation by hand, ``taken`` ids of messages that
    were taken out of it.
    """

    ids: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()
    open_calls: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    turn: tuple[str, ...] = ()
    questions: Mapping[str, Any] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()
    put: Sequence[Mapping[str, Any]] = ()
    taken: Sequence[str] = ()
    busy: bool = False


NOTHING = Held()


def held(
    channel: Any,
    questions: Mapping[str, Any],
    *,
    busy: bool,
    settled: Iterable[str] = (),
    items: Mapping[str, str | None] | None = None,
) -> Held:
    """What a thread holds whose ``messages`` channel, as JSON, is ``channel``.

    ``items`` were put in by hand: id -> JSON text, None for what was taken out.
    """
    by_hand = items or {}
    listed = channel if isinstance(channel, list) else []
    messages = [m.message_in(each) or m.nameplate(each) for each in listed]
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    answered = frozenset(message["tool_call_id"] for message in messages if m.is_tool(message))
    return Held(
        ids=frozenset(message["id"] for message in messages if message.get("id")),
        calls=frozenset(call["id"] for call in calls),
        answered=answered,
        open_calls={
            call["id"]: {"name": call["name"], "arguments": m.arguments_of(call)}
            for call in _last_calls(messages)
            if call["id"] and call["id"] not in answered
        },
        turn=tuple(message["id"] for message in m.latest_turn(messages) if message.get("id")),
        questions=questions,
        settled=frozenset(settled),
        put=tuple(decode(text) for text in by_hand.values() if text is not None),
        taken=tuple(name for name, text in by_hand.items() if text is None),
        busy=busy,
    )


def _last_calls(messages: Sequence[Message]) -> Sequence[Mapping[str, Any]]:
    """The calls of the last message that is not a tool's, if a model made it."""
    for message in reversed(messages):
        if not m.is_tool(message):
            return message.get("tool_calls") or ()
    return ()


def fresh(items: Sequence[Mapping[str, Any]], thread: Held) -> list[Mapping[str, Any]]:
    """The items behind the last one that the thread holds: stateless clients send all again.

    An output without a call, such as the answer to a question settled long ago, is left out.
    """
    known = [index for index, item in enumerate(items) if _known(item, thread)]
    made = {ids.original(item["call_id"]) for item in items if item["type"] == "function_call"}
    made |= thread.calls
    behind = items[known[-1] + 1 :] if known else items
    return [item for item in behind if not _is_output(item) or _call_of(item) in made]


def _is_output(item: Mapping[str, Any]) -> bool:
    return str(item["type"]) == "function_call_output"


def _call_of(item: Mapping[str, Any]) -> str:
    return ids.original(str(item.get("call_id", "")))


def _known(item: Mapping[str, Any], thread: Held) -> bool:
    name, call = ids.original(str(item.get("id", ""))), _call_of(item)
    match item["type"]:
        case "function_call":
            return call in thread.calls
        case "function_call_output":
            return call in thread.answered
        case "mcp_call":
            return name.removeprefix(ids.MCP_CALL) in thread.calls
    return name in thread.ids


def by_hand(thread: Held) -> list[dict[str, Any]]:
    """Messages that bring the thread in line with what was done to its conversation by hand."""
    new = [item for item in thread.put if not _known(item, thread)]
    gone = [name for name in thread.taken if name in thread.ids]
    removed = [message for name in gone for message in removal(name)]
    return removed + inbound.messages_of(new)


def removal(name: str) -> list[dict[str, Any]]:
    """Takes a message out of the thread.

    It is put there first: the turn before may take it out as well, and LangGraph refuses to
    remove what is not there.
    """
    roles = ("system", "remove")
    return [{"role": role, "content": "", "id": name} for role in roles]


def repairs(thread: Held, items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Error results for calls that a crash or a cancel left without one.

    Providers refuse every later turn of a history with an unanswered call. A busy thread is left
    alone, its calls are being answered; so are calls that ``items`` answer.
    """
    given = {_call_of(item) for item in items}
    dangling = {} if thread.busy else thread.open_calls
    return [
        {
            "role": "tool",
            "tool_call_id": call_id,
            "name": call["name"],
            "status": "error",
            "content": inbound.NO_RESULT,
        }
        for call_id, call in dangling.items()
        if call_id not in given
    ]
