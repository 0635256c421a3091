"""A run-create body becomes a :class:`RunRequest`. Pure: no clock, no engine, no HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph_durable.errors import InvalidRequest
from langgraph_durable.model import RunRequest, Ttl
from protocol_adapter.langgraph.fields import (
    Unprocessable,
    choice,
    flag,
    mapping,
    number,
    one_of,
    seconds,
    text,
    texts,
    thread_name,
)

STREAM_MODES = (
    "values",
    "updates",
    "messages",
    "messages-tuple",
    "custom",
    "events",
    "debug",
    "tasks",
    "checkpoints",
)
RESERVED = frozenset(
    {"thread_id", "run_id", "graph_id", "assistant_id", "user_id", "conversation_id"}
    | {"checkpoint_ns", "checkpoint_map", "checkpoint_id"}
)


def parse_run(body: Mapping[str, Any], thread_id: str | None, *, attended: bool) -> RunRequest:
    """The request of one run-create body.

    ``thread_id`` None asks for a temporary thread. ``attended`` says that a client waits on the
    connection, so that ``on_disconnect`` has a meaning. Raises Unprocessable (422) for a body
    that is malformed or asks for something not supported, InvalidRequest (400) for a
    contradiction.
    """
    config, forked_from = parse_config(body)
    context = mapping(body, "context") or None
    if context and config.get("configurable"):
        raise InvalidRequest("Give either context or config.configurable, not both.")
    command = _command(body)
    if command and thread_id is None:
        raise InvalidRequest("You must provide a thread_id when resuming.")
    if_not_exists = choice(body, "if_not_exists", ("create", "reject"), "reject")
    if thread_id is not None and if_not_exists == "create":
        thread_name(thread_id)
    return RunRequest(
        assistant=_assistant(body),
        thread_id=thread_id,
        input=None if command else body.get("input"),
        command=command,
        resumes=None if command or thread_id is None else _resumes(body),
        config=config,
        context=context,
        metadata=mapping(body, "metadata"),
        stream_modes=stream_modes(body.get("stream_mode")),
        stream_subgraphs=flag(body, "stream_subgraphs") or False,
        interrupt_before=_breakpoints(body, "interrupt_before"),
        interrupt_after=_breakpoints(body, "interrupt_after"),
        checkpoint=_checkpoint(body) or forked_from,
        durability=_durability(body),
        multitask=_multitask(body),
        if_not_exists=if_not_exists,
        on_disconnect=_on_disconnect(body) if attended else "continue",
        keep_thread=choice(body, "on_completion", ("delete", "keep"), "delete") == "keep",
        after_seconds=seconds(body, "after_seconds"),
        webhook=text(body, "webhook") or None,
        strict_resume=flag(body, "strict_resume") or False,
        door="langgraph",
    )


def time_to_live(body: Mapping[str, Any]) -> Ttl | None:
    """``ttl`` as minutes, or as ``{"ttl": minutes, "strategy": "delete" | "keep_latest"}``."""
    given = body.get("ttl")
    if given is None:
        return None
    about = given if isinstance(given, dict) else {"ttl": given}
    minutes = about.get("ttl")
    if isinstance(minutes, bool) or not isinstance(minutes, (int, float)) or not 0 < minutes < 1e8:
        raise Unprocessable("'ttl' must be a positive number of minutes")
    strategy = choice(about, "strategy", ("delete", "keep_latest"), "delete")
    return Ttl(minutes=float(minutes), strategy=strategy)


def supersteps(body: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """``[{"updates": [{"values" | "command", "as_node"}]}]`` as lists of updates."""
    given = _listed(body.get("supersteps"))
    if not isinstance(given, list) or not all(isinstance(step, dict) for step in given):
        raise Unprocessable("'supersteps' must be a list of objects with 'updates'")
    steps = [_listed(step.get("updates")) for step in given]
    if not all(isinstance(s, list) and all(isinstance(u, dict) for u in s) for s in steps):
        raise Unprocessable("'updates' must be a list of objects")
    return [[_superstep_update(update) for update in step] for step in steps]


def _listed(value: Any) -> Any:
    return [] if value is None else value


def _superstep_update(update: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "values": update.get("values"),
        "command": _command(update),
        "as_node": text(update, "as_node"),
    }


def stream_modes(value: Any) -> tuple[str, ...]:
    """One mode, a list of modes, or nothing (then ``values``); repeats are dropped."""
    given = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(given, list) or not all(isinstance(mode, str) for mode in given):
        raise Unprocessable("'stream_mode' must be a string or a list of strings")
    modes = dict.fromkeys(one_of("stream_mode", mode, STREAM_MODES) for mode in given)
    return tuple(modes) or ("values",)


def checkpoint_of(value: Any, key: str = "checkpoint") -> dict[str, Any] | None:
    """What is left of a client's checkpoint object: None when it only names the thread.

    It may be a config that holds one, or both at once as long as they agree.
    """
    given = mapping({key: value}, key)
    inner, outer = _place(mapping(given, "configurable")), _place(given)
    for name in inner.keys() & outer.keys():
        if inner[name] != outer[name]:
            raise Unprocessable(f"'{key}' has two values of '{name}'")
    return outer | inner or None


def _place(given: Mapping[str, Any]) -> dict[str, Any]:
    nested = mapping(given, "checkpoint_map")
    for namespace in nested:
        text(nested, namespace)
    kept = {
        "checkpoint_id": text(given, "checkpoint_id"),
        "checkpoint_ns": text(given, "checkpoint_ns"),
        "checkpoint_map": nested,
    }
    return {name: found for name, found in kept.items() if found}


def _assistant(body: Mapping[str, Any]) -> str:
    found = text(body, "assistant_id")
    if not found:
        raise Unprocessable("'assistant_id' is required: an assistant id or a graph name")
    return found


def parse_config(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The config without what the server sets itself, and the checkpoint it may have named."""
    config = mapping(body, "config")
    mapping(config, "metadata")
    texts(config, "tags")
    number(config, "recursion_limit", 1, low=1, high=2**31 - 1)
    configurable = mapping(config, "configurable")
    forked_from = checkpoint_of(configurable) if configurable.get("checkpoint_id") else None
    kept = {k: v for k, v in configurable.items() if not _reserved(k)}
    rest = {k: v for k, v in config.items() if k != "configurable" and v is not None}
    return ({**rest, "configurable": kept} if kept else rest), forked_from


