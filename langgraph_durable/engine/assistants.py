"""Assistants: read, make, change, forget."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_durable import assistants
from langgraph_durable.engine.started import Started
from langgraph_durable.errors import AssistantProtected, InvalidAssistantId, ThreadBusy
from langgraph_durable.model import Assistant
from langgraph_durable.postgres import reading, transaction
from langgraph_durable.store import assistants as store
from langgraph_durable.store import runs, threads


class Assistants(Started):
    """The engine's assistants: those of its graphs, and those that clients made."""

    @property
    def graph_ids(self) -> Sequence[str]:
        """Names of the served graphs, in the order they were configured."""
        return list(self.project.graphs)

    async def assistant(self, id_or_graph: str) -> Assistant:
        """By id or graph name. Raises AssistantNotFound, UnknownGraph."""
        async with reading(self._machinery.pool) as conn:
            return await self._find_assistant(conn, id_or_graph)

    async def search_assistants(self, **filters: Any) -> tuple[list[Assistant], int]:
        """Assistants and how many match. Filters: see ``langgraph_durable.store.assistants``."""
        async with reading(self._machinery.pool) as conn:
            return await store.search(conn, self.graph_ids, **filters)

    async def create_assistant(
        self,
        graph_id: str,
        *,
        assistant_id: str | None = None,
        if_exists: str = "raise",
        **told: Any,
    ) -> Assistant:
        """A new assistant. ``told``: name, description, config, context, metadata.

        Raises:
            GraphNotFound: no such graph is served.
            AssistantExists: the id is taken and ``if_exists`` is not ``do_nothing``.
            InvalidAssistantId: it is no UUID.
            InvalidRequest: the context contradicts the config.
        """
        assistants.check_served(graph_id, self.project.graphs)
        if assistant_id is not None and not assistants.is_id(assistant_id):
            raise InvalidAssistantId
        made = assistants.made(
            (assistant_id or str(uuid.uuid4())).lower(), graph_id=graph_id, **told
        )
        async with transaction(self._machinery.pool) as conn:
            return await store.create(conn, made, self.graph_ids, if_exists=if_exists)

    async def update_assistant(self, id_or_graph: str, **told: Any) -> Assistant:
        """A new version. ``told``: graph_id, name, description, config, context, metadata.

        Raises AssistantNotFound, UnknownGraph, GraphNotFound, InvalidRequest.
        """
        if told.get("graph_id"):
            assistants.check_served(told["graph_id"], self.project.graphs)
        assistant_id = self._assistant_id(id_or_graph)
        async with transaction(self._machinery.pool) as conn:
            held = await store.lock(conn, assistant_id, self.graph_ids)
            changed = assistants.changed(held, **told)
            return await store.add_version(conn, changed, self.graph_ids)

    async def delete_assistant(self, id_or_graph: str, *, delete_threads: bool = False) -> None:
        """Forget it, and with ``delete_threads`` the threads that last ran with it.

        Raises:
            AssistantNotFound, UnknownGraph: there is none.
            AssistantProtected: it is a graph's own.
            ThreadBusy: a run waits or runs on such a thread; nothing was deleted.
        """
        assistant = await self.assistant(id_or_graph)
        assistant_id = assistant.assistant_id
        if assistant_id in map(assistants.system_id, self.graph_ids):
            raise AssistantProtected
        async with transaction(self._machinery.pool) as conn:
            doomed = await store.lock_threads(conn, assistant_id) if delete_threads else []
            for thread_id in doomed:
                if await runs.open_of_thread(conn, thread_id):
                    raise ThreadBusy(f"A run waits or runs on thread {thread_id}; cancel it first.")
                await threads.delete(conn, thread_id)
            await store.delete(conn, assistant_id)

    async def assistant_versions(
        self,
        id_or_graph: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[Assistant]:
        """What it said at each version, newest first. Raises AssistantNotFound, UnknownGraph."""
        async with reading(self._machinery.pool) as conn:
            found = await self._find_assistant(conn, id_or_graph)
            return await store.versions(
                conn, found.assistant_id, metadata=metadata or {}, limit=limit, offset=offset
            )

    async def set_assistant_version(self, id_or_graph: str, version: int) -> Assistant:
        """All that it said at a version holds again. Raises AssistantNotFound, UnknownGraph."""
        async with transaction(self._machinery.pool) as conn:
            found = await self._find_assistant(conn, id_or_graph)
            return await store.set_version(conn, found.assistant_id, version, self.graph_ids)
