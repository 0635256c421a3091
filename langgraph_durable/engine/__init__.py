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
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langgraph_durable.engine.crons import Crons
from langgraph_durable.engine.direct import Direct
from langgraph_durable.engine.graphs import Graphs
from langgraph_durable.engine.responses import Responses
from langgraph_durable.engine.signals import Signals
from langgraph_durable.engine.store import Store
from langgraph_durable.engine.threadlog import ThreadLog
from langgraph_durable.engine.threads import Threads
from langgraph_durable.machinery import Machinery
from langgraph_durable.model import Numbers, RecoveryStrategy
from langgraph_durable.postgres import reading
from langgraph_durable.project import Project
from langgraph_durable.recovery import BuildRecoveryRequest, check_hook
from langgraph_durable.retention import Keeper
from langgraph_durable.settings import Settings
from langgraph_durable.store.runs import announce

if TYPE_CHECKING:
    from langgraph_durable.embedded import EmbeddedPostgres

_log = logging.getLogger(__name__)


class DurableEngine(Direct, ThreadLog, Graphs, Threads, Responses, Signals, Store, Crons):
    """Serves graphs durably. ``graph`` is a compiled graph, or a mapping of names to graphs.

    Without a database address, given or in the environment, an embedded PostgreSQL keeps its
    data under ``.langgraph_durable`` in the current folder; it starts and stops with the engine.
    ``works`` False only asks, and so do settings with no ``jobs_per_worker``: the runs are executed
    by other processes on the same database.
    ``keepers`` are asked to store what they make of a run's log before retention deletes it.
    ``hearers`` get what :meth:`tell` tells at any server, by its kind; on the main loop.

    Raises ProjectError or SettingsError naming every problem.
    """

    def __init__(
        self,
        graph: Any = None,
        *,
        name: str = "agent",
        project: Project | None = None,
        recovery: RecoveryStrategy | str | None = None,
        database_url: str | None = None,
        settings: Settings | None = None,
        build_recovery_request: BuildRecoveryRequest | None = None,
        embedded: EmbeddedPostgres | None = None,
        works: bool = True,
    ) -> None:
        if build_recovery_request is not None:
            check_hook(build_recovery_request)
        super().__init__(
            project or Project.from_graph(graph, name), _settings(settings, recovery, database_url)
        )
        self.worker_id = _worker_id()
        self._hook = build_recovery_request
        self._embedded = embedded or _embedded(self.settings)
        self._works = works and self.settings.jobs_per_worker > 0
        self._starting = asyncio.Lock()
        self.keepers: list[Keeper] = []
        self.hearers: dict[str, Callable[[str], None]] = {}
        self.project.check(self.settings, hooked=build_recovery_request is not None)

    @property
    def mount_prefix(self) -> str:
        return self.settings.mount_prefix

    @property
    def disabled(self) -> frozenset[str]:
        """Parts of the API that the project leaves out: ``langgraph_durable.http_config.PARTS``."""
        return self.project.http.disabled

    def allowed_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Those of a request's headers that its graph may read, by lower-cased name."""
        return self.project.http.headers.allowed(headers)

    def door_section(self, name: str) -> Any:
        """What langgraph.json says to one door, as it stands there; None when it says nothing."""
        return self.project.doors.get(name)

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
                self.worker_id = _worker_id()
                self.draining = False
                self._running = await Machinery.start(
                    self.project,
                    self.settings,
                    worker_id=self.worker_id,
                    build_recovery_request=self._hook,
                    embedded=self._embedded,
                    works=self._works,
                    keepers=self.keepers,
                    hearers=self.hearers,
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

    async def numbers(self) -> Numbers:
        """How things stand, over all servers and in this process. Raises StoreUnavailable."""
        return await self._machinery.numbers()

    @property
    def jobs_max(self) -> int:
        """How many runs this process executes at a time."""
        return self.settings.jobs_per_worker if self._works else 0

    async def tell(self, kind: str, text: str) -> None:
        """A word to the ``hearers`` of every server, this one too, as far as they listen now.

        Raises StoreUnavailable.
        """
        async with reading(self._machinery.pool) as conn:
            await announce(conn, f"{kind} {text}")

    async def ping(self) -> bool:
        """Does the database answer?"""
        async with reading(self._machinery.pool) as conn:
            await conn.execute("SELECT 1")
        return True


def _settings(
    settings: Settings | None, recovery: RecoveryStrategy | str | None, database_url: str | None
) -> Settings:
    given: dict[str, Any] = {"recovery": recovery and RecoveryStrategy(recovery)}
    given["database_url"] = database_url
    if settings is None:
        return Settings.from_environment(os.environ, **given)
    return replace(settings, **{name: value for name, value in given.items() if value is not None})


def _embedded(settings: Settings) -> EmbeddedPostgres | None:
    """The database of whoever names none."""
    if settings.database_url is not None:
        return None
    from langgraph_durable.embedded import EmbeddedPostgres

    return EmbeddedPostgres(settings.home)


def _worker_id() -> str:
    """Host and process for people, and a part that no other start has."""
    return f"{socket.gethostname()[:16]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
