"""The worker: claims runs while it has slots, executes them, and gives them back when it leaves."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from langgraph_durable import unowned
from langgraph_durable.attempt import Attempt
from langgraph_durable.errors import LeaseLost, StoreUnavailable
from langgraph_durable.eventlog.change import RunLog
from langgraph_durable.eventlog.writer import Writer
from langgraph_durable.lease import Lease, LeaseKeeper, Stop
from langgraph_durable.loops import GraphLoops
from langgraph_durable.offer import Offer
from langgraph_durable.postgres import Row, transaction
from langgraph_durable.project import Project
from langgraph_durable.recovery import BuildRecoveryRequest
from langgraph_durable.served import Served
from langgraph_durable.settings import Settings
from langgraph_durable.store import claims
from langgraph_durable.tracing import Tracing

_log = logging.getLogger(__name__)

HAND_BACK_SECONDS = 3.0
END_ABANDONED_SECONDS = 0.25
DEAF_SECONDS = 10.0
CROWDED_SECONDS = 0.05
"""How soon a worker looks again for runs of a graph while another worker was counting them."""
REST_SECONDS = 1.0
"""How long a worker claims nothing when an attempt could not even begin here."""


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
        tracing: Tracing,
    ) -> None:
        self._worker_id = worker_id
        self._project = project
        self._settings = settings
        self._pool = pool
        self._writer = writer
        self._keeper = keeper
        self._loops = loops
        self._hook = build_recovery_request
        self._tracing = tracing
        self._attempts: set[Attempt] = set()
        self._beginning: set[str] = set()
        self._served = Served.by(project.graphs, settings)
        self._crowded: set[str] = set()
        self._unsure = False
        self._begun_unsure = False
        self._others_wait = True
        self._draining = False
        self._ended_abandoned_at = 0.0
        self._rests_until = 0.0
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._main = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._claim_forever(), name="durable-claims")

    def wake(self) -> None:
        """There may be work."""
        self._others_wait = True
        self._wake.set()

    def wake_threadsafe(self) -> None:
        """There may be work; from any thread."""
        if not self._main.is_closed():
            self._main.call_soon_threadsafe(self.wake)

    @property
    def active(self) -> int:
        """How many runs it executes."""
        return len(self._attempts)

    @contextmanager
    def beginning(self, run_id: str) -> Iterator[Offer]:
        """Hold a slot for a new run, if there is one and no other run waits for it.

        A run that has begun inside is executed.
        """
        policies = self._served.policies if self._may_begin() else {}
        offer = Offer(self._worker_id, policies, self._settings.lease_seconds)
        self._beginning.add(run_id)
        self._idle.clear()
        committed = False
        try:
            yield offer
            committed = True
        finally:
            self._beginning.discard(run_id)
            if offer.claim is not None and committed:
                self._execute(offer.claim)
            else:
                self._begun_unsure = self._begun_unsure or (offer.taken and not committed)
                self.wake()
            self._note_idle()

    def _may_begin(self) -> bool:
        return (
            self._task is not None
            and not self._draining
            and not self._others_wait
            and self._slots > 0
            and not self._must_be_alone()
            and self._may_claim()
        )

    @property
    def _slots(self) -> int:
        return self._settings.jobs_per_worker - len(self._attempts) - len(self._beginning)

    def cancel(self, run_id: str) -> None:
        """A person wants this run stopped; somebody else's run is somebody else's."""
        for attempt in self._attempts:
            if attempt.claim.run_id == run_id:
                attempt.stop(Stop.CANCEL)

    async def _end_deaf(self) -> None:
        """A node that blocks its loop hears of no stop: its run ends all the same."""
        for attempt in list(self._attempts):
            if attempt.deaf_seconds() >= DEAF_SECONDS:
                async with transaction(self._pool) as conn:
                    await attempt.end_from_outside(conn)

    def begin_drain(self) -> None:
        """Claim nothing more; ask every graph to stop behind the step it is in."""
        self._draining = True
        self._wake.set()
        for attempt in self._attempts:
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
                for attempt in self._attempts:
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
            poll = self._settings.claim_poll_seconds
            async with asyncio.timeout(min(poll, CROWDED_SECONDS) if self._crowded else poll):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _claim(self) -> bool:
        """Take what there is; False when there is no more, no slot, or no sign of life to give."""
        await self._end_abandoned()
        await self._end_deaf()
        slots = self._slots
        if slots <= 0 or self._must_be_alone() or not self._may_claim():
            return False
        idle, limited = not (self._attempts or self._beginning), self._served.limited
        async with transaction(self._pool) as conn:
            self._others_wait = False
            if self._unsure or self._begun_unsure:
                await claims.disown(conn, self._worker_id, self._held())
            self._unsure, self._begun_unsure = True, False
            await unowned.end_answered(conn)
            counted = await claims.hold_graphs(conn, limited) if limited else set[str]()
            self._crowded = set(limited) - counted
            won = await claims.claim(
                conn,
                worker_id=self._worker_id,
                served=self._served.rows(without=self._crowded),
                slots=1 if idle else slots,
                idle=idle,
                lease_seconds=self._settings.lease_seconds,
            )
        self._unsure = False
        for claim in won:
            self._execute(claim)
        all_taken = len(won) == (1 if idle else slots)
        self._others_wait = self._others_wait or all_taken
        return all_taken

    def _held(self) -> list[tuple[str, int]]:
        executed = [(a.claim.run_id, a.claim.attempt) for a in self._attempts]
        return executed + [(run_id, 1) for run_id in self._beginning]

    def _may_claim(self) -> bool:
        return self._keeper.holds_lock and time.monotonic() >= self._rests_until

    def _must_be_alone(self) -> bool:
        """A run on its last strike shares its worker with nobody until it gets somewhere."""
        return any(
            0 < self._served.last_strike(a.claim.graph_id) <= a.claim.crashes and not a.fruitful
            for a in self._attempts
        )

    async def _end_abandoned(self) -> None:
        if time.monotonic() - self._ended_abandoned_at > END_ABANDONED_SECONDS:
            self._ended_abandoned_at = time.monotonic()
            async with transaction(self._pool) as conn:
                await unowned.end_abandoned(conn, self._served.rows(), self._settings.max_attempts)

    def _execute(self, claim: claims.Claim) -> None:
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
            counted=claim.graph_id in self._served.limited,
            write=self._writer.put,
            on_lost=lambda error: stop(Stop.LOST if isinstance(error, LeaseLost) else Stop.FAILED),
        )
        source = self._project.graphs[claim.graph_id]
        attempt = Attempt(
            claim,
            source,
            lease=lease,
            keeper=self._keeper,
            log=log,
            hook=self._hook,
            trace=self._tracing.attempt(claim),
            step_timeout=self._served.policies[claim.graph_id].step_timeout_seconds,
        )
        holder.append(attempt)
        self._attempts.add(attempt)
        self._idle.clear()
        self._keeper.hold(lease)
        if self._draining:
            attempt.control.request_drain()
        future = self._loops.start_on_a_live_loop(attempt.run)
        future.add_done_callback(lambda done: self._ended_threadsafe(attempt, lease, done))

    def _ended_threadsafe(self, attempt: Attempt, lease: Lease, done: Future[None]) -> None:
        if not self._main.is_closed():
            self._main.call_soon_threadsafe(self._ended, attempt, lease, done)

    def _ended(self, attempt: Attempt, lease: Lease, done: Future[None]) -> None:
        if not done.cancelled() and (error := done.exception()):
            _log.error("run %s could not be executed here", lease.run_id, exc_info=error)
            self._rests_until = time.monotonic() + REST_SECONDS
            self._keeper.give_up(lease)
        held_up = self._slots <= 0 or self._must_be_alone()
        self._attempts.discard(attempt)
        self._note_idle()
        if held_up or self._rests_until:
            self._wake.set()  # else the commit has told of whatever its end makes due

    def _note_idle(self) -> None:
        if not self._attempts and not self._beginning:
            self._idle.set()
