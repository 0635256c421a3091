"""Readers of a log, wherever they start and however they hear: exactly the rest, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_durable.eventlog import followers as eventlog
from langgraph_durable.eventlog.change import Change, RunLog
from langgraph_durable.eventlog.followers import Followers
from langgraph_durable.eventlog.notifier import Notifier
from langgraph_durable.eventlog.writer import Writer
from langgraph_durable.model import Cursor, Event
from langgraph_durable.store.runs import Claim
from tests.logs import read_log
from tests.property.laws import race
from tests.property.rig import Rig, end, handed_back, new_thread, says, succeeded, write

PATIENCE_SECONDS = 5.0
"""Below the poll of a follower that hears: whoever needs it was not woken."""


@dataclass(frozen=True)
class Reader:
    """Somebody who joins after some steps, at a cursor, in the writer's process or another."""

    after: int
    joins: int
    near: bool


@dataclass(frozen=True)
class Step:
    """What happens to the log: events are appended, or the owner changes."""

    events: int
    waits: bool = True
    next_owner: bool = False


readers = st.builds(Reader, st.integers(-1, 60), st.integers(0, 8), st.booleans())
steps = st.builds(Step, st.integers(1, 9), st.booleans(), st.sampled_from([False, False, True]))


class Story:
    """One run's log as it grows, and everybody who follows it."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.process = asyncio.get_running_loop()
        self.near = Followers(rig.pool, hears=lambda: True)
        self.far = Followers(rig.pool, hears=lambda: True)
        self.listening = asyncio.Event()
        self.writer: Writer = rig.writer(self._committed)
        self.notifier = Notifier(
            rig.database("reader"),
            deaf_after_seconds=60,
            events=self.far.wake,
            work=lambda: None,
            cancel=lambda _: None,
            connected=self.listening.set,
        )

    def _committed(self, hints: list[str]) -> None:
        self.process.call_soon_threadsafe(self.near.wake, hints)

    @asynccontextmanager
    async def told(self) -> AsyncIterator[None]:
        self.writer.start()
        self.notifier.start()
        await self.listening.wait()
        yield
        await self.notifier.stop()
        await asyncio.to_thread(self.writer.stop)

    async def read(self, run_id: str, reader: Reader) -> list[Event]:
        place = self.near if reader.near else self.far
        found: list[Event] = []
        async for batch in place.follow(run_id, Cursor(reader.after)):
            assert 0 < len(batch) <= eventlog.PAGE
            found += batch
        return found

    async def owner(self) -> RunLog:
        [claim] = await self.rig.claim()
        return self.pen(claim)

    def pen(self, claim: Claim) -> RunLog:
        log = self.rig.pen(claim)
        log._write = self.writer.put
        return log

    async def run(self, wanted: list[Reader], steps: list[Step]) -> list[list[Event]]:
        run_id = (await self.rig.submit(new_thread())).run_id
        reading: dict[Reader, asyncio.Task[list[Event]]] = {}
        log = await self.owner()
        for number, step in enumerate([*steps, None]):
            for reader in wanted:
                if reader.joins == number or step is None:
                    reading.setdefault(reader, asyncio.create_task(self.read(run_id, reader)))
            if step is not None:
                log = await self.take(log, step)
        await end(log, succeeded())
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await asyncio.gather(*(reading[reader] for reader in wanted))
