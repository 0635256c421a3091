"""Assistants and what their graphs look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_durable import assistants
from langgraph_durable.engine.started import Started
from langgraph_durable.model import Assistant


class Graphs(Started):
    """The engine's assistants, one per graph."""

    @property
    def graph_ids(self) -> Sequence[str]:
        """Names of the served graphs, in the order they were configured."""
        return list(self.project.graphs)

    async def assistant(self, id_or_graph: str) -> Assistant:
        """By id or graph name. Raises AssistantNotFound, UnknownGraph."""
        return self._find_assistant(id_or_graph)

    async def search_assistants(
        self,
        *,
        metadata: Mapping[str, Any] | None = None,
        graph_id: str | None = None,
        name: str | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> tuple[list[Assistant], int]:
        """Matching assistants and how many there are in all."""
        found = [
            a
            for a in self._assistants.values()
            if assistants.matches(a, metadata=metadata, graph_id=graph_id, name=name)
        ]
        return found[offset : offset + limit], len(found)

    async def schemas(self, id_or_graph: str) -> dict[str, Any]:
        """JSON schemas of a graph: input, output, state, config and context, each or None."""
        source = self.project.graphs[self._find_assistant(id_or_graph).graph_id]
        return await self._machinery.loops.call(lambda _: assistants.schemas(source))

    async def graph_json(self, id_or_graph: str, *, xray: bool | int = False) -> dict[str, Any]:
        """The drawable graph as ``{"nodes", "edges"}``."""
        source = self.project.graphs[self._find_assistant(id_or_graph).graph_id]
        return await self._machinery.loops.call(lambda _: assistants.drawing(source, xray))
