"""Readers of a log, wherever they start and however they hear: exactly the rest, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_durable.eventlog import followers as eventlog
from langgraph_durable.eventlog.change import RunLog
from langgraph_durable.eventlog.followers import Followers
from langgraph_durable.eventlog.notifier import Notifier
from langgraph_durable.model import Cursor, Event
from langgraph_durable.store.entering import created
from tests.property.laws import race
from tests.property.rig import Rig, end, handed_back, new_thread, says, succeeded, write

PATIENCE_SECONDS = 5.0
"""Below the poll of a follower that hears: whoever needs it was not woken."""


@dataclass(frozen=True)
class Reader:
    """Somebody who joins after some steps, at a cursor, in the writer's process or another.

    ``new``: before the first step, having stored the run, of which everything is wanted.
    """

    after: int
    joins: int
    near: bool
    new: bool


@dataclass(frozen=True)
class Step:
    """What happens to the log: events are appended, and the owner may change."""

    events: int
    waits: bool
    next_owner: bool


readers = st.one_of(
    st.builds(Reader, st.integers(-1, 30), st.integers(0, 6), st.booleans(), st.just(False)),
    st.builds(Reader, st.just(-1), st.just(0), st.booleans(), st.just(True)),
)
steps = st.builds(Step, st.integers(1, 9), st.booleans(), st.sampled_from([False, False, True]))


class Story:
    """One run's log as it grows, and everybody who follows it."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.thread = new_thread()
        self.near = Followers(rig.pool, hears=lambda: True)
        self.far = Followers(rig.pool, hears=lambda: True)
        main = asyncio.get_running_loop()
        self.writer = rig.writer(
            lambda batch: main.call_soon_threadsafe(self.near.committed, batch)
        )
        self.reading: dict[Reader, asyncio.Task[list[Event]]] = {}
        self.listening = asyncio.Event()
        self.notifier = Notifier(
            rig.database("reader"),
            deaf_after_seconds=60,
            events=self.far.wake,
            work=lambda: None,
            cancel=lambda _: None,
            connected=self.listening.set,
        )

    @classmethod
    @asynccontextmanager
    async def begun(cls, rig: Rig) -> AsyncIterator[Story]:
        story = cls(rig)
        story.writer.start()
        story.notifier.start()
        await story.listening.wait()
        yield story
        await story.notifier.stop()
        await asyncio.to_thread(story.writer.stop)
        await rig.forget(story.thread)

    async def tell(self, wanted: list[Reader], steps: list[Step], *, drains: bool) -> None:
        self.run = await self.rig.submit(self.thread)
        self.run_id = self.run.run_id
        log = await self.owner()
        for number, step in enumerate(steps):
            self.join([reader for reader in wanted if reader.joins == number])
            log = await self.take(log, step)
        await (write(log, says(log, "last")) if drains else end(log, succeeded()))
        if drains:
            self.near.close()
            self.far.close()
        self.join([reader for reader in wanted if reader not in self.reading])

    def join(self, joining: list[Reader]) -> None:
        for reader in joining:
            self.reading[reader] = asyncio.create_task(self.read(reader))

    async def owner(self) -> RunLog:
        [claim] = await self.rig.claim()
        return self.rig.pen(claim, writer=self.writer)

    async def take(self, log: RunLog, step: Step) -> RunLog:
        change = says(log, *map(str, range(step.events)))
        if not step.next_owner:
            written = log.put(change)
            if step.waits:
                await asyncio.wrap_future(written)
            return log
        await write(log, change)
        await end(log, handed_back())
        return await self.owner()

    async def read(self, reader: Reader) -> list[Event]:
        place = self.near if reader.near else self.far
        found: list[Event] = []
        first = created(self.run) if reader.new else None
        async for batch in place.follow(self.run_id, Cursor(reader.after), first=first):
            assert 0 < len(batch) <= eventlog.PAGE
            found += batch
        return found

    async def check(self) -> None:
        await asyncio.wait(self.reading.values(), timeout=PATIENCE_SECONDS)
        whole = await self.rig.log(self.run_id)
        for reader, task in self.reading.items():
            assert task.done(), f"{reader} was not woken"
            assert task.result() == whole[reader.after + 1 :]
        assert self.near.count(self.run_id) == self.far.count(self.run_id) == 0


@settings(race, max_examples=60)
@given(
    st.lists(readers, min_size=1, max_size=6, unique=True),
    st.lists(steps, min_size=1, max_size=6),
    st.booleans(),
)
def test_every_reader_gets_exactly_the_rest_in_order(
    rig: Rig, wanted: list[Reader], steps: list[Step], drains: bool
) -> None:
    async def tell() -> None:
        async with Story.begun(rig) as story:
            await story.tell(wanted, steps, drains=drains)
            await story.check()

    with patch.object(eventlog, "PAGE", 4):
        rig.run(tell())
