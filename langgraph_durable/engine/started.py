"""What every part of the engine asks through."""

from __future__ import annotations

from psycopg import AsyncConnection

from langgraph_durable import assistants
from langgraph_durable.errors import StoreUnavailable
from langgraph_durable.machinery import Machinery
from langgraph_durable.model import Assistant, Thread
from langgraph_durable.postgres import Row
from langgraph_durable.project import GraphSource, Project
from langgraph_durable.settings import Settings
from langgraph_durable.store import assistants as store


class Started:
    """The served project, and the machinery once it runs."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self.project = project
        self.settings = settings
        self.draining = False
        self._running: Machinery | None = None

    @property
    def _machinery(self) -> Machinery:
        if self._running is None:
            raise StoreUnavailable("The server is starting or shutting down.")
        return self._running

    def _assistant_id(self, id_or_graph: str) -> str:
        return assistants.known_id(id_or_graph, self.project.graphs)

    async def _find_assistant(self, conn: AsyncConnection[Row], id_or_graph: str) -> Assistant:
        return await store.get(conn, self._assistant_id(id_or_graph), list(self.project.graphs))

    def _graph_of(self, thread: Thread) -> GraphSource | None:
        graph_id = thread.metadata.get("graph_id")
        return self.project.graphs.get(graph_id) if isinstance(graph_id, str) else None
