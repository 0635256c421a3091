"""What every part of the engine asks through."""

from __future__ import annotations

from langgraph_durable import assistants
from langgraph_durable.errors import StoreUnavailable
from langgraph_durable.machinery import Machinery
from langgraph_durable.model import Assistant, Thread
from langgraph_durable.project import GraphSource, Project
from langgraph_durable.settings import Settings


class Started:
    """The served project, and the machinery once it runs."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self.project = project
        self.settings = settings
        self._running: Machinery | None = None
        self._assistants = assistants.system_assistants(project)

    @property
    def _machinery(self) -> Machinery:
        if self._running is None:
            raise StoreUnavailable("The server is starting or shutting down.")
        return self._running

    def _find_assistant(self, id_or_graph: str) -> Assistant:
        return assistants.find(self._assistants, id_or_graph)

    def _graph_of(self, thread: Thread) -> GraphSource | None:
        graph_id = thread.metadata.get("graph_id")
        return self.project.graphs.get(graph_id) if isinstance(graph_id, str) else None
