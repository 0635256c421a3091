"""Threads: rows, states, histories, edits by hand."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from langgraph.types import StateSnapshot

from langgraph_durable import pruning, threadstate
from langgraph_durable.engine.started import Started
from langgraph_durable.errors import ThreadBusy, ThreadNotFound, UnknownGraph
from langgraph_durable.model import Thread, Ttl
from langgraph_durable.postgres import reading, transaction
from langgraph_durable.rotation import copy_statements
from langgraph_durable.store import checkpoints, responses, runs, threads


class Threads(Started):
    """The engine's threads."""

    async def create_thread(
        self,
        thread_id: str | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        if_exists: str = "raise",
        ttl: Ttl | None = None,
    ) -> Thread:
        """A new idle thread, with the project's life time unless it has a ``ttl`` of its own.

        Raises ThreadExists unless ``if_exists`` is ``do_nothing``.
        """
        async with reading(self._machinery.pool) as conn:  # a single statement
            return await threads.create(
                conn,
                thread_id or str(uuid.uuid4()),
                metadata=metadata or {},
                if_exists=if_exists,
                ttl=ttl or self.project.threads.ttl,
            )

    async def create_thread_with(
        self,
        thread_id: str | None,
        supersteps: Sequence[Sequence[Mapping[str, Any]]],
        *,
        metadata: Mapping[str, Any],
        if_exists: str = "raise",
        ttl: Ttl | None = None,
    ) -> Thread:
        """A new thread whose state is made of supersteps: lists of updates.

        An update has ``values`` or ``command``, and ``as_node``. ``metadata.graph_id`` names the
        graph. Raises ThreadExists, UnknownGraph, InvalidRequest; then there is no thread.
        """
        graph_id = metadata.get("graph_id")
        source = self.project.graphs.get(graph_id) if isinstance(graph_id, str) else None
        if source is None:
            raise UnknownGraph("metadata.graph_id must name a served graph to apply supersteps.")
        return await self._machinery.loops.call(
            lambda place: threadstate.create_with(
                place,
                source,
                thread_id or str(uuid.uuid4()),
                supersteps,
                metadata=metadata,
                if_exists=if_exists,
                ttl=ttl or self.project.threads.ttl,
            )
        )

    async def copy_thread(self, thread_id: str) -> Thread:
        """A new thread with this one's state, history and metadata, without its runs.

        Allowed while a run executes: the copy begins at what is durable now. Raises ThreadNotFound.
        """
        async with transaction(self._machinery.pool) as conn:
            row = await threads.lock(conn, thread_id)
            name, ttl = str(uuid.uuid4()), self.project.threads.ttl
            copy = await threads.insert_copy(conn, row["thread_id"], name, ttl=ttl)
            await responses.copy_items(conn, row["thread_id"], name, whole=True)
            source = row["checkpoint_thread_id"]
            entry = await checkpoints.entry(conn, source)
            for statement, parameters in copy_statements(
                source=source, name=copy.thread_id, entry=entry
            ):
                await conn.execute(statement, parameters)
            return copy

    async def prune_threads(self, thread_ids: Sequence[str], *, strategy: str = "delete") -> int:
        """Delete threads, or all of their checkpoints but the latest; answers how many.

        ``strategy`` is ``delete`` or ``keep_latest``. Unknown ids are passed over.
        Raises ThreadBusy when a run waits or runs on one of them; those before it are pruned.
        """
        pruned = 0
        for thread_id in thread_ids:
            with suppress(ThreadNotFound):
                await self._prune(thread_id, strategy)
                pruned += 1
        return pruned

    async def _prune(self, thread_id: str, strategy: str) -> None:
        if strategy == "delete":
            await self.delete_thread(thread_id)
            return
        pool = self._machinery.pool
        async with transaction(pool) as conn:
            row = await threads.lock(conn, thread_id)
            if await runs.open_of_thread(conn, row["thread_id"]):
                raise ThreadBusy
            await pruning.keep_latest(conn, pool, row)

    async def thread(self, thread_id: str) -> Thread:
        """By id or by any rotated id. Raises ThreadNotFound."""
        async with reading(self._machinery.pool) as conn:
            return await threads.get(conn, thread_id)

    async def update_thread(
        self, thread_id: str, metadata: Mapping[str, Any], *, ttl: Ttl | None = None
    ) -> Thread:
        """Merge metadata; give it a life time of its own. Raises ThreadNotFound."""
        async with transaction(self._machinery.pool) as conn:
            thread = await threads.merge_metadata(conn, thread_id, metadata)
            return thread if ttl is None else await threads.set_ttl(conn, thread_id, ttl)

    async def delete_thread(self, thread_id: str) -> None:
        """Delete it with runs, logs and all checkpoints. Raises ThreadNotFound, ThreadBusy."""
        async with transaction(self._machinery.pool) as conn:
            thread = await threads.lock(conn, thread_id)
            if await runs.open_of_thread(conn, thread["thread_id"]):
                raise ThreadBusy("A run waits or runs on this thread; cancel it first.")
            await threads.delete(conn, thread["thread_id"])

    async def search_threads(self, **filters: Any) -> tuple[list[Thread], int]:
        """Threads and how many match. Filters: see ``langgraph_durable.store.threads.search``."""
        async with reading(self._machinery.pool) as conn:
            return await threads.search(conn, **filters)

    async def state(
        self,
        thread_id: str,
        *,
        checkpoint: Mapping[str, Any] | None = None,
        subgraphs: bool = False,
    ) -> StateSnapshot | None:
        """LangGraph's snapshot; None while the thread has no state. Raises ThreadNotFound."""
        thread = await self.thread(thread_id)
        source = self._graph_of(thread)
        return await self._machinery.loops.call(
            lambda place: threadstate.read_state(
                place, source, thread, checkpoint=checkpoint, subgraphs=subgraphs
            )
        )

    async def history(
        self,
        thread_id: str,
        *,
        limit: int = 10,
        before: Mapping[str, Any] | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        checkpoint: Mapping[str, Any] | None = None,
    ) -> list[StateSnapshot]:
        """Snapshots, newest first. ``before`` is a checkpoint id, a checkpoint or a config."""
        thread = await self.thread(thread_id)
        source = self._graph_of(thread)
        return await self._machinery.loops.call(
            lambda place: threadstate.read_history(
                place,
                source,
                thread,
                limit=limit,
                before=threadstate.before_config(before),
                metadata=metadata,
                checkpoint=checkpoint,
            )
        )

    async def update_state(
        self,
        thread_id: str,
        values: Any,
        *,
        as_node: str | None = None,
        checkpoint: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Write a checkpoint by hand; answers ``{"thread_id", "checkpoint_ns", "checkpoint_id"}``.

        Raises ThreadNotFound, ThreadBusy, CheckpointNotFound, InvalidRequest.
        """
        thread = await self.thread(thread_id)
        source = self._graph_of(thread)
        if source is None:
            raise UnknownGraph(f"Thread {thread_id} has no graph yet.")
        return await self._machinery.loops.call(
            lambda place: threadstate.edit_state(
                place, source, thread_id, values, as_node=as_node, checkpoint=checkpoint
            )
        )
