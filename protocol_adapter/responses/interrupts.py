"""People in the loop: a graph's questions as items, and answers found in the next request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langgraph_durable.serde import encode, received

from . import ids
from .ids import Question
from .items import Whole
from .refusal import Refusal

APPROVAL_REQUEST = "mcp_approval_request"
FUNCTION_CALL = "function_call"
KINDS = (APPROVAL_REQUEST, FUNCTION_CALL)
"""How a question may be told: what a client declares decides, else the server's default."""

SERVER_LABEL = "langgraph"
TOOL = "langgraph_interrupt"
"""A client that declares a function of this name wants questions as calls of it."""

Item = Mapping[str, Any]
_ANSWERS = ("function_call_output", "mcp_approval_response")
_ENVELOPE = {"resume", "update", "goto"}


def kind_for(tools: Sequence[Item], default: str) -> str:
    """How a client that declares ``tools`` takes questions."""
    for tool in tools:
        if tool.get("type") == "mcp" and tool.get("server_label") == SERVER_LABEL:
            return APPROVAL_REQUEST
        if tool.get("type") == "function" and tool.get("name") == TOOL:
            return FUNCTION_CALL
    return default


def told(interrupt: Item, *, run_id: str | None, kind: str) -> Iterator[Whole]:
    """The question of ``{"id", "value"}`` as items.

    One that lists actions (LangChain's human-in-the-loop middleware) is told as one approval for
    each, under the tool's own name.
    """
    asked = Question(interrupt_id=str(interrupt["id"]), run_id=run_id)
    value = interrupt.get("value")
    if kind == FUNCTION_CALL:
        yield _call(ids.question_name(asked), {"interrupt_id": interrupt["id"], "value": value})
        return
    actions = actions_of(value)
    if actions is None:
        yield _request(ids.question_name(asked), "interrupt", value)
    for number, action in enumerate(actions or ()):
        name = Question(interrupt_id=asked.interrupt_id, run_id=run_id, action=number)
        yield _request(ids.question_name(name), str(action.get("name")), action.get("args"))


def _request(item_id: str, name: str, arguments: Any) -> Whole:
    body = {
        "type": APPROVAL_REQUEST,
        "server_label": SERVER_LABEL,
        "name": name,
        "arguments": encode(arguments),
    }
    return Whole(item_id=item_id, body=body)


def _call(call_id: str, arguments: Any) -> Whole:
    body = {
        "type": FUNCTION_CALL,
        "call_id": call_id,
        "name": TOOL,
        "arguments": encode(arguments),
        "status": "completed",
    }
    return Whole(item_id=f"fc_{call_id}", body=body)


def actions_of(value: Any) -> list[Item] | None:
    """The actions that a question lists, of which there may be 255; None when it lists none."""
    actions = value.get("action_requests") if isinstance(value, dict) else None
    if not isinstance(actions, list) or not 0 < len(actions) < 256:
        return None
    return actions if all(isinstance(action, dict) for action in actions) else None


def name_in(item: Item) -> str:
    """What an answer calls its question; empty for other items."""
    match item.get("type"):
        case "mcp_approval_response":
            return str(item.get("approval_request_id"))
        case "function_call_output":
            return ids.original(str(item.get("call_id")))
    return ""


def question_of(item: Item) -> Question | None:
    """The question that an item may answer."""
    name = name_in(item)
    return ids.question_of(name) if name else None


def last_answers(items: Sequence[Item]) -> list[Item]:
    """The answers that a request ends with: behind them nobody says anything."""
    count = 0
    while count < len(items) and items[-1 - count].get("type") in _ANSWERS:
        count += 1
    return list(items[len(items) - count :])


def command(items: Sequence[Item], questions: Mapping[str, Any]) -> dict[str, Any]:
    """The LangGraph command in ``items`` that answers open ``questions`` (id -> value).

    Empty when nothing is answered: an answer to a settled question is none, since clients send
    their whole history again.
    """
    resume: dict[str, Any] = {}
    edits: dict[str, Any] = {}
    decisions: dict[str, dict[int, Any]] = {}
    for item in items:
        question = question_of(item)
        if question is None or question.interrupt_id not in questions:
            continue
        value = questions[question.interrupt_id]
        if question.action is not None:
            if question.action < len(actions_of(value) or ()):
                decided = decisions.setdefault(question.interrupt_id, {})
                decided[question.action] = _decision(item)
            continue
        answer = answer_of(item, question, value)
        if _is_envelope(answer):
            edits |= _edits(answer)
            if "resume" not in answer:
                continue
        resume[question.interrupt_id] = resumed(answer)
    for interrupt_id, decided in decisions.items():
        resume[interrupt_id] = _all_decisions(questions[interrupt_id], decided)
    return {**({"resume": resume} if resume else {}), **edits}


def answer_of(item: Item, question: Question | None, value: Any) -> Any:
    """What one item answers to a question with this value.

    Yes or no; to a list of actions one decision for each. A plain question gets a plain
    ``False``: most graphs test the answer's truth, and a rejection in an object would read as yes.
    """
    actions = actions_of(value)
    if item["type"] == "function_call_output":
        one = actions is not None and question is not None and question.action is not None
        return {"decisions": [_decision(item)]} if one else _decoded(item.get("output"))
    if actions is None:
        return bool(item.get("approve"))
    return {"decisions": [_decision(item) for _ in actions]}


def resumed(answer: Any) -> Any:
    """What of an answer the question gets: an envelope may hold more."""
    return answer.get("resume") if _is_envelope(answer) else answer


def _is_envelope(answer: Any) -> bool:
    return isinstance(answer, dict) and bool(answer) and answer.keys() <= _ENVELOPE


def _decision(item: Item) -> Any:
    """One action's decision: from an approval, or whatever a client has written itself."""
    if item["type"] == "function_call_output":
        given = _decoded(item.get("output"))
        if isinstance(given, bool):
            return {"type": "approve" if given else "reject"}
        if not isinstance(given, dict):
            # Any guess at what a text means would be a guess at an approval.
            raise Refusal("A decision is true, false or an object with a 'type'.", param="input")
        return given
    if item.get("approve"):
        return {"type": "approve"}
    reason = item.get("reason")
    return {"type": "reject", **({"message": reason} if reason else {})}


def _all_decisions(value: Any, decided: Mapping[int, Any]) -> dict[str, Any]:
    actions = actions_of(value) or []
    missing = [n for n in range(len(actions)) if n not in decided]
    if missing:
        raise Refusal(
            f"The graph asks about {len(actions)} actions together; {len(missing)} of them are"
            " not answered.",
            param="input",
            code="incomplete_answer",
        )
    return {"decisions": [decided[n] for n in range(len(actions))]}


def _edits(answer: Item) -> dict[str, Any]:
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


def _decoded(output: Any) -> Any:
    if not isinstance(output, str):
        return output
    try:
        return received(output.encode())
    except ValueError:
        return output
