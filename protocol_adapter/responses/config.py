"""The ``responses`` section of langgraph.json: what holds where a request does not say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_durable.errors import ProjectError

from . import interrupts

TOOL_ITEMS = ("mcp_call", "function_call")
GRANULARITIES = ("token", "item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """``tool_items`` None: as the request's dialect has it. ``inputs`` and ``outputs`` name, for
    graphs without a ``messages`` channel, the key that takes the input and the one that answers."""

    tool_items: str | None = None
    stream_granularity: str = "token"
    interrupts: str = interrupts.APPROVAL_REQUEST
    inputs: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)


_CHOICES = {
    "tool_items": TOOL_ITEMS,
    "stream_granularity": GRANULARITIES,
    "interrupts": interrupts.KINDS,
}


def read_defaults(section: Any, graph_ids: Collection[str]) -> Defaults:
    """``{tool_items, stream_granularity, interrupts, graphs: {name: {input, output}}}``.

    Raises ProjectError listing everything that is wrong.
    """
    given = section if isinstance(section, dict) else {}
    problems = [] if isinstance(section, (dict, type(None))) else ["responses: must be an object"]
    for key, value in given.items():
        if key not in {*_CHOICES, "graphs"}:
            problems.append(f"responses.{key}: unknown")
        elif key in _CHOICES and value not in _CHOICES[key]:
            problems.append(f"responses.{key}: must be one of {', '.join(_CHOICES[key])}")
    keys = _keys(given.get("graphs", {}), graph_ids, problems)
    if problems:
        raise ProjectError("\n".join(problems))
    chosen = {key: given[key] for key in _CHOICES if key in given}
    return Defaults(**chosen, inputs=keys["input"], outputs=keys["output"])


def _keys(
    graphs: Any, graph_ids: Collection[str], problems: list[str]
) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {"input": {}, "output": {}}
    if not isinstance(graphs, dict):
        problems.append("responses.graphs: must be an object")
        return found
    for name, entry in graphs.items():
        if name not in graph_ids:
            problems.append(f"responses.graphs.{name}: no graph is called so")
        for key, value in entry.items() if isinstance(entry, dict) else [("", None)]:
            if key in found and isinstance(value, str) and value:
                found[key][name] = value
            else:
                problems.append(f'responses.graphs.{name}: must be {{"input": key, "output": key}}')
    return found
