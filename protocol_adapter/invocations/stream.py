"""A run's log as the events of its invocation. Pure: each event of the log is one event here,
under the same number, so a cursor means the same at every moment and in every process.

``run.queued``, ``run.started``, ``run.recovered`` (a later attempt goes on), ``run.asked``
(it sleeps, and a person may answer it meanwhile) and one last
``run.<status>`` frame what the graph emits: LangGraph's parts under the names of their modes, and
what its code writes to ``get_stream_writer()`` under that value's own ``type``, else as
``message``.
"""

from __future__ import annotations

import re
from typing import Any

from langgraph_durable.model import Event, Run
from langgraph_durable.serde import decode, encode

from .objects import identity, invocation

_LIFE = {"started": "run.started", "recovered": "run.recovered", "asked": "run.asked"}
_TYPE = re.compile(r"(?!run\.)[A-Za-z][\w.:/-]{0,99}", re.ASCII)
_MODES = frozenset(
    {"values", "updates", "messages", "custom", "events", "debug", "tasks", "checkpoints"}
    | {"checkpoint"}
)


def told(event: Event, run: Run) -> tuple[str, str]:
    """Name and JSON text of an event; ``run`` has ended when the event is its ``end``."""
    if event.name == "created":
        return "run.queued", encode(identity(run))
    if event.name == "end":
        ended = invocation(run)
        return f"run.{ended['status']}", encode(ended)
    if event.mode == "custom":
        return _type_of(decode(event.data)), event.data
    return _LIFE.get(event.name, event.name), event.data


def _type_of(value: Any) -> str:
    """The name a value gives itself, unless it would pass for somebody else's."""
    name = value.get("type") if isinstance(value, dict) else None
    fits = isinstance(name, str) and name not in _MODES and _TYPE.fullmatch(name)
    return str(name) if fits else "message"
