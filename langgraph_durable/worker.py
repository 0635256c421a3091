"""The worker: claims runs while it has slots, executes them, and gives them back when it leaves."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import Future

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from langgraph_durable.attempt import Attempt
from langgraph_durable.errors import StoreUnavailable
from langgraph_durable.eventlog.change import RunLog
from langgraph_durable.eventlog.writer import Writer
from langgraph_durable.lease import Lease, LeaseKeeper, Stop
from langgraph_durable.loops import GraphLoops
from langgraph_durable.model import RunStatus, ThreadStatus
from langgraph_durable.postgres import Row, transaction
from langgraph_durable.project import Project
from langgraph_durable.recovery import BuildRecoveryRequest
from langgraph_durable.settings import Settings
from langgraph_durable.store import runs, threads

_log = logging.getLogger(__name__)

HAND_BACK_SECONDS = 3.0
END_ABANDONED_SECONDS = 0.25


class Worker:
    """Runs attempts in this process. Everything here happens on the main loop."""

    def __init__(
        self,
        *,
        worker_id: str,
        project: Project,
        settings: Settings,
        pool: AsyncConnectionPool[AsyncConnection[Row]],
        writer: Writer,
        keeper: LeaseKeeper,
        loops: GraphLoops,
        build_recovery_request: BuildRecoveryRequest | None,
    ) -> None:
        self._worker_id = worker_id
        self._project = project
        self._settings = settings
        self._pool = pool
        self._writer = writer
        self._keeper = keeper
        self._loops = loops
        self._hook = build_recovery_request
        self._attempts: dict[str, Attempt] = {}
        self._alone: Attempt | None = None
        self._draining = False
        self._ended_abandoned_at = 0.0
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._main = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._claim_forever(), name="durable-claims")

    def wake(self) -> None:
        """There may be work."""
        self._wake.set()

    def wake_threadsafe(self) -> None:
        """There may be work; from any thread."""
        if not self._main.is_closed():
            self._main.call_soon_threadsafe(self._wake.set)

    def cancel(self, run_id: str) -> None:
        """A person wants this run stopped; somebody else's run is somebody else's."""
        if attempt := self._attempts.get(run_id):
            attempt.stop(Stop.CANCEL)

    def begin_drain(self) -> None:
        """Claim nothing more; ask every graph to stop behind the step it is in."""
        self._draining = True
        self._wake.set()
        for attempt in self._attempts.values():
            attempt.control.request_drain()

    async def drained(self, grace_seconds: float) -> None:
        """Wait for graphs to end or pause; what does not is cancelled, all is handed back."""
        if self._task is not None:
            await asyncio.wait([self._task])
        for seconds in (grace_seconds, HAND_BACK_SECONDS):
            try:
                async with asyncio.timeout(seconds):
                    await self._idle.wait()
                    return
            except TimeoutError:
                for attempt in self._attempts.values():
                    attempt.stop(Stop.DRAIN)

    async def _claim_forever(self) -> None:
        while not self._draining:
            self._wake.clear()
            try:
                found = await self._claim()
            except StoreUnavailable:
                found = False
            except Exception:
                _log.exception("claiming failed and is tried again")
                found = False
            if not found:
                await self._woken()

    async def _woken(self) -> None:
        try:
            async with asyncio.timeout(self._settings.claim_poll_seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _claim(self) -> bool:
        """Take what there is; False when there is nothing or no slot."""
        slots = self._settings.jobs_per_worker - len(self._attempts)
        if slots <= 0 or (self._alone is not None and not self._alone.fruitful):
            return False
        idle = not self._attempts
        async with transaction(self._pool) as conn:
            if time.monotonic() - self._ended_abandoned_at > END_ABANDONED_SECONDS:
                self._ended_abandoned_at = time.monotonic()
                await self._end_abandoned(conn)
            claims = await runs.claim(
                conn,
                worker_id=self._worker_id,
                graphs=list(self._project.graphs),
                slots=1 if idle else slots,
                idle=idle,
                max_attempts=self._settings.max_attempts,
                lease_seconds=self._settings.lease_seconds,
            )
        for claim in claims:
            self._execute(claim)
        return bool(claims)

    async def _end_abandoned(self, conn: AsyncConnection[Row]) -> None:
        for row in await runs.abandoned_for_good(conn, self._settings.max_attempts):
            if row["cancel_action"]:
                status, error, crashes = RunStatus.INTERRUPTED, None, row["crashes"]
            else:
                status, crashes = RunStatus.ERROR, row["crashes"] + 1
                error = _too_many(crashes)
            await runs.end_unowned(conn, row, status=status, error=error, crashes=crashes)
            await threads.settle(
                conn,
                row["thread_id"],
                run_id=str(row["run_id"]),
                status=ThreadStatus.ERROR if error else ThreadStatus.INTERRUPTED,
                error=error,
            )
            await runs.announce_end(conn, str(row["run_id"]))

    def _execute(self, claim: runs.Claim) -> None:
        holder: list[Attempt] = []

        def stop(reason: Stop) -> None:
            if holder:
                holder[0].stop(reason)

        lease = Lease(claim.run_id, claim.attempt, self._settings.lease_seconds, stop)
        log = RunLog(
            run_id=claim.run_id,
            attempt=claim.attempt,
            thread_id=claim.thread_id,
            next_seq=claim.next_seq,
            write=self._writer.put,
            on_lost=lambda error: stop(Stop.LOST),
        )
        source = self._project.graphs[claim.graph_id]
        attempt = Attempt(claim, source, lease=lease, keeper=self._keeper, log=log, hook=self._hook)
        holder.append(attempt)
        self._attempts[claim.run_id] = attempt
        if self._draining:
            attempt.control.request_drain()
        if 0 < self._settings.max_attempts - 1 <= claim.crashes:
            self._alone = attempt
        self._idle.clear()
        self._keeper.hold(lease)
        future = self._loops.start_on_a_live_loop(attempt.run)
        future.add_done_callback(lambda done: self._ended_threadsafe(attempt, done))

    def _ended_threadsafe(self, attempt: Attempt, done: Future[None]) -> None:
        if not self._main.is_closed():
            self._main.call_soon_threadsafe(self._ended, attempt, done)

    def _ended(self, attempt: Attempt, done: Future[None]) -> None:
        if not done.cancelled() and (error := done.exception()):
            _log.error("attempt of run %s broke", attempt.claim.run_id, exc_info=error)
        if self._attempts.get(attempt.claim.run_id) is attempt:
            del self._attempts[attempt.claim.run_id]
        if self._alone is attempt:
            self._alone = None
        if not self._attempts:
            self._idle.set()
        self._wake.set()


def _too_many(crashes: int) -> dict[str, str]:
    return {
        "error": "MaxAttemptsExceeded",
        "message": f"The run was given up after {crashes} crashes without progress.",
    }
