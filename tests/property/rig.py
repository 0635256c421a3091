"""The engine's parts, driven by hand: submit, claim, write, crash and hand back, step by step."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from langgraph.graph import START, MessagesState, StateGraph

from langgraph_durable import unowned
from langgraph_durable.ending import Ending
from langgraph_durable.engine import DurableEngine
from langgraph_durable.eventlog.change import Change, RunLog
from langgraph_durable.eventlog.writer import Writer
from langgraph_durable.model import Event, RecoveryStrategy, Run, RunRequest, RunStatus
from langgraph_durable.policy import RunPolicy
from langgraph_durable.postgres import Database, reading, transaction
from langgraph_durable.served import Served
from langgraph_durable.settings import Settings
from langgraph_durable.store import claims, events
from langgraph_durable.store.claims import Claim

Answer = TypeVar("Answer")

SERVED = ("agent", "log")
"""Graphs that the rig's workers serve; ``foreign`` is another server's."""


def _graph() -> Any:
    return StateGraph(MessagesState).add_node("n", lambda _: None).add_edge(START, "n").compile()


class Rig:
    """An engine that only asks, and the writers of two processes that work.

    Nothing happens by itself: leases last a minute and nobody beats, claims or sweeps.
    """

    def __init__(self, database_url: str, *, writer: type[Writer] = Writer, **knobs: Any) -> None:
        self.settings = Settings(
            database_url=database_url,
            lease_seconds=60,
            linger_seconds=0.001,
            pool_size=20,
            recovery_by_graph={"log": RecoveryStrategy.EVENT_LOG},
            **knobs,
        )
        graphs = {name: _graph() for name in (*SERVED, "foreign")}
        policy = RunPolicy(max_attempts=self.settings.max_attempts)
        self._served = Served(dict.fromkeys(SERVED, policy)).rows()
        self.engine = DurableEngine(graphs, settings=self.settings, works=False)
        self._writer = writer
        self.writers = [self.writer(lambda _: None) for _ in range(2)]
        self._runner = asyncio.Runner()

    @contextmanager
    def started(self) -> Iterator[Rig]:
        self.run(self.engine.start())
        for writer in self.writers:
            writer.start()
        self.pool = self.engine._machinery.pool
        self._eye = self.database("eye").connect()
        yield self
        self._eye.close()
        for writer in self.writers:
            writer.stop()
        self.run(self.engine.stop())
        self._runner.close()

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Do something asynchronous on the rig's loop."""
        return self._runner.run(work)

    def database(self, name: str) -> Database:
        """Connections like those of a process called ``name``."""
        return Database(self.settings, name)

    def writer(self, committed: Any) -> Writer:
        """The writer of one more process."""
        return self._writer(
            self.database("writer"), lease_seconds=60, linger_seconds=0.001, committed=committed
        )

    async def submit(self, thread_id: str, graph: str = "agent") -> Run:
        request = RunRequest(assistant=graph, thread_id=thread_id, if_not_exists="create")
        return await self.engine.submit(request)

    async def claim(
        self, worker_id: str = "w", *, slots: int = 1, idle: bool = True, sweeps: bool = True
    ) -> list[Claim]:
        """What a worker does when it looks for work: end what nobody may try again, then claim."""
        async with transaction(self.pool) as conn:
            if sweeps:
                await unowned.end_abandoned(conn, self._served, self.settings.max_attempts)
            return await claims.claim(
                conn,
                worker_id=worker_id,
                served=self._served,
                slots=slots,
                idle=idle,
                lease_seconds=60,
            )

    async def sweep(self) -> None:
        """End what nobody may try again, and nothing else."""
        async with transaction(self.pool) as conn:
            await unowned.end_abandoned(conn, self._served, self.settings.max_attempts)

    async def expire(self, run_id: str) -> None:
        """The owner crashed a lease ago."""
        async with reading(self.pool) as conn:
            await conn.execute(
                "UPDATE runs SET lease_expires_at = clock_timestamp() - interval '1 second'"
                " WHERE run_id = %s AND status = 'running'",
                (run_id,),
            )

    def pen(
        self,
        claim: Claim,
        process: int = 0,
        *,
        writer: Writer | None = None,
        next_seq: int | None = None,
    ) -> RunLog:
        """A pen for a claimed run, in one of the two processes or at a writer of its own."""
        return RunLog(
            run_id=claim.run_id,
            attempt=claim.attempt,
            thread_id=claim.thread_id,
            next_seq=claim.next_seq if next_seq is None else next_seq,
            write=(writer or self.writers[process]).put,
            on_lost=lambda _: None,
        )

    async def forget(self, *thread_ids: str) -> None:
        """Leave nothing that a later example could claim."""
        async with reading(self.pool) as conn:
            await conn.execute("DELETE FROM threads WHERE thread_id = ANY(%s)", (list(thread_ids),))

    def query(self, statement: str, parameters: Any = ()) -> list[dict[str, Any]]:
        """Rows of one statement, past the engine."""
        cursor = self._eye.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []

    async def log(self, run_id: str) -> list[Event]:
        """A run's whole log, proved dense."""
        async with reading(self.pool) as conn:
            found = await events.whole(conn, run_id)
        assert [event.seq for event in found] == list(range(len(found)))
        return found


async def write(log: RunLog, change: Change) -> None:
    """Raises LeaseLost when the change was refused."""
    change.urgent = True
    await asyncio.wrap_future(log.put(change))


async def end(log: RunLog, ending: Ending) -> None:
    """An attempt's last word. Raises LeaseLost when it was refused."""
    await write(log, ending.change(log, Change(log=log)))


def says(log: RunLog, *texts: str) -> Change:
    """Events to append."""
    return Change(log=log, events=[log.event("custom", text) for text in texts])


def succeeded() -> Ending:
    return Ending.complete({"done": True})


def handed_back() -> Ending:
    return Ending.handed_back()


def cancelled() -> Ending:
    return Ending.without_state(RunStatus.INTERRUPTED, None)


def new_thread() -> str:
    return f"thread-{uuid.uuid4()}"
