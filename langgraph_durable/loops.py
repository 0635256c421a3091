"""Where user code runs: event loops in threads of their own.

One is enough until its newest user blocks it; then another is started, so that a ``time.sleep`` or
a CPU loop in a node stops neither the API nor runs on other loops. When loops are to be isolated,
no two runs share one.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from langgraph_durable.errors import StoreUnavailable
from langgraph_durable.graphstore import SEARCHING, GraphStore
from langgraph_durable.postgres import Database, Row
from langgraph_durable.store_config import StoreConfig

_log = logging.getLogger(__name__)
T = TypeVar("T")

TICK_SECONDS = 0.05
STALLED_SECONDS = 0.2
SWITCH_INTERVAL_SECONDS = 0.0005


class GraphLoop:
    """An event loop in a thread, with the pool and the store its graphs use."""

    def __init__(self, database: Database, pool_size: int, store: StoreConfig) -> None:
        self._database = database
        self._store_config = store
        self._pool_size = pool_size
        self._ticked_at = time.monotonic()
        self.guests: set[object] = set()
        self._closing = False
        self._ready: Future[None] = Future()
        self.loop = asyncio.new_event_loop()
        self.pool: AsyncConnectionPool[AsyncConnection[Row]]
        self.store: GraphStore
        self._store_pool: AsyncConnectionPool[AsyncConnection[Row]]
        self._thread = threading.Thread(target=self._serve, name="durable-graphs", daemon=True)

    def start(self) -> None:
        """Start the thread; usable at once, its pool fills in the background."""
        self._thread.start()
        self._ready.result(timeout=30)

    @property
    def closing(self) -> bool:
        """It ends, and whatever still runs on it."""
        return self._closing

    @property
    def stalled(self) -> bool:
        """Something on this loop has not given way for a while."""
        return time.monotonic() - self._ticked_at > STALLED_SECONDS

    def run(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine here, from any thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def stop(self, timeout: float) -> None:
        """End the loop; what still runs is cancelled, or left behind when it does not listen."""
        self._closing = True
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.create_task(self._open())
        while not self._closing:
            try:
                self.loop.run_forever()
            except (SystemExit, KeyboardInterrupt):
                _log.warning("a graph tried to end the process; its run fails instead")
        self.loop.run_until_complete(self._close())
        self.loop.close()

    async def _open(self) -> None:
        try:
            self.pool = self._database.pool(self._pool_size)
            await self.pool.open()
            searching = self._database.tuned(SEARCHING)
            self._store_pool = searching.pool(self._pool_size, least=0)
            await self._store_pool.open()
            config = self._store_config
            self.store = GraphStore(self._store_pool, index=config.index, ttl=config.ttl)
        except BaseException as error:
            self._ready.set_exception(error)
            raise
        self._tick()
        self._ready.set_result(None)

    def _tick(self) -> None:
        self._ticked_at = time.monotonic()
        self.loop.call_later(TICK_SECONDS, self._tick)

    async def _close(self) -> None:
        await self.pool.close(timeout=1.0)
        await self._store_pool.close(timeout=1.0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=1.0)


Work = Callable[[GraphLoop], Coroutine[Any, Any, T]]


class _Placing(Generic[T]):
    """Work that the first loop to get at it begins; for the others it is gone."""

    def __init__(self, work: Work[T]) -> None:
        self.result: Future[T] = Future()
        self._work = work
        self._free = threading.Lock()

    @property
    def begun(self) -> bool:
        return self._free.locked()

    def give_up(self, error: Exception) -> None:
        """There is no loop to begin on."""
        if self._free.acquire(blocking=False):
            self.result.set_exception(error)

    async def begin_on(self, loop: GraphLoop) -> None:
        if not self._free.acquire(blocking=False):
            loop.guests.discard(self)
            return
        try:
            self.result.set_result(await self._work(loop))
        except BaseException as error:
            # What goes with its loop was cancelled; whoever waits for it elsewhere was not.
            self.result.set_exception(StoreUnavailable() if loop.closing else error)
            if not isinstance(error, Exception):
                raise
        finally:
            loop.guests.discard(self)


class GraphLoops:
    """All loops of one process; ``most`` bounds how many there can be.

    ``isolated`` begins nothing on a loop that has a guest already, as long as there can be another.
    """

    def __init__(
        self,
        database: Database,
        *,
        pool_size: int,
        most: int,
        store: StoreConfig,
        isolated: bool = False,
    ) -> None:
        self._database = database
        self._store = store
        self._pool_size = pool_size
        self._most = most
        self._isolated = isolated
        self._loops: list[GraphLoop] = []
        self._guard = threading.Lock()

    def start(self) -> None:
        sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
        self._add()

    def pick(self) -> GraphLoop:
        """The newest loop that still gives way; a new one when none does."""
        with self._guard:
            for loop in reversed(self._loops):
                if not loop.stalled and not (self._isolated and loop.guests):
                    return loop
            return self._add() if len(self._loops) < self._most else self._loops[0]

    def start_on_a_live_loop(self, work: Work[T]) -> Future[T]:
        """Run ``work`` on a loop for user code; on another one if that has just been blocked.

        Call it on the main loop.
        """
        placing = _Placing(work)
        self._place(placing, asyncio.get_running_loop())
        return placing.result

    def _place(self, placing: _Placing[T], main: asyncio.AbstractEventLoop) -> None:
        if placing.begun or main.is_closed():
            return
        try:
            loop = self.pick()
            loop.guests.add(placing)
            loop.run(placing.begin_on(loop))
        except Exception as error:
            placing.give_up(error)
            return
        main.call_later(STALLED_SECONDS * 1.25, self._place, placing, main)

    async def call(self, work: Work[T]) -> T:
        """Run ``work`` on a loop for user code and await its result here."""
        return await asyncio.wrap_future(self.start_on_a_live_loop(work))

    def stop(self, timeout: float = 2.0) -> None:
        for loop in self._loops:
            loop.stop(timeout)

    def _add(self) -> GraphLoop:
        loop = GraphLoop(self._database, self._pool_size, self._store)
        loop.start()
        self._loops.append(loop)
        return loop
