"""What a request brings beside its answer to a question of the graph; none of it gets lost.

The run goes on inside of the node that asked. A result of the client's own tool may come along: it
belongs behind its call, where the graph's state takes it. A message may not: it would stand in
front of the results of the calls that were asked about, an order which providers refuse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import history, ids, inbound
from .history import Held
from .refusal import Refusal

Item = Mapping[str, Any]


def with_results(command: Mapping[str, Any], items: Sequence[Item], thread: Held) -> dict[str, Any]:
    """``command``, which answers questions of ``thread``, and the results that ``items`` bring.

    Raises Refusal for messages that are new to the thread.
    """
    new = history.fresh(_behind_the_question(items, thread), thread)
    if any(item["type"] == "message" and item["role"] != "assistant" for item in new):
        raise Refusal(
            "The run that asked goes on with the answer and cannot hear a message beside it:"
            " send the answer alone, and the message in the request behind it.",
            param="input",
            code="message_beside_answer",
        )
    results = inbound.messages_of([item for item in new if _is_result(item, thread)])
    if not results:
        return dict(command)
    update = command.get("update") or {}
    written = update.get("messages", [])
    written = written if isinstance(written, list) else [written]
    return {**command, "update": {**update, "messages": [*results, *written]}}


def _behind_the_question(items: Sequence[Item], thread: Held) -> Sequence[Item]:
    """What comes behind the last telling of an open question: what comes before it is history,
    sent once more by a client that keeps it. Without one there is no history."""
    told = [index for index, item in enumerate(items) if _tells(item, thread)]
    return items[told[-1] + 1 :] if told else items


def _tells(item: Item, thread: Held) -> bool:
    names = {"mcp_approval_request": "id", "function_call": "call_id"}
    name = ids.original(str(item.get(names.get(item["type"], ""), "")))
    return ids.question_of(name).interrupt_id in thread.questions


def _is_result(item: Item, thread: Held) -> bool:
    call = ids.original(str(item.get("call_id", "")))
    return item["type"] == "function_call_output" and call in thread.open_calls
