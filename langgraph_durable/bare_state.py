"""The state of a thread whose graph is not served any more, as its checkpoints alone tell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.types import StateSnapshot

from langgraph_durable.changed import come_next
from langgraph_durable.loops import GraphLoop
from langgraph_durable.postgres import reaching

_OWN = ("branch:to:", "join:", "__")
"""How LangGraph's channels begin that are nobody's state."""


async def read_bare_state(place: GraphLoop, config: RunnableConfig) -> StateSnapshot | None:
    """The newest checkpoint, or the one that ``config`` names; None when there is none."""
    with reaching():
        found = await AsyncPostgresSaver(place.pool).aget_tuple(config)
    return None if found is None else _snapshot(found)


async def read_bare_history(
    place: GraphLoop,
    config: RunnableConfig,
    *,
    limit: int,
    before: RunnableConfig | None,
    metadata: Mapping[str, Any] | None,
) -> list[StateSnapshot]:
    """Checkpoints newest first."""
    listed = AsyncPostgresSaver(place.pool).alist(
        config, filter=dict(metadata or {}) or None, before=before, limit=limit
    )
    with reaching():
        return [_snapshot(found) async for found in listed]


def _snapshot(found: CheckpointTuple) -> StateSnapshot:
    values = found.checkpoint["channel_values"]
    return StateSnapshot(
        values={name: value for name, value in values.items() if not name.startswith(_OWN)},
        next=tuple(come_next(values)),
        config=found.config,
        metadata=found.metadata,
        created_at=found.checkpoint["ts"],
        parent_config=found.parent_config,
        tasks=(),
        interrupts=(),
    )
