"""Everything that runs inside a started engine, and the order it starts and stops in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from langgraph_durable import pruning
from langgraph_durable.archive import Archive
from langgraph_durable.assistants import Remembered, system_assistants
from langgraph_durable.errors import StoreUnavailable
from langgraph_durable.eventlog.batch import Committed
from langgraph_durable.eventlog.followers import Followers
from langgraph_durable.eventlog.notifier import Notifier
from langgraph_durable.eventlog.writer import Writer
from langgraph_durable.firing import Firing
from langgraph_durable.lease import LeaseKeeper
from langgraph_durable.loops import GraphLoops
from langgraph_durable.model import Numbers
from langgraph_durable.offer import Offer
from langgraph_durable.orphans import Orphans
from langgraph_durable.poolers import check_direct, check_pooler
from langgraph_durable.postgres import Database, Row, reading, transaction
from langgraph_durable.project import Project
from langgraph_durable.recovery import BuildRecoveryRequest
from langgraph_durable.retention import Keeper, Retention
from langgraph_durable.settings import Settings
from langgraph_durable.store import assistants, items, workers
from langgraph_durable.store.migrations import migrate
from langgraph_durable.tracing import Tracing
from langgraph_durable.webhook_policy import WebhookPolicy
from langgraph_durable.webhooks import Webhooks
from langgraph_durable.worker import Worker

if TYPE_CHECKING:
    from langgraph_durable.embedded import EmbeddedPostgres

_log = logging.getLogger(__name__)

SWEEP_SECONDS = 30.0
FIRE_SECONDS = 1.0
Sweep = Callable[[AsyncConnection[Row]], Awaitable[int]]
Hearers = Mapping[str, Callable[[str], None]]
"""What is done with what servers tell each other, by its kind."""


class Machinery:
    """The parts of one started engine. Made by :meth:`start`."""

    def __init__(
        self,
        project: Project,
        settings: Settings,
        database: Database,
        *,
        worker_id: str,
        build_recovery_request: BuildRecoveryRequest | None,
        embedded: EmbeddedPostgres | None,
        works: bool,
        keepers: Sequence[Keeper],
        hearers: Hearers,
    ) -> None:
        self._main = asyncio.get_running_loop()
        self.pool: AsyncConnectionPool[AsyncConnection[Row]] = database.pool(settings.pool_size)
        self.notifier = self._listener(database, settings, hearers)
        self.followers = Followers(self.pool, self.notifier.hears)
        self.loops = GraphLoops(
            database,
            pool_size=settings.pool_size,
            most=max(settings.jobs_per_worker, 2),
            store=project.store,
            isolated=settings.isolated_loops,
        )
        self.remembered = Remembered()
        self._embedded = embedded
        self._writer = Writer(
            database,
            lease_seconds=settings.lease_seconds,
            linger_seconds=settings.linger_seconds,
            committed=self._committed,
        )
        self._keeper = LeaseKeeper(
            database, settings, worker_id, freed=lambda: self._worker.wake_threadsafe()
        )
        self._works = works
        self._tracing = _tracing(settings)
        self._worker = Worker(
            worker_id=worker_id,
            project=project,
            settings=settings,
            pool=self.pool,
            writer=self._writer,
            keeper=self._keeper,
            loops=self.loops,
            build_recovery_request=build_recovery_request,
            tracing=self._tracing,
        )
        self.webhook_policy = _webhook_policy(project, settings)
        self._webhooks = Webhooks(self.pool, self.webhook_policy, settings.webhook_secret)
        archive = Archive(project.retention.archive) if project.retention.archive else None
        self.sweeper = pruning.Sweeper(self.pool, project.threads.sweep_limit, archive)
        self.retention = Retention(self.pool, project.retention, archive=archive, keepers=keepers)
        self.orphans = Orphans(project.graphs, worker_id, seconds=settings.unserved_graph_seconds)
        self._sweeps = self._all_sweeps(project, settings)
        self._sweepers: list[asyncio.Task[None]] = []

    def _listener(self, database: Database, settings: Settings, hearers: Hearers) -> Notifier:
        return Notifier(
            database,
            deaf_after_seconds=settings.heartbeat_seconds * 2.5,
            events=lambda hints: self.followers.wake(hints),
            work=self.wake_worker,
            cancel=self.cancel,
            connected=self._heard_nothing_until_now,
            own=lambda: self._writer.session,
            others=hearers,
        )

    def _all_sweeps(self, project: Project, settings: Settings) -> dict[Sweep, float]:
        """What is done again and again, and how many seconds lie between."""
        return {
            self.sweeper.temporary: SWEEP_SECONDS,
            self.sweeper.unused: project.threads.sweep_minutes * 60,
            items.sweep: project.store.sweep_minutes * 60,
            self.orphans.sweep: SWEEP_SECONDS,
            Firing(project, settings).fire: FIRE_SECONDS,
            **dict.fromkeys(self.retention.sweeps, project.retention.sweep_minutes * 60),
        }

    @classmethod
    async def start(
        cls,
        project: Project,
        settings: Settings,
        *,
        worker_id: str,
        build_recovery_request: BuildRecoveryRequest | None,
        embedded: EmbeddedPostgres | None,
        works: bool,
        keepers: Sequence[Keeper] = (),
        hearers: Hearers = MappingProxyType({}),
    ) -> Machinery:
        """Database first, then readers, then the worker; all or nothing."""
        url = await asyncio.to_thread(embedded.start) if embedded is not None else None
        database = Database(settings, worker_id, url=url)
        try:
            await asyncio.to_thread(check_direct, database)
            await asyncio.to_thread(migrate, database, project.store)
            await asyncio.to_thread(check_pooler, database)
            own = system_assistants(project.graphs.values())
            await asyncio.to_thread(assistants.install, database, own)
            found = cls(
                project,
                settings,
                database,
                worker_id=worker_id,
                build_recovery_request=build_recovery_request,
                embedded=embedded,
                works=works,
                keepers=keepers,
                hearers=hearers,
            )
            try:
                await found._start()
            except BaseException:
                await found._abandon()
                raise
        except BaseException:
            if embedded is not None:
                await asyncio.to_thread(embedded.stop)
            raise
        return found

    async def _start(self) -> None:
        await self.pool.open()
        self.notifier.start()
        self.loops.start()
        if self._works:
            self._writer.start()
            await asyncio.to_thread(self._keeper.start)
            await self._tracing.start()
            self._worker.start()
            self._webhooks.start()
            self._sweepers = [
                asyncio.create_task(self._sweep(sweep, seconds), name="durable-sweeper")
                for sweep, seconds in self._sweeps.items()
            ]

    async def _abandon(self) -> None:
        """Leave nothing running behind a start that failed."""
        await self.notifier.stop()
        for part in (self._writer, self._keeper, self.loops):
            await asyncio.to_thread(part.stop)
        await self.pool.close(timeout=2.0)

    def beginning(self, run_id: str) -> AbstractContextManager[Offer]:
        """A new run may begin in the transaction that stores it: see ``Worker.beginning``."""
        return self._worker.beginning(run_id)

    def wake_worker(self) -> None:
        """There may be work."""
        self._worker.wake()

    def cancel(self, run_id: str) -> None:
        """A person wants this run stopped."""
        self._worker.cancel(run_id)

    async def numbers(self) -> Numbers:
        """How things stand, over all servers and here."""
        async with reading(self.pool) as conn:
            standing = await workers.standing(conn)
        return Numbers(
            **standing,
            jobs_active=self._worker.active,
            events_written=self._writer.written,
            followers=self.followers.total,
        )

    def begin_drain(self) -> None:
        """Claim nothing more, pause graphs, end followers."""
        self._worker.begin_drain()
        self.followers.close()

    async def stop(self, grace_seconds: float) -> None:
        """The reverse of the start; work in hand is finished or handed back first."""
        if self._works:
            await self._worker.drained(grace_seconds)
            for sweeper in self._sweepers:
                sweeper.cancel()
            if self._sweepers:
                await asyncio.wait(self._sweepers)
            await self._webhooks.stop()
            await self._tracing.stop()
            await asyncio.to_thread(self._writer.stop)
            await asyncio.to_thread(self._keeper.stop)
        await self.notifier.stop()
        await asyncio.to_thread(self.loops.stop)
        await self.pool.close(timeout=2.0)
        if self._embedded is not None:
            await asyncio.to_thread(self._embedded.stop)

    def _committed(self, batch: list[Committed]) -> None:
        self._main.call_soon_threadsafe(self.followers.committed, batch)

    def _heard_nothing_until_now(self) -> None:
        self.followers.wake_all()
        self._worker.wake()

    async def _sweep(self, sweep: Sweep, seconds: float) -> None:
        while True:
            try:
                while await self._swept(sweep):
                    pass
            except StoreUnavailable:
                pass
            except Exception:
                _log.exception("a sweep failed and is tried again: %s", sweep.__module__)
            await asyncio.sleep(seconds)

    async def _swept(self, sweep: Sweep) -> int:
        async with transaction(self.pool) as conn:
            swept = await sweep(conn)
        if swept:
            _log.debug("%d swept: %s", swept, sweep.__module__)
        return swept


def _tracing(settings: Settings) -> Tracing:
    if settings.tracing != "mlflow":
        return Tracing()
    # Here, since whoever does not trace must not pay for the import.
    from langgraph_durable.mlflow_tracing import MlflowTracing

    return MlflowTracing()


def _webhook_policy(project: Project, settings: Settings) -> WebhookPolicy:
    """What the project says about its own machine counts before what the settings say."""
    disabled = project.webhooks.disable_loopback
    loopback = settings.webhook_loopback if disabled is None else not disabled
    enabled = "webhooks" not in project.http.disabled
    return WebhookPolicy(config=project.webhooks, loopback=loopback, enabled=enabled)
