"""A thread's log: the logs of its runs, one behind the other, without an end."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from langgraph_durable.engine.runs import Runs
from langgraph_durable.model import BEGINNING, Cursor, Event, Run
from langgraph_durable.postgres import reading
from langgraph_durable.store import runs, threads


class ThreadLog(Runs):
    """The engine's view of everything that happens on a thread."""

    async def follow_thread(
        self, thread_id: str, *, ticket: int | None = None, after: Cursor = BEGINNING
    ) -> AsyncGenerator[tuple[Run, list[Event]], None]:
        """Batches of events of a thread's runs, in the order the runs began; waits for more.

        Begins behind event ``after`` of the run with ``ticket`` (which may still have to begin);
        with ticket -1 at the thread's first event; with None now. Ends only when this process
        drains. Raises ThreadNotFound, also when the thread is deleted later.
        """
        async with reading(self._machinery.pool) as conn:
            public = (await threads.get(conn, thread_id)).thread_id
            latest = await runs.last_begun(conn, public)
            current = await runs.by_ticket(conn, public, ticket) if ticket is not None else latest
        if ticket is None:
            after = _end_of(latest)[1]
        last = -1 if current is None else current.ticket
        waiting = [current] if current is not None and current.started_at else []
        if current is not None and not waiting:
            last = _end_of(latest)[0]
        while not self.draining:
            for run in waiting:
                async with aclosing(self.batches(run.run_id, after)) as batches:
                    async for batch in batches:
                        yield run, batch
                last, after = run.ticket, BEGINNING
            waiting = await self._begun(public, last)

    async def place_now(self, thread_id: str) -> tuple[int, Cursor]:
        """The ticket of the run that began last, and its last event so far: what comes is behind.

        Raises ThreadNotFound.
        """
        async with reading(self._machinery.pool) as conn:
            public = (await threads.get(conn, thread_id)).thread_id
            return _end_of(await runs.last_begun(conn, public))

    async def check_kept(self, thread_id: str, ticket: int, after: Cursor) -> None:
        """Raises EventsNotKept when the thread has lost events behind one of a run; ThreadNotFound.

        Runs that were deleted with their logs are not missed.
        """
        async with reading(self._machinery.pool) as conn:
            public = (await threads.get(conn, thread_id)).thread_id
            named = await runs.by_ticket(conn, public, ticket)
            behind = await runs.begun_after(conn, public, ticket)
        if named is not None:
            named.check_kept(after)
        for run in behind:
            run.check_kept(BEGINNING)

    async def _begun(self, thread_id: str, ticket: int) -> list[Run]:
        """Runs that began behind a ticket; waits until there is one."""
        found: list[Run] = []
        queued: set[str] = set()

        async def news() -> bool:
            """Has a run begun, or come into the queue, that nobody waits for yet?"""
            waited_for = set(queued)
            async with reading(self._machinery.pool) as conn:
                found[:] = await runs.begun_after(conn, thread_id, ticket)
                pending = await runs.of_thread(conn, thread_id, limit=20, status="pending")
                if not found and not pending:
                    await threads.get(conn, thread_id)
            queued.update(run.run_id for run in pending)
            return bool(found) or not queued <= waited_for

        await news()
        while not found and not self.draining:
            hints = [f"thread {thread_id}", *queued]
            await self._machinery.followers.next_hint(hints, news)
            await news()
        return found


def _end_of(run: Run | None) -> tuple[int, Cursor]:
    return (-1, BEGINNING) if run is None else (run.ticket, Cursor(run.next_seq - 1))
