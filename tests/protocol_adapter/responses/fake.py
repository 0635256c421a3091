"""An engine without a database: runs end when a test says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

import httpx
from starlette.applications import Starlette

from langgraph_durable.errors import RunNotCancellable, RunNotFound, ThreadNotFound
from langgraph_durable.model import Event, Run, RunRequest, RunStatus, ThreadStatus
from protocol_adapter.responses.routes import routes

from .logs import CREATED, FINISHED, Log, a_run


class FakeEngine:
    """What the door asks of an engine. ``script`` is appended to the log of every new run."""

    def __init__(self, *graph_ids: str) -> None:
        self.graph_ids = list(graph_ids or ("agent",))
        self.mount_prefix = ""
        self.requests: list[RunRequest] = []
        self.script: Log | None = Log().start().says("m1", "hello").end()
        self.threads: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        self.stored: dict[str, str] = {}
        self.folds = 0
        self.failing: Exception | None = None
        self._runs: dict[str, Run] = {}
        self._logs: dict[str, list[Event]] = {}
        self._deleted: set[str] = set()
        self._changed = asyncio.Condition()

    def add(self, run: Run, log: Log) -> None:
        """A run from elsewhere, with its log."""
        self._runs[run.run_id] = run
        self._logs[run.run_id] = log.events

    def ask(self, thread_id: str, *, busy: bool = False, **questions: Any) -> None:
        """A thread that exists, with open questions."""
        asked = [{"id": name, "value": value} for name, value in questions.items()]
        status = ThreadStatus.BUSY if busy else ThreadStatus.IDLE
        self.threads[thread_id] = SimpleNamespace(
            thread_id=thread_id, status=status, interrupts={"task": asked} if asked else {}
        )

    def allowed_headers(self, headers: Any) -> dict[str, str]:
        return {}

    async def submit(self, request: RunRequest) -> Run:
        self.requests.append(request)
        run = a_run(
            run_id=request.run_id,
            thread_id=request.thread_id,
            conversation_id=request.thread_id,
            status=RunStatus.PENDING,
            attempt=0,
            started_at=None,
            finished_at=None,
            created_at=CREATED,
        )
        run = replace(run, request=asdict(request))
        self._runs[run.run_id] = run
        self._logs[run.run_id] = Log().events
        if self.script is not None:
            await self.play(run.run_id, self.script)
        return self._runs[run.run_id] if self.script is None else run

    async def play(self, run_id: str, log: Log) -> None:
        """Appends ``log`` behind the run's own ``created``; an ``end`` in it ends the run."""
        async with self._changed:
            self._logs[run_id] += log.events[1:]
            last = log.events[-1]
            status, attempt = RunStatus.RUNNING, log.attempt
            finished = None
            if last.name == "end":
                status = RunStatus(last.data.split('"status":"')[1].split('"')[0])
                finished = FINISHED
            self._runs[run_id] = replace(
                self._runs[run_id], status=status, attempt=attempt, finished_at=finished
            )
            self._changed.notify_all()

    async def run(self, run_id: str) -> Run:
        if self.failing is not None and self.requests:
            raise self.failing
        if run_id not in self._runs:
            raise RunNotFound
        return self._runs[run_id]

    async def wait(self, run_id: str, *, new: bool = False) -> Run:
        async with self._changed:
            await self._changed.wait_for(lambda: self._runs[run_id].status.terminal)
        return await self.run(run_id)

    async def batches(self, run_id: str) -> AsyncIterator[list[Event]]:
        self.folds += 1
        told = 0
        while batch := await self._behind(run_id, told):
            told += len(batch)
            yield batch
            if batch[-1].name == "end":
                return

    async def _behind(self, run_id: str, told: int) -> list[Event]:
        async with self._changed:
            await self._changed.wait_for(lambda: len(self._logs[run_id]) > told)
            return self._logs[run_id][told:]

    async def cancel(self, run_id: str) -> None:
        if self._runs[run_id].status.terminal:
            raise RunNotCancellable
        await self.play(run_id, Log().end("interrupted"))

    async def thread(self, thread_id: str) -> Any:
        if thread_id not in self.threads:
            raise ThreadNotFound
        return self.threads[thread_id]

    async def made_before(self, key: str, request_hash: str | None) -> Run | None:
        return None

    async def answer_to(self, asker: Run, question_id: str) -> None:
        return None

    async def runs(self, thread_id: str, *, limit: int) -> list[Run]:
        return []

    async def thread_behind(self, run: Run) -> str:
        return run.thread_id

    async def items_by_hand(self, thread_id: str) -> dict[str, str | None]:
        return {}

    async def state(self, thread_id: str) -> Any:
        return SimpleNamespace(values=self.values.get(thread_id, {}))

    async def stored_response(self, response_id: str) -> str | None:
        return self.stored.get(response_id)

    async def save_response(
        self, response_id: str, *, run_id: str, terminal: str, item_ids: Collection[str] = ()
    ) -> str:
        return self.stored.setdefault(response_id, terminal)

    async def responses_showing(self, item_ids: Collection[str]) -> dict[str, str]:
        return {}

    async def delete_response(self, run_id: str) -> None:
        self._deleted.add(run_id)

    async def response_deleted(self, run_id: str) -> bool:
        return run_id in self._deleted


@asynccontextmanager
async def client(engine: Any, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    """HTTP straight into the door."""
    app = Starlette(routes=routes(engine, **options))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        yield http
