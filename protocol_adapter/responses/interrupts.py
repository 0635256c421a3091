"""People in the loop: a graph's questions as items, and answers found in the next request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from langgraph_durable.serde import encode

from . import ids
from .items import Whole
from .refusal import Refusal

_ENVELOPE = {"resume", "update", "goto"}


def approval_request(interrupt: Mapping[str, Any]) -> Whole:
    """The question of ``{"id", "value"}`` as an ``mcp_approval_request`` item."""
    body = {
        "type": "mcp_approval_request",
        "server_label": "langgraph",
        "name": "interrupt",
        "arguments": encode(interrupt.get("value")),
    }
    return Whole(item_id=f"{ids.APPROVAL}{interrupt['id']}", body=body)


def command(items: Sequence[Mapping[str, Any]], questions: Mapping[str, Any]) -> dict[str, Any]:
    """The LangGraph command in ``items`` that answers open ``questions`` (id -> value).

    Empty when nothing is answered: an answer to a settled question is none, since clients send
    their whole history again.
    """
    resume: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for item in items:
        question = _question(item)
        if question is None or question not in questions:
            continue
        if item["type"] == "mcp_approval_response":
            resume[question] = _verdict(item, questions[question])
            continue
        answer = _decoded(item.get("output"))
        if isinstance(answer, dict) and answer and answer.keys() <= _ENVELOPE:
            rest |= _edits(answer)
            if "resume" not in answer:
                continue
            answer = answer["resume"]
        resume[question] = answer
    return {**({"resume": resume} if resume else {}), **rest}


def _edits(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What an envelope writes and where it goes; refused when no graph could take it."""
    update, goto = answer.get("update"), answer.get("goto")
    if update is not None and not isinstance(update, dict):
        raise Refusal("'update' of an answer must be an object.", param="input")
    targets = goto if isinstance(goto, list) else [] if goto is None else [goto]
    for target in targets:
        node = target.get("node") if isinstance(target, dict) else target
        if not isinstance(node, str):
            raise Refusal("'goto' of an answer takes node names and {node, input}.", param="input")
    return {key: answer[key] for key in ("update", "goto") if answer.get(key)}


def _question(item: Mapping[str, Any]) -> str | None:
    match item.get("type"):
        case "mcp_approval_response":
            return str(item.get("approval_request_id")).removeprefix(ids.APPROVAL)
        case "function_call_output":
            return str(item.get("call_id")).removeprefix(ids.APPROVAL)
    return None


def _verdict(item: Mapping[str, Any], value: Any) -> Any:
    """Yes or no; for LangChain's human-in-the-loop middleware one decision for each action.

    A plain question gets a plain ``False``: most graphs test the answer's truth, and a rejection
    in an object would read as a yes.
    """
    approved = bool(item.get("approve"))
    actions = value.get("action_requests") if isinstance(value, dict) else None
    if not isinstance(actions, list):
        return approved
    decision = {"type": "approve"} if approved else {"type": "reject"}
    if not approved and item.get("reason"):
        decision["message"] = item["reason"]
    return {"decisions": [decision for _ in actions]}


def _decoded(output: Any) -> Any:
    if not isinstance(output, str):
        return output
    try:
        return orjson.loads(output)
    except orjson.JSONDecodeError:
        return output
