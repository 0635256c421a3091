"""``on_disconnect=cancel``: what happens when the client that a run works for has gone.

Its run is cancelled after a grace, unless somebody follows the run again before that, here or at
another server: at its end the servers are asked, and one where nobody listens any more is silent.
A close by the server, at a drain or a restart, is never the client's wish.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import (
    DurableError,
    RunNotCancellable,
    RunNotFound,
    StoreUnavailable,
)

logger = logging.getLogger(__name__)

GRACE_SECONDS = 10.0
ANSWER_SECONDS = 1.0
"""How long the other servers have to say that a run is followed there."""

ASKS, FOLLOWS = "asks", "follows"
"""What servers tell each other of a run: who follows it? I do."""


class Audience:
    """Who is following which run in this process."""

    def __init__(self, engine: DurableEngine, grace_seconds: float = GRACE_SECONDS) -> None:
        self._name = uuid.uuid4().hex
        self._engine = engine
        self._grace_seconds = grace_seconds
        self._answer_seconds = min(grace_seconds, ANSWER_SECONDS)
        self._present: Counter[str] = Counter()
        self._leaving: dict[str, asyncio.Task[None]] = {}
        self._asking: dict[str, asyncio.Event] = {}
        self._answering: set[asyncio.Task[None]] = set()
        engine.hearers |= {ASKS: self._asked, FOLLOWS: self._answered}

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
        tasks = [*self._leaving.values(), *self._answering]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _withdraw(self, run_id: str) -> None:
        task = self._leaving.pop(run_id, None)
        if task is not None:
            task.cancel()

    def _leave(self, run_id: str) -> None:
        self._leaving[run_id] = asyncio.create_task(self._cancel_after_grace(run_id))

    async def _cancel_after_grace(self, run_id: str) -> None:
        await asyncio.sleep(self._grace_seconds)
        try:
            await self._ask(run_id)
            self._leaving.pop(run_id, None)
            if not self._engine.draining:
                with suppress(RunNotFound, RunNotCancellable):
                    await self._engine.cancel(run_id)
                    logger.info("run %s cancelled: its client hung up", run_id)
        except DurableError:
            self._leaving.pop(run_id, None)
            logger.exception("run %s could not be cancelled after its client hung up", run_id)

    # -- the other servers -------------------------------------------------------------------

    async def _ask(self, run_id: str) -> None:
        """Waits for an answer, which ends this task. Who does not hear itself asks again."""
        heard = self._asking[run_id] = asyncio.Event()
        try:
            while not heard.is_set():
                await self._engine.tell(ASKS, run_id)
                with suppress(TimeoutError):
                    async with asyncio.timeout(ANSWER_SECONDS):
                        await heard.wait()
            await asyncio.sleep(self._answer_seconds)
        finally:
            del self._asking[run_id]

    def _asked(self, run_id: str) -> None:
        """Of two that have lost their clients, the one whose grace still runs answers."""
        if run_id in self._asking:
            self._asking[run_id].set()
        elif run_id in self._present or run_id in self._leaving:
            task = asyncio.create_task(self._answer(run_id))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    async def _answer(self, run_id: str) -> None:
        with suppress(StoreUnavailable):
            await self._engine.tell(FOLLOWS, f"{run_id} {self._name}")

    def _answered(self, answer: str) -> None:
        """Our own answer, to one that asked before we did, is none to us."""
        run_id, name = answer.split()
        if name != self._name and run_id in self._asking:
            self._withdraw(run_id)
