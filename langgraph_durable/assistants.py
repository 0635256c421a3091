"""Assistants: one per served graph, with the ids and shapes of the official server."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from langchain_core.runnables import RunnableConfig
from pydantic import TypeAdapter

from langgraph_durable.errors import AssistantNotFound, UnknownGraph
from langgraph_durable.model import Assistant
from langgraph_durable.project import GraphSource, Project

NAMESPACE = uuid.UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
"""Under which the official server makes a graph's assistant id from its name."""

READ = "assistants.read"
NOBODY: RunnableConfig = {"configurable": {}}
"""What a factory is given when its graph is only looked at."""


def system_assistants(project: Project) -> dict[str, Assistant]:
    """One assistant per graph by its id, which is the same on every server and restart."""
    now = datetime.now(UTC)
    found = [_system(name, source, now) for name, source in project.graphs.items()]
    return {a.assistant_id: a for a in found}


def _system(name: str, source: GraphSource, now: datetime) -> Assistant:
    return Assistant(
        assistant_id=str(uuid.uuid5(NAMESPACE, name)),
        graph_id=name,
        name=name,
        description=source.description,
        config={},
        context={},
        metadata={"created_by": "system"},
        version=1,
        created_at=now,
        updated_at=now,
    )


def find(assistants: Mapping[str, Assistant], id_or_graph: str) -> Assistant:
    """By id or by graph name.

    Raises:
        AssistantNotFound: an id nobody has.
        UnknownGraph: a name no graph has.
    """
    if found := assistants.get(id_or_graph):
        return found
    for assistant in assistants.values():
        if assistant.graph_id == id_or_graph:
            return assistant
    with suppress(ValueError):
        uuid.UUID(id_or_graph)
        raise AssistantNotFound
    names = ", ".join(sorted(a.graph_id for a in assistants.values()))
    raise UnknownGraph(
        f"Invalid assistant: '{id_or_graph}'. Must be an assistant id or one of the graphs: {names}"
    )


def matches(
    assistant: Assistant,
    *,
    metadata: Mapping[str, Any] | None,
    graph_id: str | None,
    name: str | None,
) -> bool:
    """Do the filters of a search admit it?"""
    return (
        all(assistant.metadata.get(k) == v for k, v in (metadata or {}).items())
        and graph_id in (None, assistant.graph_id)
        and (name or "").lower() in assistant.name.lower()
    )


async def schemas(source: GraphSource) -> dict[str, Any]:
    """JSON schemas by name: input, output, state, config and context, each or None."""
    async with source.read(NOBODY, access=READ) as graph:
        makers = {
            "input_schema": graph.get_input_jsonschema,
            "output_schema": graph.get_output_jsonschema,
            "state_schema": lambda: _state_schema(graph),
            "config_schema": lambda: _config_schema(graph),
            "context_schema": graph.get_context_jsonschema,
        }
        return {"graph_id": source.name, **{k: _attempted(m) for k, m in makers.items()}}


def _attempted(make: Any) -> Any:
    """A schema, or None where the graph's types have none."""
    try:
        return make()
    except Exception:
        return None


def _state_schema(graph: Any) -> Any:
    schema = getattr(getattr(graph, "builder", None), "state_schema", None)
    if schema is None:
        return graph.get_output_jsonschema()
    return TypeAdapter(schema).json_schema()


def _config_schema(graph: Any) -> Any:
    return graph.config_schema().model_json_schema()


async def drawing(source: GraphSource, xray: bool | int) -> dict[str, Any]:
    """The drawable graph as ``{"nodes", "edges"}``."""
    async with source.read(NOBODY, access=READ) as graph:
        return (await graph.aget_graph(xray=xray)).to_json()
