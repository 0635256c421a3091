"""The durable engine: everything a door may ask, and everything without HTTP.

``async with DurableEngine(graph) as engine`` submits, follows, waits for and cancels runs with
the same durability as behind a server. Asking and working meet in the ``runs`` table only.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from langchain_core.utils.uuid import uuid7
from langgraph.types import StateSnapshot

from langgraph_durable import assistants, submission, threadstate
from langgraph_durable.errors import (
    RunNotCancellable,
    RunNotFound,
    StoreUnavailable,
    ThreadBusy,
    ThreadNotFound,
    UnknownGraph,
)
from langgraph_durable.machinery import Machinery
from langgraph_durable.model import (
    BEGINNING,
    Assistant,
    Cursor,
    Event,
    Run,
    RunRequest,
    RunStatus,
    Thread,
    ThreadStatus,
)
from langgraph_durable.postgres import reading, transaction
from langgraph_durable.project import GraphSource, Project
from langgraph_durable.recovery import BuildRecoveryRequest
from langgraph_durable.settings import Settings
from langgraph_durable.store import events, responses, runs, threads

if TYPE_CHECKING:
    from langgraph_durable.embedded import EmbeddedPostgres


_log = logging.getLogger(__name__)


class DurableEngine:
    """Serves graphs durably. ``graph`` is a compiled graph, or a mapping of names to graphs.

    ``embedded`` is started and stopped with the engine. ``works`` False only asks: the runs are
    executed by other processes on the same database.
    """

    def __init__(
        self,
        graph: Any = None,
        *,
        project: Project | None = None,
        settings: Settings | None = None,
        build_recovery_request: BuildRecoveryRequest | None = None,
        embedded: EmbeddedPostgres | None = None,
        works: bool = True,
    ) -> None:
        self.project = project or Project.from_graph(graph)
        self.settings = settings or Settings()
        self.worker_id = f"{socket.gethostname()[:16]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.draining = False
        self._hook = build_recovery_request
        self._embedded = embedded
        self._works = works
        self._starting = asyncio.Lock()
        self._running: Machinery | None = None
        self._assistants = assistants.system_assistants(self.project)
        self.project.check(self.settings, hooked=build_recovery_request is not None)

    # -- life --------------------------------------------------------------------------------

    @property
    def graph_ids(self) -> Sequence[str]:
        """Names of the served graphs, in the order they were configured."""
        return list(self.project.graphs)

    @property
    def mount_prefix(self) -> str:
        return self.settings.mount_prefix

    async def __aenter__(self) -> DurableEngine:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start the database if it is embedded, migrate, and begin to work.

        Raises:
            StoreUnavailable: the database cannot be reached.
        """
        async with self._starting:
            if self._running is None:
                self.draining = False
                self._running = await Machinery.start(
                    self.project,
                    self.settings,
                    worker_id=self.worker_id,
                    build_recovery_request=self._hook,
                    embedded=self._embedded,
                    works=self._works,
                )

    async def ensure_started(self) -> None:
        """Start unless started: for apps whose lifespan does not run. Never after a stop.

        Raises StoreUnavailable as :meth:`start` does.
        """
        if self._running is None and not self.draining:
            await self.start()

    def begin_drain(self) -> None:
        """Claim nothing more, let graphs pause behind their step, close streams without an end."""
        if not self.draining and self._running is not None:
            _log.info("draining: %s claims nothing more", self.worker_id)
            self._running.begin_drain()
        self.draining = True

    async def stop(self) -> None:
        """Drain for the grace, hand back what still runs, and leave nothing behind."""
        self.begin_drain()
        if self._running is not None:
            running, self._running = self._running, None
            await running.stop(self.settings.shutdown_grace_seconds)

    async def ping(self) -> bool:
        """Does the database answer?"""
        async with reading(self._machinery.pool) as conn:
            await conn.execute("SELECT 1")
        return True

    @property
    def _machinery(self) -> Machinery:
        if self._running is None:
            raise StoreUnavailable("The server is starting or shutting down.")
        return self._running

    # -- runs --------------------------------------------------------------------------------

    async def submit(self, request: RunRequest) -> Run:
        """Make a run durable; it starts as soon as its thread and a worker are free.

        Raises:
            UnknownGraph, AssistantNotFound: nothing of that name is served here.
            ThreadNotFound: and ``if_not_exists`` does not ask to create it.
            ThreadBusy: and ``multitask`` is ``reject``.
            CheckpointNotFound: the request names a checkpoint its thread does not have.
            InvalidRequest: the request contradicts itself.
            StoreUnavailable: nothing was stored.
        """
        assistant = self._find_assistant(request.assistant)
        source = self.project.graphs[assistant.graph_id]
        run_id = request.run_id or str(uuid7())
        async with transaction(self._machinery.pool) as conn:
            await submission.submit(
                conn,
                request,
                run_id=run_id,
                assistant=assistant,
                strategy=source.strategy(self.settings),
            )
            run = await runs.get(conn, run_id)
        self._machinery.wake_worker()
        return run

    async def run(self, run_id: str, thread_id: str | None = None) -> Run:
        """Raises RunNotFound, also when the run is on another thread than ``thread_id``."""
        if not _is_uuid(run_id):
            raise RunNotFound
        async with reading(self._machinery.pool) as conn:
            run = await runs.get(conn, run_id)
            if thread_id is not None and run.thread_id != thread_id:
                with suppress(ThreadNotFound):
                    if (await threads.get(conn, thread_id)).thread_id == run.thread_id:
                        return run
                raise RunNotFound
            return run

    async def runs(
        self, thread_id: str, *, limit: int = 10, offset: int = 0, status: str | None = None
    ) -> list[Run]:
        """A thread's runs, newest first. Raises ThreadNotFound."""
        async with reading(self._machinery.pool) as conn:
            thread = await threads.get(conn, thread_id)
            return await runs.of_thread(
                conn, thread.thread_id, limit=limit, offset=offset, status=status
            )

    def follow(self, run_id: str, after: Cursor = BEGINNING) -> AsyncGenerator[list[Event], None]:
        """Batches of committed events behind ``after``, until the run's ``end`` event.

        Ends early when this process drains: the client reconnects elsewhere.
        """
        return self._machinery.followers.follow(run_id, after)

    def followers(self, run_id: str) -> int:
        """How many readers follow this run in this process."""
        return self._machinery.followers.count(run_id)

    async def wait(self, run_id: str) -> Run:
        """The run when it has ended, or unfinished when this process drains."""
        found: list[Run] = []

        async def ended() -> bool:
            found[:] = [await self.run(run_id)]
            return found[0].status.terminal

        await self._machinery.followers.until(run_id, ended)
        return found[0]

    async def cancel(
        self, run_id: str, thread_id: str | None = None, *, action: str = "interrupt"
    ) -> None:
        """Stop a run for good: at once when nobody executes it, else soon.

        Raises:
            RunNotFound: no such run.
            RunNotCancellable: it has ended already.
        """
        run = await self.run(run_id, thread_id)
        async with transaction(self._machinery.pool) as conn:
            thread = await threads.lock(conn, run.thread_id)
            row = await runs.lock(conn, run_id)
            status = RunStatus(row["status"])
            if status.terminal:
                raise RunNotCancellable
            if status is RunStatus.RUNNING:
                await runs.request_cancel(conn, run_id, action)
                await runs.announce_cancel(conn, run_id)
            else:
                await submission.end_waiting(conn, thread, row)
        self._machinery.cancel(run_id)

    async def delete_run(self, run_id: str, thread_id: str | None = None) -> None:
        """Forget a finished run and its log. Raises RunNotFound, ThreadBusy."""
        run = await self.run(run_id, thread_id)
        async with transaction(self._machinery.pool) as conn:
            await threads.lock(conn, run.thread_id)
            row = await runs.lock(conn, run_id)
            if not RunStatus(row["status"]).terminal:
                raise ThreadBusy("The run has not ended; cancel it first.")
            await runs.delete(conn, run_id)

    # -- threads -----------------------------------------------------------------------------

    async def create_thread(
        self,
        thread_id: str | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        if_exists: str = "raise",
    ) -> Thread:
        """A new idle thread. Raises ThreadExists unless ``if_exists`` is ``do_nothing``."""
        async with transaction(self._machinery.pool) as conn:
            return await threads.create(
                conn,
                thread_id or str(uuid.uuid4()),
                metadata=metadata or {},
                if_exists=if_exists,
            )

    async def thread(self, thread_id: str) -> Thread:
        """By id or by any rotated id. Raises ThreadNotFound."""
        async with reading(self._machinery.pool) as conn:
            return await threads.get(conn, thread_id)

    async def update_thread(self, thread_id: str, metadata: Mapping[str, Any]) -> Thread:
        """Merge metadata. Raises ThreadNotFound."""
        async with transaction(self._machinery.pool) as conn:
            return await threads.merge_metadata(conn, thread_id, metadata)

    async def delete_thread(self, thread_id: str) -> None:
        """Delete it with runs, logs and all checkpoints. Raises ThreadNotFound, ThreadBusy."""
        async with transaction(self._machinery.pool) as conn:
            thread = await threads.lock(conn, thread_id)
            if await runs.open_of_thread(conn, thread["thread_id"]):
                raise ThreadBusy("A run waits or runs on this thread; cancel it first.")
            await threads.delete(conn, thread["thread_id"])

    async def search_threads(self, **filters: Any) -> tuple[list[Thread], int]:
        """Threads and how many match; filters as in :func:`langgraph_durable.store.threads.search`."""
        async with reading(self._machinery.pool) as conn:
            return await threads.search(conn, **filters)

    async def state(
        self,
        thread_id: str,
        *,
        checkpoint: Mapping[str, Any] | None = None,
        subgraphs: bool = False,
    ) -> StateSnapshot | None:
        """LangGraph's snapshot; None while the thread has no graph. Raises ThreadNotFound."""
        thread = await self.thread(thread_id)
        source = self._graph_of(thread)
        if source is None:
            return None
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
        if source is None:
            return []
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

    # -- assistants --------------------------------------------------------------------------

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

    # -- the Responses door's own records ----------------------------------------------------

    async def save_response(self, response_id: str, *, run_id: str, terminal: str) -> str:
        """Store a terminal object unless one is there; answers the stored one."""
        async with transaction(self._machinery.pool) as conn:
            return await responses.save(conn, response_id, run_id=run_id, terminal=terminal)

    async def stored_response(self, response_id: str) -> str | None:
        """The stored terminal object."""
        async with reading(self._machinery.pool) as conn:
            return await responses.stored(conn, response_id)

    async def delete_response(self, run_id: str) -> None:
        """Hide a run from the Responses door. Raises RunNotFound."""
        run = await self.run(run_id)
        async with transaction(self._machinery.pool) as conn:
            await responses.delete(conn, "resp_" + run.run_id.replace("-", ""), run.run_id)

    async def response_deleted(self, run_id: str) -> bool:
        """Is the run hidden from the Responses door?"""
        async with reading(self._machinery.pool) as conn:
            return await responses.deleted(conn, run_id)

    def _find_assistant(self, id_or_graph: str) -> Assistant:
        return assistants.find(self._assistants, id_or_graph)

    def _graph_of(self, thread: Thread) -> GraphSource | None:
        graph_id = thread.metadata.get("graph_id")
        return self.project.graphs.get(graph_id) if isinstance(graph_id, str) else None


def _is_uuid(text: str) -> bool:
    """In the one spelling that ids have here; Python knows some that Postgres does not."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
