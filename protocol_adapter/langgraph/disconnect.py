"""``on_disconnect=cancel``: what happens when the client that a run works for has gone.

Its run is cancelled after a grace, unless somebody follows the run again before that. A close by
the server, at a drain or a restart, is never the client's wish. The bookkeeping is per process:
a client that comes back at another process within the grace is not seen here.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import DurableError, RunNotCancellable, RunNotFound

logger = logging.getLogger(__name__)

GRACE_SECONDS = 10.0


class Audience:
    """Who is following which run in this process."""

    def __init__(self, engine: DurableEngine, grace_seconds: float = GRACE_SECONDS) -> None:
        self._engine = engine
        self._grace_seconds = grace_seconds
        self._present: Counter[str] = Counter()
        self._leaving: dict[str, asyncio.Task[None]] = {}

    @contextmanager
    def follower(self, run_id: str, *, cancels: bool) -> Iterator[None]:
        """One connection that follows a run; with ``cancels``, hanging up early ends the run."""
        self._present[run_id] += 1
        self._withdraw(run_id)
        dropped = False
        try:
            yield
        except (asyncio.CancelledError, GeneratorExit):
            dropped = True
            raise
        finally:
            self._present[run_id] -= 1
            if not self._present[run_id]:
                del self._present[run_id]
                if dropped and cancels and not self._engine.draining:
                    self._leave(run_id)

    async def close(self) -> None:
        """Forgets every pending cancel: the server goes, not the clients."""
        leaving = list(self._leaving.values())
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)

    def _withdraw(self, run_id: str) -> None:
        task = self._leaving.pop(run_id, None)
        if task is not None:
            task.cancel()

    def _leave(self, run_id: str) -> None:
        self._leaving[run_id] = asyncio.create_task(self._cancel_after_grace(run_id))

    async def _cancel_after_grace(self, run_id: str) -> None:
        await asyncio.sleep(self._grace_seconds)
        self._leaving.pop(run_id, None)
        if self._engine.draining:
            return
        try:
            with suppress(RunNotFound, RunNotCancellable):
                await self._engine.cancel(run_id)
                logger.info("run %s cancelled: its client hung up", run_id)
        except DurableError:
            logger.exception("run %s could not be cancelled after its client hung up", run_id)
