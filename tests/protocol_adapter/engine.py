"""A tiny engine for the doors' own tests: one scripted run, everything recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from langgraph_durable.errors import RunNotFound
from langgraph_durable.model import BEGINNING, Cursor, Event, Run, RunStatus
from langgraph_durable.settings import Settings
from tests.protocol_adapter.langgraph.samples import run


class ScriptedEngine:
    """Serves one run whose log a test writes while somebody follows."""

    def __init__(self, scripted: Run | None = None, *, mount_prefix: str = "") -> None:
        self.mount_prefix = mount_prefix
        self.disabled: frozenset[str] = frozenset()
        self.graph_ids = ["echo"]
        self.settings = Settings()
        self.draining = False
        self.keepers: list[object] = []
        self.hearers: dict[str, Callable[[str], None]] = {}
        self.others: list[ScriptedEngine] = []
        self.heard: list[str] = []
        self.starts = 0
        self.alive = True
        self.the_run = scripted or run(status=RunStatus.RUNNING, next_seq=1)
        self.events: list[Event] = []
        self.checkpoints: dict[str, int] = {}
        self.cancelled = asyncio.Event()
        self.followed = asyncio.Event()
        self.left = asyncio.Event()
        self._written = asyncio.Condition()

    def door_section(self, name: str) -> None:
        return None

    async def start(self) -> None:
        self.starts += 1

    async def stop(self) -> None:
        self.draining = True

    async def ensure_started(self) -> None:
        if not self.starts:
            await self.start()

    async def ping(self) -> bool:
        return self.alive

    async def tell(self, kind: str, text: str) -> None:
        """To itself and to the ``others``, its fellow servers."""
        for engine in (self, *self.others):
            engine.hearers[kind](text)

    async def end_heard(self, run_id: str) -> None:
        self.heard.append(run_id)

    async def write(self, *events: Event) -> None:
        """Appends to the log and wakes every follower."""
        async with self._written:
            self.events += events
            self._written.notify_all()

    async def drain(self) -> None:
        """Lets every follower stop early."""
        async with self._written:
            self.draining = True
            self._written.notify_all()

    def allowed_headers(self, headers: Any) -> dict[str, str]:
        return {}

    async def submit(self, request: Any) -> Run:
        return self.the_run

    async def run(self, run_id: str, thread_id: str | None = None) -> Run:
        if run_id != self.the_run.run_id:
            raise RunNotFound
        return self.the_run

    async def cursor_at(self, run_id: str, checkpoint_id: str) -> Cursor:
        return Cursor(self.checkpoints.get(checkpoint_id, BEGINNING))

    async def cancel(self, run_id: str, thread_id: str | None = None, **action: str) -> None:
        self.cancelled.set()

    async def wait(self, run_id: str, *, new: Run | None = None) -> Run:
        async for _ in self.batches(run_id):
            pass
        return self.the_run

    async def batches(
        self, run_id: str, after: Cursor = BEGINNING, *, new: Run | None = None
    ) -> AsyncIterator[list[Event]]:
        self.followed.set()
        try:
            while True:
                async with self._written:
                    await self._written.wait_for(partial(self._due, after))
                    batch = self._beyond(after)
                if not batch:
                    return
                yield batch
                after = Cursor(batch[-1].seq)
                if batch[-1].name == "end":
                    return
        finally:
            self.left.set()

    def _due(self, after: Cursor) -> bool:
        return self.draining or bool(self._beyond(after))

    def _beyond(self, after: Cursor) -> list[Event]:
        return [event for event in self.events if event.seq > after]
