"""An invocation is named by its client, in any text; a run is named by a UUID."""

from __future__ import annotations

from uuid import UUID, uuid5

from langgraph_durable.model import Run

_NAMES = UUID("8c3a4b46-9d8e-5d0c-9a51-3f0f6b1f7a2e")
LONGEST = 512


def run_id(invocation_id: str) -> str:
    """The run behind an invocation: of the same name when that is a UUID, else made from it."""
    try:
        if str(UUID(invocation_id)) == invocation_id:
            return invocation_id
    except ValueError:
        pass
    return str(uuid5(_NAMES, invocation_id))


def invocation_id(run: Run) -> str:
    """The name a client gave; the run's own for runs of another door."""
    return str((run.request.get("door_data") or {}).get("invocation") or run.run_id)


def is_name(text: str) -> bool:
    """Does it fit into one segment of a path?"""
    return 0 < len(text) <= LONGEST and text.isprintable() and "/" not in text
