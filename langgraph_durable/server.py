"""Three lines of code: a graph, a strategy, an ASGI app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from importlib import import_module
from typing import Any

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import RecoveryStrategy
from langgraph_durable.settings import Settings


class DurableServer:
    """Serves ``graph``, or several when it maps names to graphs, over both protocols.

    Without a database address, given or in the environment, an embedded PostgreSQL keeps its
    data under ``.langgraph_durable`` in the current folder. Nothing starts before the app does.

    Raises ProjectError or SettingsError naming every problem.
    """

    def __init__(
        self,
        graph: Any,
        *,
        recovery: RecoveryStrategy | str | None = None,
        database_url: str | None = None,
        settings: Settings | None = None,
        build_recovery_request: Callable[..., Any] | None = None,
        name: str = "agent",
    ) -> None:
        self.engine = DurableEngine(
            graph,
            name=name,
            recovery=recovery,
            database_url=database_url,
            settings=settings,
            build_recovery_request=build_recovery_request,
        )
        self.settings = self.engine.settings

    @cached_property
    def app(self) -> Any:
        """The ASGI app: serve it, or mount it (then pass ``lifespan`` to the app around it)."""
        # By name: the engine knows no HTTP, and this is its one way to the front door.
        return import_module("protocol_adapter.app").create_app(self.engine)

    @asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncIterator[None]:
        """Starts and stops the engine: ``FastAPI(lifespan=server.lifespan)``, or inside yours."""
        await self.engine.start()
        try:
            yield
        finally:
            await self.engine.stop()
