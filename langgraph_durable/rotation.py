"""EVENT_LOG's rotation: a new checkpoint thread that starts where the crashed run began."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph_durable.eventlog.change import Statement
from langgraph_durable.serde import encode
from langgraph_durable.sql import statements

_CHECKPOINTS = statements("checkpoints")
_THREADS = statements("threads")


def rotation_statements(
    *, thread_id: str, source: str, name: str, number: int, entry: Mapping[str, Any]
) -> list[Statement]:
    """Copy what the entry names from ``source`` to ``name`` and make it the thread's own.

    Earlier turns, other state and approvals live on; nothing of the crashed run does.
    """
    found: list[Statement] = []
    if entry["greatest"] is not None:
        copy = {
            "source": source,
            "name": name,
            "greatest": entry["greatest"],
            "pending": encode(entry["pending"]),
        }
        found += [
            (_CHECKPOINTS[step], copy) for step in ("copy_checkpoints", "copy_blobs", "copy_writes")
        ]
    rotated = {"thread_id": thread_id, "name": name, "rotation": number}
    return [*found, (_THREADS["add_alias"], rotated), (_THREADS["rotate"], rotated)]
