"""What the ``state.*`` commands of the agent streaming protocol read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.types import StateSnapshot

from langgraph_durable.engine import DurableEngine
from protocol_adapter.langgraph.fields import number, text, texts

Params = Mapping[str, Any]


async def state_of(engine: DurableEngine, thread_id: str, params: Params) -> dict[str, Any]:
    """``state.get {namespace, keys?}``: values, and the checkpoint they are of."""
    keys = texts(params, "keys")
    snapshot = await engine.state(thread_id, checkpoint=_namespace(params))
    values = snapshot.values if snapshot is not None else {}
    if keys is not None and isinstance(values, dict):
        values = {key: values[key] for key in keys if key in values}
    if snapshot is None:
        return {"values": values}
    return {"values": values, "checkpoint": _reference(snapshot)}


async def checkpoints_of(engine: DurableEngine, thread_id: str, params: Params) -> dict[str, Any]:
    """``state.listCheckpoints {namespace?, limit?, before?}``, newest first."""
    history = await engine.history(
        thread_id,
        limit=number(params, "limit", 10, low=1, high=1000),
        before=text(params, "before"),
        checkpoint=_namespace(params),
    )
    return {"checkpoints": [_summary(snapshot) for snapshot in history]}


def _namespace(params: Params) -> dict[str, Any] | None:
    namespace = texts(params, "namespace")
    return {"checkpoint_ns": "|".join(namespace)} if namespace else None


def _reference(snapshot: StateSnapshot) -> dict[str, Any]:
    place = snapshot.config["configurable"]
    return {"id": place.get("checkpoint_id"), "ns": place.get("checkpoint_ns", "")}


def _summary(snapshot: StateSnapshot) -> dict[str, Any]:
    metadata = dict(snapshot.metadata or {})
    return {
        "id": snapshot.config["configurable"].get("checkpoint_id"),
        "timestamp": snapshot.created_at,
        "step": metadata.get("step"),
        "metadata": metadata,
    }
