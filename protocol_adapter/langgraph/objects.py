"""The engine's values in the shapes of ``langgraph_sdk.schema``. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.types import Interrupt, PregelTask, StateSnapshot

from langgraph_durable.model import Assistant, Cron, Run, RunStatus, Thread
from langgraph_durable.serde import decode, encode
from protocol_adapter.langgraph.selection import ASSISTANT_FIELDS, CRON_FIELDS, THREAD_FIELDS


def assistant_object(assistant: Assistant) -> dict[str, Any]:
    return {key: getattr(assistant, key) for key in ASSISTANT_FIELDS}


def version_object(version: Assistant) -> dict[str, Any]:
    """What an assistant said at one version; a version never changes."""
    said = assistant_object(version)
    del said["updated_at"]
    return said


def thread_object(thread: Thread) -> dict[str, Any]:
    values = None if thread.values is None else decode(thread.values)
    return {key: getattr(thread, key) for key in THREAD_FIELDS} | {"values": values}


def ttl_object(thread: Thread) -> dict[str, Any]:
    """How long a thread lives unused, when somebody asked for that; minutes."""
    if thread.ttl_minutes is None:
        return {}
    about = {"strategy": thread.ttl_strategy, "ttl_minutes": thread.ttl_minutes}
    return {"ttl": about | {"expires_at": thread.expires_at}}


def cron_object(cron: Cron) -> dict[str, Any]:
    """A Cron, its payload with the ids that its runs get."""
    config = cron.payload.get("config") or {}
    configurable = {**(config.get("configurable") or {}), "cron_id": cron.cron_id}
    keeps = "keep" if cron.request.get("keep_thread") else "delete"
    more = {
        "user_id": "",
        "on_run_completed": keeps if cron.thread_id is None else None,
        "payload": {
            **cron.payload,
            "assistant_id": cron.assistant_id,
            "config": {**config, "configurable": configurable},
        },
    }
    return {key: more[key] if key in more else getattr(cron, key) for key in CRON_FIELDS}


def run_object(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "thread_id": run.thread_id,
        "assistant_id": run.assistant_id,
        "created_at": run.created_at,
        "updated_at": run.updated_at,
        "status": run.status,
        "metadata": run.metadata,
        "kwargs": _kwargs(run),
        "multitask_strategy": run.multitask,
    }


def _kwargs(run: Run) -> dict[str, Any]:
    asked = run.request
    same = ("input", "command", "config", "context", "interrupt_before", "interrupt_after")
    return {key: asked.get(key) for key in (*same, "webhook")} | {
        "stream_mode": asked.get("stream_modes"),
        "subgraphs": asked.get("stream_subgraphs"),
        "durability": asked.get("durability"),
        "checkpoint_during": asked.get("durability") != "exit",
        "temporary": run.temporary,
        "resumable": True,
        "feedback_keys": None,
    }


def result_text(run: Run) -> str:
    """What ``wait`` and ``join`` answer: the last values, or ``__error__``; never null."""
    if run.status in (RunStatus.ERROR, RunStatus.TIMEOUT):
        return encode({"__error__": run.error})
    return run.output if run.output and run.output != "null" else "{}"


def state_object(snapshot: StateSnapshot, thread_id: str) -> dict[str, Any]:
    """A ThreadState; ``thread_id`` is the public id, whatever thread holds the checkpoint."""
    checkpoint = _checkpoint(snapshot.config, thread_id)
    parent = _checkpoint(snapshot.parent_config, thread_id)
    return {
        "values": snapshot.values,
        "next": list(snapshot.next),
        "tasks": [_task(task, thread_id) for task in snapshot.tasks],
        "metadata": snapshot.metadata,
        "created_at": snapshot.created_at,
        "checkpoint": checkpoint,
        "parent_checkpoint": parent,
        "interrupts": [interrupt_object(each) for each in snapshot.interrupts],
        "checkpoint_id": checkpoint and checkpoint["checkpoint_id"],
        "parent_checkpoint_id": parent and parent["checkpoint_id"],
    }


def empty_state(thread_id: str, asked: Mapping[str, Any] | None) -> dict[str, Any]:
    """The state of a thread that has none yet.

    A checkpoint that was ``asked`` for is echoed, without an id if only the thread was named:
    RemoteGraph always asks so, and reads the answer without looking for null.
    """
    blank = state_object(StateSnapshot({}, (), {}, None, None, None, (), ()), thread_id)
    if asked is None:
        return blank
    checkpoint = {
        "checkpoint_id": asked.get("checkpoint_id"),
        "thread_id": thread_id,
        "checkpoint_ns": asked.get("checkpoint_ns", ""),
    }
    echo = {"checkpoint": checkpoint, "checkpoint_id": checkpoint["checkpoint_id"]}
    return blank | echo | {"metadata": {}}


def updated_state(checkpoint: Mapping[str, Any], thread_id: str) -> dict[str, Any]:
    """The answer to a state update, with the deprecated keys that older clients read."""
    made = {
        "thread_id": thread_id,
        "checkpoint_ns": checkpoint.get("checkpoint_ns", ""),
        "checkpoint_id": checkpoint["checkpoint_id"],
    }
    return {"checkpoint": made, "configurable": made, "checkpoint_id": made["checkpoint_id"]}


def interrupt_object(interrupt: Interrupt) -> dict[str, Any]:
    schema = getattr(interrupt, "response_schema", None)
    extra = {} if schema is None else {"response_schema": schema}
    return {"id": interrupt.id, "value": interrupt.value, **extra}


def _task(task: PregelTask, thread_id: str) -> dict[str, Any]:
    nested = task.state if isinstance(task.state, StateSnapshot) else None
    return {
        "id": task.id,
        "name": task.name,
        "path": list(task.path),
        "error": _error(task.error),
        "interrupts": [interrupt_object(each) for each in task.interrupts],
        "checkpoint": None if nested else _checkpoint(task.state, thread_id),
        "state": nested and state_object(nested, thread_id),
        "result": task.result,
    }


def _error(error: Exception | str | None) -> str | None:
    """Its text; a task that was cancelled has not failed, it is still to be done."""
    told = error if error is None or isinstance(error, str) else repr(error)
    return None if told == "CancelledError()" else told


def _checkpoint(config: Any, thread_id: str) -> dict[str, Any] | None:
    """The checkpoint a config points at; one inside a subgraph may lack its id."""
    configurable = (config or {}).get("configurable") or {}
    if not configurable.get("checkpoint_id") and not configurable.get("checkpoint_ns"):
        return None
    found = {
        "checkpoint_id": configurable.get("checkpoint_id"),
        "thread_id": thread_id,
        "checkpoint_ns": configurable.get("checkpoint_ns", ""),
    }
    nested = configurable.get("checkpoint_map")
    return found | ({"checkpoint_map": nested} if nested else {})
