"""Runs and events for the pure tests of this door."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from langgraph_durable.model import Event, RecoveryStrategy, Run, RunStatus
from langgraph_durable.serde import encode

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def run(**changed: Any) -> Run:
    """A finished run of ``echo``, changed here and there."""
    usual: dict[str, Any] = {
        "run_id": "r1",
        "thread_id": "t1",
        "conversation_id": "t1",
        "assistant_id": "a1",
        "graph_id": "echo",
        "status": RunStatus.SUCCESS,
        "attempt": 1,
        "crashes": 0,
        "multitask": "enqueue",
        "temporary": False,
        "strategy": RecoveryStrategy.AGENT_SESSION,
        "metadata": {},
        "request": {"stream_modes": ["values"], "stream_subgraphs": False},
        "cancel_action": None,
        "next_seq": 6,
        "output": '{"x":1}',
        "error": None,
        "created_at": NOON,
        "updated_at": NOON,
        "started_at": NOON,
        "finished_at": NOON,
    }
    return Run(**{**usual, **changed})


def log(*parts: tuple[str, Any]) -> list[Event]:
    """A log of named parts, dense from 0."""
    return [
        Event(run_id="r1", seq=seq, attempt=1, name=name, data=encode(data))
        for seq, (name, data) in enumerate(parts)
    ]
