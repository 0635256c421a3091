"""What the graphs behind the assistants look like."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from langgraph_durable import graph_views
from langgraph_durable.engine.assistants import Assistants
from langgraph_durable.graphs import GraphSource


class Graphs(Assistants):
    """The graphs, each as its assistant configures it.

    All raise AssistantNotFound and UnknownGraph, and InvalidRequest when a factory cannot make
    its graph from the assistant's config.
    """

    async def schemas(self, id_or_graph: str) -> dict[str, Any]:
        """JSON schemas of a graph: input, output, state, config and context, each or None."""
        source, config = await self._graph_behind(id_or_graph)
        return await self._machinery.loops.call(lambda _: graph_views.schemas(source, config))

    async def subgraphs(
        self, id_or_graph: str, *, namespace: str | None = None, recurse: bool = False
    ) -> dict[str, Any]:
        """The same of its subgraphs, by namespace; of one of them, if it is there."""
        source, config = await self._graph_behind(id_or_graph)
        return await self._machinery.loops.call(
            lambda _: graph_views.subgraphs(source, config, namespace=namespace, recurse=recurse)
        )

    async def graph_json(self, id_or_graph: str, *, xray: bool | int = False) -> dict[str, Any]:
        """The drawable graph as ``{"nodes", "edges"}``."""
        source, config = await self._graph_behind(id_or_graph)
        return await self._machinery.loops.call(
            lambda _: graph_views.drawing(source, config, xray=xray)
        )

    async def _graph_behind(self, id_or_graph: str) -> tuple[GraphSource, RunnableConfig]:
        found = await self.assistant(id_or_graph)
        configurable = dict(found.config.get("configurable") or {})
        return self.project.graphs[found.graph_id], {"configurable": configurable}
