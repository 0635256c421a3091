"""The parts of an answer that a client asked for: columns, state keys, values at paths. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from protocol_adapter.langgraph.fields import Unprocessable

ASSISTANT_FIELDS = (
    *("assistant_id", "graph_id", "name", "description", "config", "context", "metadata"),
    *("version", "created_at", "updated_at"),
)
THREAD_FIELDS = (
    *("thread_id", "created_at", "updated_at", "state_updated_at", "metadata", "status"),
    *("config", "values", "interrupts", "error"),
)
RUN_FIELDS = (
    *("run_id", "thread_id", "assistant_id", "created_at", "updated_at", "status"),
    *("metadata", "kwargs", "multitask_strategy"),
)
CRON_FIELDS = (
    *("cron_id", "assistant_id", "thread_id", "user_id", "end_time", "schedule", "timezone"),
    *("payload", "next_run_date", "metadata", "on_run_completed", "enabled"),
    *("created_at", "updated_at"),
)
STATE_FIELDS = (
    *("values", "next", "tasks", "metadata", "created_at", "checkpoint", "parent_checkpoint"),
    *("interrupts", "checkpoint_id", "parent_checkpoint_id"),
)
THREAD_COLUMNS = (*THREAD_FIELDS, "context")
RUN_COLUMNS = (*RUN_FIELDS, "cancel_reason")
CRON_COLUMNS = (*CRON_FIELDS, "now")
"""With what the clients' own lists of columns name besides: null where rows here do not have it."""


def select(row: Mapping[str, Any], keys: Iterable[str] | None) -> dict[str, Any]:
    """Only the asked columns of a row, all without ``keys``."""
    return dict(row) if not keys else {key: row.get(key) for key in keys}


def select_state(state: Mapping[str, Any], keys: Iterable[str] | None) -> dict[str, Any]:
    """Only the asked fields of a state; ``values.<key>`` asks for one state key."""
    if not keys:
        return dict(state)
    selected: dict[str, Any] = {}
    for key in keys:
        field, _, inner = key.partition(".")
        if not inner:
            selected[field] = state[field]
        elif isinstance(state[field], Mapping) and inner in state[field]:
            selected.setdefault(field, {})[inner] = state[field][inner]
        else:
            selected.setdefault(field, {})
    return selected


def check_columns(keys: Iterable[str] | None, known: Collection[str]) -> None:
    """Raises Unprocessable for a column nobody has."""
    for key in keys or ():
        if key not in known:
            raise Unprocessable(f"'select' does not know the column {key!r}")


def check_state_keys(keys: Iterable[str] | None) -> None:
    """Raises Unprocessable for what is neither a field of a state nor a key of its values."""
    for key in keys or ():
        if key not in STATE_FIELDS and not key.startswith("values."):
            raise Unprocessable(f"'select' does not know the field {key!r}")


_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+)\]")


def extract(row: Mapping[str, Any], paths: Mapping[str, str]) -> dict[str, Any]:
    """Values at paths such as ``values.messages[-1].content``; null where there is nothing."""
    return {alias: _at(row, path) for alias, path in paths.items()}


def _at(value: Any, path: str) -> Any:
    for name, index in _STEP.findall(path):
        try:
            value = value[int(index)] if index else value[name]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value
