"""What a graph looks like to somebody who does not run it: schemas, subgraphs, a drawing."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from pydantic import TypeAdapter

from langgraph_durable.graphs import GraphSource

READ = "assistants.read"


async def schemas(source: GraphSource, config: RunnableConfig) -> dict[str, Any]:
    """JSON schemas by name: input, output, state, config and context, each or None."""
    async with source.read(config, access=READ) as graph:
        return {"graph_id": source.name, **_schemas(graph)}


async def subgraphs(
    source: GraphSource, config: RunnableConfig, *, namespace: str | None, recurse: bool
) -> dict[str, Any]:
    """The schemas of the subgraphs by their namespace, such as ``parent|child``.

    ``namespace`` asks for one of them only; a nested one needs ``recurse``.
    """
    async with source.read(config, access=READ) as graph:
        found = graph.aget_subgraphs(namespace=namespace, recurse=recurse)
        return {name: _schemas(inner) async for name, inner in found}


async def drawing(
    source: GraphSource, config: RunnableConfig, *, xray: bool | int
) -> dict[str, Any]:
    """The drawable graph as ``{"nodes", "edges"}``."""
    async with source.read(config, access=READ) as graph:
        return (await graph.aget_graph(xray=xray)).to_json()


def _schemas(graph: Any) -> dict[str, Any]:
    makers = {
        "input_schema": lambda: graph.get_input_jsonschema(),
        "output_schema": lambda: graph.get_output_jsonschema(),
        "state_schema": lambda: _state_schema(graph),
        "config_schema": lambda: graph.config_schema().model_json_schema(),
        "context_schema": lambda: graph.get_context_jsonschema(),
    }
    return {name: _attempted(make) for name, make in makers.items()}


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