def _reserved(key: str) -> bool:
    return key in RESERVED or key.startswith(("__", "langgraph_auth_", "langgraph_request_"))


def _checkpoint(body: Mapping[str, Any]) -> dict[str, Any] | None:
    checkpoint = checkpoint_of(body.get("checkpoint"))
    checkpoint_id = text(body, "checkpoint_id")
    if checkpoint_id and not (checkpoint or {}).get("checkpoint_id"):
        return {**(checkpoint or {}), "checkpoint_id": checkpoint_id}
    return checkpoint


def _command(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parts of the command that say something; an answer of False or "" is an answer.

    Its ``graph`` can say nothing: what a client calls has no parent, and is no other graph.
    """
    command = mapping(body, "command")
    if command.get("graph") is not None:
        raise Unprocessable("'command.graph' must be null: a command goes to the run's own graph")
    found: dict[str, Any] = {}
    if command.get("resume") is not None:
        found["resume"] = command["resume"]
    if update := _update(command.get("update")):
        found["update"] = update
    if goto := _goto(command.get("goto")):
        found["goto"] = goto
    return found or None


def _resumes(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answers of a graph around a RemoteGraph that is resumed; None unless it is.

    The client then repeats its input and passes the answers on under LangGraph's private names.
    """
    configurable = mapping(mapping(body, "config"), "configurable")
    if configurable.get("__pregel_resuming") is not True:
        return None
    answers = configurable.get("__pregel_resume_map")
    return answers if isinstance(answers, dict) else {}


def _update(value: Any) -> Any:
    pairs = isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in value
    )
    if value is not None and not pairs and not isinstance(value, dict):
        raise Unprocessable("'command.update' must be an object or a list of [key, value] pairs")
    return value


def _goto(value: Any) -> Any:
    targets = _listed(value)
    for target in targets if isinstance(targets, list) else [targets]:
        send = isinstance(target, dict) and isinstance(target.get("node"), str)
        if not send and not isinstance(target, str):
            raise Unprocessable("'command.goto' takes node names and {node, input} objects")
    return value


def _breakpoints(body: Mapping[str, Any], key: str) -> str | list[str] | None:
    value = body.get(key)
    if value in ("*", ["*"]):
        return "*"
    return ([value] if isinstance(value, str) else texts(body, key)) or None


def _durability(body: Mapping[str, Any]) -> str:
    during = flag(body, "checkpoint_during")
    default = "sync" if during is None else "async" if during else "exit"
    return choice(body, "durability", ("sync", "async", "exit"), default)


def _multitask(body: Mapping[str, Any]) -> str:
    known = ("enqueue", "reject", "interrupt", "rollback")
    return choice(body, "multitask_strategy", known, "enqueue")


def _on_disconnect(body: Mapping[str, Any]) -> str:
    return choice(body, "on_disconnect", ("cancel", "continue"), "continue")
