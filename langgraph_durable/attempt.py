"""The life of one attempt: it runs, is watched, stopped when it must be, and has a last word."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from psycopg import AsyncConnection

from langgraph_durable import unowned
from langgraph_durable.checkpointer import FencedSaver
from langgraph_durable.ending import OVERDUE, Ending, ended_by, failure
from langgraph_durable.errors import DurableError, LeaseLost, StoreUnavailable
from langgraph_durable.eventlog.change import RunLog
from langgraph_durable.eventlog.journal import Journal
from langgraph_durable.execution import Execution
from langgraph_durable.graphs import GraphSource
from langgraph_durable.lease import Lease, LeaseKeeper, Stop
from langgraph_durable.ledger import Ledger, ledger_in_use
from langgraph_durable.loops import GraphLoop
from langgraph_durable.model import RunStatus
from langgraph_durable.postgres import Row, transaction
from langgraph_durable.recovery import BuildRecoveryRequest
from langgraph_durable.store import runs
from langgraph_durable.store.claims import Claim
from langgraph_durable.tracing import AttemptTrace

_log = logging.getLogger(__name__)

CANCEL_PATIENCE_SECONDS = 2.0
CANCELS = 3
OUTAGE_PAUSE_SECONDS = 1.0
WATCH_SECONDS = 0.5


class Attempt:
    """One execution of a run by this worker, on a loop for user code."""

    def __init__(
        self,
        claim: Claim,
        source: GraphSource,
        *,
        lease: Lease,
        keeper: LeaseKeeper,
        log: RunLog,
        hook: BuildRecoveryRequest | None,
        trace: AttemptTrace,
        step_timeout: float | None,
    ) -> None:
        self.claim = claim
        self.control = RunControl()
        self._source = source
        self._lease = lease
        self._keeper = keeper
        self._journal = Journal(log)
        self._hook = hook
        self._trace = trace
        self._step_timeout = step_timeout
        self._stopped: Stop | None = None
        self._cancelled_at: float | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken: asyncio.Future[None] | None = None
        self.place: GraphLoop | None = None

    @property
    def fruitful(self) -> bool:
        """Has it finished a step that no earlier attempt had?"""
        return self._journal.log.fruitful

    def deaf_seconds(self) -> float:
        """For how long a stop has waited for a loop that its node blocks; 0 while all is well."""
        if self._cancelled_at is None or self.place is None or not self.place.stalled:
            return 0.0
        return time.monotonic() - self._cancelled_at

    @property
    def overdue(self) -> bool:
        """Is it being stopped because its run's time is over?"""
        return self._stopped is Stop.DEADLINE

    def stop(self, reason: Stop) -> None:
        """End before the graph does, from any thread. The first reason stands, unless a drain."""
        if self._stopped in (None, Stop.DRAIN):
            self._stopped = reason
        if reason in (Stop.CANCEL, Stop.DEADLINE) and self._cancelled_at is None:
            self._cancelled_at = time.monotonic()
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def run(self, place: GraphLoop) -> None:
        """Execute on a graph loop until the run has ended, was handed back or was lost."""
        self._loop, self.place = asyncio.get_running_loop(), place
        try:
            with self._trace:
                await self._live(place)
        except LeaseLost:
            self._tell_lost("it belongs to another attempt")
        except StoreUnavailable:
            self._give_up("the database is away")
        except Exception as error:
            _log.exception("attempt of run %s broke", self.claim.run_id)
            await self._end_by_force(place, error)
        finally:
            self._keeper.release(self._lease)

    async def _live(self, place: GraphLoop) -> None:
        execution = Execution(
            self.claim,
            self._source,
            place=place,
            saver=FencedSaver(
                place.pool,
                self._journal.log,
                headers=tuple(self.claim.request.get("headers") or ()),
                untouched=self.claim.untouched,
            ),
            journal=self._journal,
            control=self.control,
            hook=self._hook,
            trace=self._trace,
            step_timeout=self._step_timeout,
        )
        with ledger_in_use(Ledger(self._journal.log, place.pool)):
            story = asyncio.create_task(execution.run(), name=f"run {self.claim.run_id}")
        await self._watch(story)
        if self._stopped is Stop.LOST:
            raise LeaseLost
        if self._stopped is Stop.OUTAGE:
            self._give_up("the lease ran out")
        elif self._stopped is Stop.FAILED:
            await self._end_by_force(place, self._journal.log.failure)
        else:
            await self._last_word(execution, story)

    async def _watch(self, story: asyncio.Task[Ending]) -> None:
        """Wait for the graph; cancel it when it must stop, again when it does not listen."""
        while not story.done() and not self._must_stop():
            await self._something_happens(story)
        for _ in range(CANCELS):
            if not story.done():
                story.cancel()
                await asyncio.wait([story], timeout=CANCEL_PATIENCE_SECONDS)
        if story.done() and not story.cancelled():
            story.exception()  # nobody asks for it when the run is not ours any more

    async def _something_happens(self, story: asyncio.Task[Ending]) -> None:
        self._woken = asyncio.get_running_loop().create_future()
        seconds = min(max(self._keeper.remaining(self._lease), 0.0), WATCH_SECONDS)
        either: list[asyncio.Future[Any]] = [story, self._woken]
        await asyncio.wait(either, timeout=seconds, return_when="FIRST_COMPLETED")

    def _must_stop(self) -> bool:
        if self._stopped is None and self._keeper.remaining(self._lease) <= 0:
            self._stopped = Stop.OUTAGE
        return self._stopped is not None

    async def _last_word(self, execution: Execution, story: asyncio.Task[Ending]) -> None:
        if not _came_to_its_end(story):
            with suppress(TimeoutError):
                async with asyncio.timeout(CANCEL_PATIENCE_SECONDS):
                    await execution.saver.in_flight.settled()
        ending = await self._ending(execution, story)
        execution.flush()
        await self._journal.write(ending.change(self._journal.log, self._journal.take()))
        self._trace.ended(ending.status, output=ending.output, error=ending.error)

    async def _end_by_force(self, place: GraphLoop, error: Exception | None) -> None:
        """What the database refused, or what broke here, ends the run: its owner cannot."""
        reason = failure(error or DurableError())
        self._trace.ended(RunStatus.ERROR, error=reason)
        with suppress(StoreUnavailable):
            async with transaction(place.pool) as conn:
                await unowned.end_by_force(
                    conn,
                    self.claim.run_id,
                    self.claim.thread_id,
                    self.claim.attempt,
                    status=RunStatus.ERROR,
                    error=reason,
                )

    async def end_from_outside(self, conn: AsyncConnection[Row]) -> None:
        """Give a stopped run the end that its owner is too busy to write."""
        claim = self.claim
        await unowned.end_by_force(
            conn,
            claim.run_id,
            claim.thread_id,
            claim.attempt,
            status=RunStatus.TIMEOUT if self.overdue else RunStatus.INTERRUPTED,
            error=OVERDUE if self.overdue else None,
            action=await runs.cancel_action(conn, claim.run_id),
        )

    def _give_up(self, reason: str) -> None:
        self._tell_lost(reason)
        self._keeper.give_up(self._lease)

    async def _ending(self, execution: Execution, story: asyncio.Task[Ending]) -> Ending:
        error: BaseException = asyncio.CancelledError()
        if story.done() and not story.cancelled():
            raised = story.exception()
            if raised is None:
                return story.result()
            error = raised
        if isinstance(error, LeaseLost):
            raise error
        if isinstance(error, StoreUnavailable):
            return Ending.handed_back(pause=OUTAGE_PAUSE_SECONDS)
        if isinstance(error, GraphDrained) or self._stopped is Stop.DRAIN:
            return Ending.handed_back()
        if self._stopped is Stop.CANCEL:
            if undoes := await execution.rollback():
                return Ending.rolled_back(undoes)
            return await self._settled(execution, RunStatus.INTERRUPTED, None)
        if self.overdue:
            return await self._settled(execution, RunStatus.TIMEOUT, OVERDUE)
        _log.info("run %s failed", self.claim.run_id, exc_info=error)
        return await self._settled(execution, RunStatus.ERROR, failure(error))

    async def _settled(
        self, execution: Execution, status: RunStatus, error: Mapping[str, str] | None
    ) -> Ending:
        """An ending without the graph's own: what the checkpoints say decides the thread."""
        try:
            async with execution.open() as graph:
                state = await graph.aget_state(execution.standing.config(), subgraphs=True)
                execution.catch_up(state)
                ending = ended_by(graph, state, status, error)
        except (LeaseLost, StoreUnavailable):
            raise
        except Exception:
            # A graph that cannot even be opened has no state to tell of.
            return Ending.without_state(status, error)
        return replace(ending, retracts=execution.standing.retraction())

    def _tell_lost(self, reason: str) -> None:
        _log.warning(
            "run %s attempt %d is not ours any more: %s",
            self.claim.run_id,
            self.claim.attempt,
            reason,
        )


def _came_to_its_end(story: asyncio.Task[Ending]) -> bool:
    """Then whatever it wrote has been handed over, and is durable before its last word."""
    return story.done() and not story.cancelled() and story.exception() is None
