"""The Response object, with every key in every snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_durable.model import TRACE_KEY, Run, RunStatus
from langgraph_durable.serde import decode

from . import ids
from .interrupts import APPROVAL_REQUEST
from .interrupts import told as told_as

ECHOED: Mapping[str, Any] = {
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "prompt": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "top_p": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "truncation": "disabled",
    "user": None,
}
"""The request's keys that a response repeats, with the value of one that was not sent."""

CUSTOM_OUTPUTS = "custom_outputs"
QUESTIONS = "__interrupt__"

_FUNCTION_TOOL = {"description": None, "parameters": None, "strict": None}
_SCHEMA_FORMAT = {"description": None, "strict": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What never changes about a response, whatever its run does.

    ``told`` are the ids of messages that earlier responses of this turn have shown, ``calls``
    the tool calls among them that still wait for a result: ``{call_id: {"name", "arguments"}}``.
    ``interrupts`` says how questions are told. ``output_key`` is the state key that answers, of a
    graph without messages.
    """

    response_id: str
    created_at: int
    model: str
    background: bool
    dialect: str
    tool_items: str
    granularity: str
    interrupts: str
    output_key: str | None
    conversation_id: str
    echo: Mapping[str, Any]
    client_tools: frozenset[str]
    told: frozenset[str]
    calls: Mapping[str, Mapping[str, str]]


def head_of(run: Run) -> Head:
    """The head of ``run``'s response; a run from another door gets the defaults."""
    data: Mapping[str, Any] = run.request.get("door_data") or {}
    echo = {**ECHOED, **data.get("echo", {})}
    return Head(
        response_id=ids.response_id(run.run_id),
        created_at=int(run.created_at.timestamp()),
        model=data.get("model") or run.graph_id,
        background=data.get("background", True),
        dialect=data.get("dialect", "openai"),
        tool_items=data.get("tool_items", "mcp_call"),
        granularity=data.get("granularity", "token"),
        interrupts=data.get("interrupts", APPROVAL_REQUEST),
        output_key=data.get("output_key"),
        conversation_id=data.get("conversation") or run.thread_id,
        echo={
            **echo,
            "tools": [_tool(tool) for tool in echo["tools"]],
            "text": {**echo["text"], "format": _format(echo["text"]["format"])},
        },
        client_tools=frozenset(tool["name"] for tool in echo["tools"] if _is_function(tool)),
        told=frozenset(data.get("told", ())),
        calls=data.get("calls", {}),
    )


def input_of(run: Run) -> list[dict[str, Any]]:
    """The items of the request; none for a run from another door."""
    return list((run.request.get("door_data") or {}).get("input", ()))


def is_stored(run: Run) -> bool:
    """May a response be asked for later? Not one of ``store: false``."""
    return bool((run.request.get("door_data") or {}).get("stored", True))


def custom_outputs(head: Head, run: Run) -> dict[str, Any]:
    """In MLflow's dialect, what the graph left in its state under ``custom_outputs``."""
    if head.dialect != "mlflow":
        return {}
    values = decode(run.output) if run.output else None
    found = values.get(CUSTOM_OUTPUTS) if isinstance(values, dict) else None
    return {CUSTOM_OUTPUTS: found if isinstance(found, dict) else None}


def trace_id(run: Run) -> str | None:
    """The trace of a run, if it is traced."""
    return run.metadata.get(TRACE_KEY)


def traced(response: Mapping[str, Any], trace: str | None) -> Mapping[str, Any]:
    """A Response that names its trace in its metadata."""
    if trace is None:
        return response
    return {**response, "metadata": {**response["metadata"], "trace_id": trace}}


def _is_function(tool: Mapping[str, Any]) -> bool:
    return tool.get("type") == "function" and "name" in tool


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**_FUNCTION_TOOL, **tool} if _is_function(tool) else tool


def _format(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**_SCHEMA_FORMAT, **given} if given.get("type") == "json_schema" else given


def snapshot(
    head: Head,
    status: str,
    output: Sequence[Mapping[str, Any]] = (),
    *,
    attempt: int = 1,
    conversation_id: str | None = None,
    **outcome: Any,
) -> dict[str, Any]:
    """The Response at one moment; ``outcome`` sets error, incomplete_details, usage, completed_at
    and custom_outputs.

    A second or later ``attempt`` is named in the metadata, as text like every value there.
    """
    metadata = dict(head.echo["metadata"])
    if attempt > 1:
        metadata["attempt"] = str(attempt)
    return {
        "id": head.response_id,
        "object": "response",
        "created_at": head.created_at,
        "completed_at": None,
        "status": status,
        "background": head.background,
        "error": None,
        "incomplete_details": None,
        "model": head.model,
        "output": list(output),
        "conversation": {"id": conversation_id or head.conversation_id},
        "usage": None,
        **head.echo,
        "metadata": metadata,
        **({CUSTOM_OUTPUTS: None} if head.dialect == "mlflow" else {}),
        **outcome,
    }


def unfinished(run: Run) -> dict[str, Any]:
    """What a poll of a run that has not ended shows: its output comes with its end, but for the
    questions that it asks while it sleeps.
    """
    head = head_of(run)
    values = decode(run.output) if run.output else None
    asked = values.get(QUESTIONS, ()) if isinstance(values, dict) else ()
    told = (each for q in asked for each in told_as(q, run_id=run.run_id, kind=head.interrupts))
    waiting = run.status is RunStatus.PENDING and run.attempt == 0 and head.background
    rotated = None if run.conversation_id == run.thread_id else run.conversation_id
    return snapshot(
        head,
        "queued" if waiting else "in_progress",
        [item.shape() for item in told],
        attempt=run.attempt,
        conversation_id=rotated if run.attempt > 1 else None,
    )


def usage(counts: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """LangChain ``usage_metadata`` of several messages as one sum; None when none was told."""
    if not counts:
        return None

    def total(key: str, detail: str | None = None) -> int:
        found = [count.get(key) for count in counts]
        if detail is not None:
            found = [(each or {}).get(detail) for each in found]
        return sum(each or 0 for each in found)

    return {
        "input_tokens": total("input_tokens"),
        "input_tokens_details": {
            "cached_tokens": total("input_token_details", "cache_read"),
            "cache_write_tokens": total("input_token_details", "cache_creation"),
        },
        "output_tokens": total("output_tokens"),
        "output_tokens_details": {"reasoning_tokens": total("output_token_details", "reasoning")},
        "total_tokens": total("total_tokens"),
    }
