"""Arguments for every parameter of the SDK. A parameter without one here is new, and fails."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from langgraph_sdk.schema import Command, RunCreate

PATHS = {
    "thread_id": "t-1",
    "run_id": "r-1",
    "assistant_id": "a-1",
    "cron_id": "c-1",
    "checkpoint_id": "p-1",
    "namespace": "n-1",
}
"""Values that mark the place of a name in a path."""
THREAD = {"thread_id": "t-1"}
RUN = {**THREAD, "run_id": "r-1"}
ASSISTANT = {"assistant_id": "a-1"}
CRON = {**ASSISTANT, "schedule": "0 12 1 1 *"}
RUNS = ({**THREAD, "assistant_id": "echo"}, {"thread_id": None, "assistant_id": "echo"})
"""A run of a thread, and one without."""

REQUIRED: dict[str, dict[str, Any]] = {
    "assistants.create": {"graph_id": "echo"},
    **dict.fromkeys(
        [
            f"assistants.{name}"
            for name in ("delete", "get", "get_graph", "get_schemas", "get_subgraphs")
        ],
        ASSISTANT,
    ),
    "assistants.get_versions": ASSISTANT,
    "assistants.set_latest": {**ASSISTANT, "version": 1},
    "assistants.update": ASSISTANT,
    **dict.fromkeys(
        [f"threads.{name}" for name in ("copy", "delete", "get", "get_history", "join_stream")],
        THREAD,
    ),
    "threads.get_state": THREAD,
    "threads.prune": {"thread_ids": ["t-1"]},
    "threads.update": {**THREAD, "metadata": {}},
    "threads.update_state": {**THREAD, "values": None},
    **dict.fromkeys(
        [f"runs.{name}" for name in ("cancel", "delete", "get", "join", "join_stream")], RUN
    ),
    "runs.create_batch": {"payloads": [dict.fromkeys(RunCreate.__annotations__, "echo")]},
    "runs.list": THREAD,
    "crons.create": CRON,
    "crons.create_for_thread": {**CRON, **THREAD},
    "crons.delete": {"cron_id": "c-1"},
    "crons.update": {"cron_id": "c-1"},
    "store.delete_item": {"namespace": ["a"], "key": "k"},
    "store.get_item": {"namespace": ["a"], "key": "k"},
    "store.put_item": {"namespace": ["a"], "key": "k", "value": {}},
    "store.search_items": {"namespace_prefix": ["a"]},
}
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "runs.create": RUNS,
    "runs.stream": RUNS,
    "runs.wait": RUNS,
    "threads.get_state": (
        {},
        {"checkpoint": {"checkpoint_id": "p-1"}},
        {"checkpoint_id": "p-1"},
    ),
    "assistants.get_subgraphs": ({}, {"namespace": "n-1"}),
}
"""Calls that go to different endpoints by what they are given."""

ANY: dict[str, Any] = {
    "after_seconds": 1,
    "action": "rollback",
    "as_node": "n",
    "assistant_id": "a-1",
    "cancel_on_disconnect": True,
    "checkpoint": {"checkpoint_id": "p-1"},
    "checkpoint_during": False,
    "checkpoint_id": "p-1",
    "command": Command(resume="yes"),
    "config": {"configurable": {"k": 1}},
    "context": {"k": 1},
    "cron_id": "c-1",
    "delete_threads": True,
    "description": "d",
    "durability": "exit",
    "enabled": False,
    "end_time": datetime(2030, 1, 1, tzinfo=UTC),
    "extract": {"n": "values.x"},
    "feedback_keys": ["up"],
    "filter": {"a": 1},
    "graph_id": "echo",
    "headers": {"x-probe": "1"},
    "ids": ["t-1"],
    "if_exists": "do_nothing",
    "if_not_exists": "create",
    "include": ["ttl"],
    "index": False,
    "input": {"x": 1},
    "interrupt_after": ["echo"],
    "interrupt_before": ["echo"],
    "key": "k2",
    "langsmith_tracing": {"project_name": "p"},
    "last_event_id": "7",
    "limit": 3,
    "max_depth": 2,
    "metadata": {"m": 1},
    "multitask_strategy": "reject",
    "name": "n",
    "offset": 2,
    "on_completion": "keep",
    "on_disconnect": "cancel",
    "on_run_completed": "keep",
    "on_run_created": lambda made: None,
    "params": {"probe": "1"},
    "query": "q",
    "raise_error": False,
    "recurse": True,
    "refresh_ttl": True,
    "response_format": "object",
    "return_minimal": True,
    "run_id": "r-1",
    "schedule": "5 * * * *",
    "select": ["metadata"],
    "sort_by": "created_at",
    "sort_order": "asc",
    "status": "pending",
    "stream_mode": "custom",
    "stream_resumable": True,
    "stream_subgraphs": True,
    "strict_resume": True,
    "subgraphs": True,
    "suffix": ["z"],
    "supersteps": [{"updates": [{"values": {"x": 1}, "as_node": "echo"}]}],
    "thread_id": "t-1",
    "timezone": "Europe/Rome",
    "ttl": 5,
    "values": {"x": 1},
    "version": 2,
    "wait": True,
    "webhook": "http://127.0.0.1:9/hook",
    "xray": True,
}
ONLY: dict[str, dict[str, Any]] = {
    "assistants.create": {"assistant_id": {"assistant_id": "a-2"}},
    "assistants.get_subgraphs": {"namespace": {"namespace": "n-1"}},
    "runs.cancel_many": {
        "thread_id": {"thread_id": "t-1", "run_ids": ["r-1"]},
        "run_ids": {"thread_id": "t-1", "run_ids": ["r-1"]},
        "action": {"status": "all", "action": "rollback"},
    },
    "runs.create_batch": {"payloads": {"payloads": [{"assistant_id": "slow"}]}},
    "runs.stream": {"version": {"version": "v2"}},
    "store.put_item": {"value": {"value": {"a": 1}}},
    "store.list_namespaces": {"prefix": {"prefix": ["a"]}},
    "threads.get_history": {"before": {"before": "p-1"}},
    "threads.join_stream": {"stream_mode": {"stream_mode": "lifecycle"}},
    "threads.prune": {
        "thread_ids": {"thread_ids": ["t-2"]},
        "strategy": {"strategy": "keep_latest"},
    },
    "threads.search": {"status": {"status": "idle"}},
    "threads.count": {"status": {"status": "idle"}},
}
"""What one method's parameter needs beside itself, or takes in a form of its own."""
NAMESPACES = {"namespace": ["a", "b"], "namespace_prefix": ["a", "b"]}


def sample(method: str, parameter: str) -> dict[str, Any]:
    """The arguments that give this parameter a value. A parameter nobody knows is a KeyError."""
    if parameter in ONLY.get(method, {}):
        return dict(ONLY[method][parameter])
    if method.startswith("store.") and parameter in NAMESPACES:
        return {parameter: NAMESPACES[parameter]}
    if parameter not in ANY:
        raise KeyError(f"{method} has a new parameter {parameter!r}: give it a sample and a proof")
    return {parameter: ANY[parameter]}
