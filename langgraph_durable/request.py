"""A stored request becomes what LangGraph takes: config, input, command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Send

from langgraph_durable.model import RunRequest

RESERVED = frozenset(
    {"thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map", "run_id", "graph_id"}
    | {"assistant_id", "conversation_id"}
)
"""Configurable keys that only the server sets; a client's are dropped."""

_NAMES = tuple(f.name for f in fields(RunRequest))
_FIELDS = frozenset(_NAMES)


def stored(request: RunRequest) -> dict[str, Any]:
    """The request as its run keeps it."""
    return {name: getattr(request, name) for name in _NAMES}


def restored(data: Mapping[str, Any]) -> RunRequest:
    """The request of a stored run; keys of other releases are left out."""
    return RunRequest(**{k: v for k, v in data.items() if k in _FIELDS})


def woken(request: RunRequest, answers: Mapping[str, Any]) -> RunRequest:
    """What a run goes on with that slept: what woke it. Its own input has been used up."""
    return replace(
        request, input=None, command={"resume": dict(answers)}, resumes=None, checkpoint=None
    )


def client_configurable(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a client may configure: neither the server's own keys nor LangGraph's private ones."""
    given = config.get("configurable") or {}
    return {k: v for k, v in given.items() if not _is_own(k)}


def _is_own(key: str) -> bool:
    return key in RESERVED or key.startswith("__")


def run_config(
    request: RunRequest,
    *,
    run_id: str,
    thread_id: str,
    conversation_id: str,
    graph_id: str,
    assistant_id: str,
) -> RunnableConfig:
    """The config of every attempt. ``thread_id`` is the checkpoint thread in use now.

    ``run_id`` goes into ``configurable``: there LangGraph recognises a repeated input.
    Request headers count more than what the client writes under the same names.
    """
    given = dict(request.config)
    configurable = client_configurable(given)
    ids = {"run_id": run_id, "graph_id": graph_id, "assistant_id": assistant_id}
    config: RunnableConfig = {
        "configurable": {
            **configurable,
            **{k: v for k, v in request.headers.items() if not _is_own(k)},
            **ids,
            "thread_id": thread_id,
            "conversation_id": conversation_id,
        },
        "metadata": {**(given.get("metadata") or {}), **request.metadata, **ids},
        "tags": list(given.get("tags") or ()),
    }
    if given.get("recursion_limit"):
        config["recursion_limit"] = int(given["recursion_limit"])
    return config


def logged_modes(request: RunRequest) -> set[str]:
    """What the client wants to read, under the names of the log."""
    names = {"messages-tuple": "messages"}
    return {names.get(mode, mode) for mode in request.stream_modes}


def has_edits(request: RunRequest) -> bool:
    """Does its command update the state or go somewhere?"""
    command = request.command or {}
    return bool(command.get("goto")) or command.get("update") is not None


def answers(request: RunRequest) -> bool:
    """Does its command answer a question? ``None`` is no answer."""
    return bool(request.command) and (request.command or {}).get("resume") is not None


def as_command(request: RunRequest, resume: Mapping[str, Any], *, edit: bool) -> Command[Any]:
    """LangGraph's command: answers by question id, update and goto only if they still apply."""
    given = request.command or {}
    return Command(
        resume=dict(resume) or None,
        update=_update(given.get("update")) if edit else None,
        goto=_goto(given.get("goto")) if edit else (),
    )


def breakpoints(given: str | Sequence[str] | None, own: Any) -> Any:
    """A run's own breakpoints replace the graph's; ``*`` is every node."""
    chosen = own if given is None else given
    if chosen == "*" or (isinstance(chosen, Sequence) and "*" in chosen):
        return "*"
    return list(chosen)


def _update(update: Any) -> Any:
    if isinstance(update, list) and all(isinstance(p, list) and len(p) == 2 for p in update):
        return [(p[0], p[1]) for p in update]
    return update


def _goto(goto: Any) -> Any:
    if isinstance(goto, list):
        return [_one(g) for g in goto]
    return _one(goto) if goto else ()


def _one(goto: Any) -> Any:
    if isinstance(goto, Mapping):
        return Send(goto["node"], goto.get("input"))
    return goto
