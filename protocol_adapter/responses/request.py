"""A request's body as a :class:`RunRequest`: everything is acted on, echoed or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from langgraph_durable.model import RunRequest

from . import beside, history, inbound, interrupts
from .config import GRANULARITIES, TOOL_ITEMS, Defaults
from .conversation import Conversation
from .history import Held
from .objects import ECHOED
from .refusal import Refusal, model_not_found
from .stream import PROJECTION_VERSION

TYPES: Mapping[str, tuple[type, ...]] = {
    "background": (bool,),
    "context": (dict,),
    "conversation": (str, dict),
    "custom_inputs": (dict,),
    "frequency_penalty": (int, float),
    "input": (str, list),
    "instructions": (str,),
    "max_output_tokens": (int,),
    "max_tool_calls": (int,),
    "metadata": (dict,),
    "model": (str,),
    "parallel_tool_calls": (bool,),
    "presence_penalty": (int, float),
    "previous_response_id": (str,),
    "prompt": (dict,),
    "prompt_cache_key": (str,),
    "reasoning": (dict,),
    "safety_identifier": (str,),
    "service_tier": (str,),
    "store": (bool,),
    "stream": (bool,),
    "stream_granularity": (str,),
    "temperature": (int, float),
    "text": (dict,),
    "tool_choice": (str, dict),
    "tool_items": (str,),
    "tools": (list,),
    "top_logprobs": (int,),
    "top_p": (int, float),
    "truncation": (str,),
    "user": (str,),
}
_NAMES = {
    bool: "a boolean",
    dict: "an object",
    float: "a number",
    int: "an integer",
    list: "a list",
    str: "a string",
}
_ANSWERS = ("function_call_output", "mcp_approval_response")
_INSTRUCTIONS = "instructions"
"""The id of the system message that carries ``instructions``: a turn replaces the last one's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A checked body, its null keys left out, and its input as a list of items."""

    body: Mapping[str, Any]
    items: Sequence[Mapping[str, Any]]

    @property
    def background(self) -> bool:
        return bool(self.body.get("background", False))

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream", False))

    @property
    def dialect(self) -> str:
        """``mlflow`` for clients of MLflow's agent servers: each frame names its response."""
        return "mlflow" if "custom_inputs" in self.body or "context" in self.body else "openai"

    @property
    def stored(self) -> bool:
        """May the response be asked for later?"""
        return bool(self.body.get("store", True))

    @property
    def digest(self) -> str:
        """What tells this request from any other; the order of keys does not."""
        return sha256(orjson.dumps(self.body, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def tool_items(self, defaults: Defaults) -> str:
        """How tools that the graph runs itself are shown."""
        default = "function_call" if self.dialect == "mlflow" else "mcp_call"
        return str(self.body.get("tool_items", defaults.tool_items or default))


def read(body: Any) -> Asked:
    """Checks a decoded body; raises :class:`Refusal` naming the first key that does not do."""
    if not isinstance(body, dict):
        raise Refusal("The body must be a JSON object.")
    given = {key: value for key, value in body.items() if value is not None}
    for key, value in given.items():
        _check_type(key, value)
    if "input" not in given:
        raise Refusal("'input' is required.", param="input", code="missing_required_parameter")
    if given.get("background") and given.get("store") is False:
        raise Refusal("A background response has to be stored.", param="store")
    for key, choices in (("tool_items", TOOL_ITEMS), ("stream_granularity", GRANULARITIES)):
        if given.get(key, choices[0]) not in choices:
            raise Refusal(f"'{key}' must be one of {', '.join(choices)}.", param=key)
    check_metadata(given.get("metadata", {}))
    _check_tools(given.get("tools", ()))
    if not isinstance(given.get("text", {}).get("format") or {}, dict):
        raise Refusal("'text.format' must be an object.", param="text.format", code="invalid_type")
    return Asked(body=given, items=inbound.items_of(given["input"]))


def _check_type(key: str, value: Any) -> None:
    wanted = TYPES.get(key)
    misfit = isinstance(value, bool) and wanted is not None and bool not in wanted
    if wanted is None or (isinstance(value, wanted) and not misfit):
        return
    names = " or ".join(_NAMES[each] for each in wanted)
    raise Refusal(f"'{key}' must be {names}.", param=key, code="invalid_type")


def check_metadata(metadata: Mapping[str, Any]) -> None:
    """At most 16 pairs, their values strings. Raises Refusal."""
    if len(metadata) > 16:
        raise Refusal("'metadata' takes at most 16 pairs.", param="metadata")
    for key, value in metadata.items():
        if not isinstance(value, str):
            raise Refusal("Values of 'metadata' must be strings.", param=f"metadata.{key}")


def _check_tools(tools: Sequence[Any]) -> None:
    for index, tool in enumerate(tools):
        if not isinstance(tool, dict) or not isinstance(tool.get("type"), str):
            raise Refusal("A tool must be an object with a 'type'.", param=f"tools[{index}]")
        if tool["type"] == "function" and not isinstance(tool.get("name"), str):
            raise Refusal("A function tool must have a 'name'.", param=f"tools[{index}].name")


def graph_of(model: str | None, graph_ids: Sequence[str]) -> str:
    """The graph that ``model`` selects: a served name; any name where one graph is served."""
    if model in graph_ids or (model is not None and len(graph_ids) > 1):
        if model not in graph_ids:
            raise model_not_found(str(model), graph_ids)
        return str(model)
    return graph_ids[0]


def run_request(
    asked: Asked,
    *,
    run_id: str,
    graph: str,
    conversation: Conversation,
    thread: Held,
    defaults: Defaults,
    idempotency_key: str | None = None,
) -> RunRequest:
    """What the engine is asked for: a new turn, or the answer to the thread's open question."""
    open_items = [i for i in asked.items if interrupts.name_in(i) not in thread.settled]
    command = interrupts.command(open_items, thread.questions)
    if command:
        command = beside.with_results(command, asked.items, thread)
    told = {"told": thread.turn, "calls": dict(thread.open_calls)} if command else {}
    passing = conversation.new and not asked.stored
    return RunRequest(
        assistant=graph,
        thread_id=None if passing else conversation.id,
        run_id=run_id,
        input=None if command else _input(asked, thread, defaults.inputs.get(graph)),
        command=command or None,
        config={"configurable": {"responses": _handed(asked.body)}},
        metadata=asked.body.get("metadata", {}),
        stream_modes=("messages-tuple", "updates", "custom"),
        stream_subgraphs=True,
        if_not_exists="create",
        keep_thread=not passing,
        idempotency_key=idempotency_key,
        request_hash=asked.digest if idempotency_key else None,
        door="responses",
        door_data={
            "projection_version": PROJECTION_VERSION,
            "dialect": asked.dialect,
            "tool_items": asked.tool_items(defaults),
            "granularity": asked.body.get("stream_granularity", defaults.stream_granularity),
            "interrupts": interrupts.kind_for(asked.body.get("tools", ()), defaults.interrupts),
            "output_key": defaults.outputs.get(graph),
            "background": asked.background,
            "stream": asked.stream,
            "stored": asked.stored,
            "model": asked.body.get("model", graph),
            "conversation": conversation.id,
            "echo": _echo(asked.body),
            "input": inbound.named(asked.items, run_id),
            **told,
        },
    )


def _input(asked: Asked, thread: Held, key: str | None) -> dict[str, Any]:
    """The graph's input: messages, or what a person said last under the ``key`` it takes."""
    messages = _messages(asked, thread)
    if key is None:
        return {"messages": messages}
    said = [message["content"] for message in messages if message["role"] == "user"]
    return {key: said[-1] if said else ""}


def _messages(asked: Asked, thread: Held) -> list[dict[str, Any]]:
    items = history.fresh(asked.items, thread)
    new = inbound.messages_of(items)
    if not new and any(item["type"] in _ANSWERS for item in asked.items):
        raise Refusal(
            "Nothing waits for this answer: no such question or tool call is open here.",
            param="input",
            code="nothing_to_answer",
        )
    before = history.by_hand(thread) + history.repairs(thread, items)
    if instructions := asked.body.get("instructions"):
        before.append({"role": "system", "content": instructions, "id": _INSTRUCTIONS})
    elif _INSTRUCTIONS in thread.ids:
        before += history.removal(_INSTRUCTIONS)
    return before + new


def _handed(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a graph may read of the request, under ``configurable["responses"]``."""
    keys = (*ECHOED, "model", "custom_inputs", "context")
    return {key: body[key] for key in keys if key in body}


def _echo(body: Mapping[str, Any]) -> dict[str, Any]:
    """The echoed keys that were sent, an object filled up with the keys it lacks."""
    sent = {key: body[key] for key in ECHOED if key in body}
    for key in ("reasoning", "text"):
        if key in sent:
            given = {name: value for name, value in sent[key].items() if value is not None}
            sent[key] = {**ECHOED[key], **given}
    return sent
