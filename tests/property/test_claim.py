"""The claim, with everybody at once: no overlap, order kept, nobody robbed, nothing left over."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_durable.errors import LeaseLost, RunNotCancellable
from langgraph_durable.eventlog.change import RunLog
from langgraph_durable.store.claims import Claim
from tests.property.history import Note, history_of, keep_history
from tests.property.laws import race
from tests.property.rig import (
    SERVED,
    Rig,
    cancelled,
    end,
    handed_back,
    new_thread,
    says,
    succeeded,
    write,
)

Fate = str
"""What becomes of one attempt. A ``zombie`` comes back after its lease ran out."""


@dataclass(frozen=True)
class Asked:
    """One run of a scenario: its thread, its graph, its attempts' fates before it ends well."""

    thread: int
    graph: str
    fates: tuple[Fate, ...]
    cancelled: bool


asked = st.builds(
    Asked,
    thread=st.integers(0, 4),
    graph=st.sampled_from([*SERVED, *SERVED, *SERVED, "foreign"]),
    fates=st.lists(st.sampled_from(["crash", "hand back", "zombie"]), max_size=3).map(tuple),
    cancelled=st.sampled_from([False, False, False, True]),
)


@pytest.fixture(scope="module")
def rig(module_database: str) -> Iterator[Rig]:
    with Rig(module_database, max_attempts=100).started() as running:
        keep_history(running)
        yield running


@dataclass
class Floor:
    """Many workers over the same threads."""

    rig: Rig
    threads: list[str]
    fates: dict[str, list[Fate]] = field(default_factory=dict)

    async def submit(self, one: Asked) -> None:
        run = await self.rig.submit(self.threads[one.thread], one.graph)
        self.fates.setdefault(run.run_id, []).extend(one.fates)
        if one.cancelled:
            try:
                await self.rig.engine.cancel(run.run_id)
            except RunNotCancellable:
                assert (await self.rig.engine.run(run.run_id)).status.terminal

    async def work(self, worker: int) -> bool:
        """Claim and execute until there is nothing to claim; was there anything?"""
        found = False
        while claims := await self.claim(worker):
            await asyncio.gather(*(self.execute(worker, claim) for claim in claims))
            found = True
        return found

    async def claim(self, worker: int) -> list[Claim]:
        """Every other worker leaves it to the rest to end what nobody may try again."""
        return await self.rig.claim(
            f"w{worker}", slots=1 + worker % 3, idle=False, sweeps=worker % 2 == 0
        )

    async def execute(self, worker: int, claim: Claim) -> None:
        fates = self.fates.setdefault(claim.run_id, [])
        log = self.rig.pen(claim, process=worker % 2)
        await write(log, says(log, f"by {worker}"))
        match fates.pop() if fates else "end":
            case "crash":
                await self.rig.expire(claim.run_id)
            case "hand back":
                await end(log, handed_back())
            case "zombie":
                await self.rig.expire(claim.run_id)
                await self.come_back(claim, log)
            case _:
                run = await self.rig.engine.run(claim.run_id)
                await end(log, cancelled() if run.cancel_action else succeeded())

    async def come_back(self, claim: Claim, log: RunLog) -> None:
        """Whoever is first has the run: the zombie, or the next owner."""
        try:
            await end(log, succeeded())
        except LeaseLost:
            return
        assert (await self.rig.engine.run(claim.run_id)).attempt == claim.attempt

    async def all_settled(self, wanted: list[Asked], workers: int) -> None:
        """At last one worker alone finds nothing: together they may step aside for each other."""
        submitting = asyncio.gather(*map(self.submit, wanted))
        submitted = False
        while not submitted:
            submitted = submitting.done()
            while any(await asyncio.gather(*map(self.work, range(workers)))) or await self.work(0):
                pass
            await submitting


@settings(race, max_examples=12)
@given(st.lists(asked, min_size=10, max_size=24), st.integers(8, 16))
def test_many_workers_share_many_threads(rig: Rig, wanted: list[Asked], workers: int) -> None:
    floor = Floor(rig, [new_thread() for _ in range(5)])

    rig.run(floor.all_settled(wanted, workers))

    for thread in floor.threads:
        notes, rows = history_of(rig, thread), runs_of(rig, thread)
        no_two_overlap(notes)
        runs_start_in_the_order_of_their_tickets(notes, rows)
        attempts_count_up(notes)
        nothing_forbidden_starts(notes)
        everything_possible_has_ended(rig, rows)


Row = dict[str, Any]


def runs_of(rig: Rig, thread_id: str) -> list[Row]:
    return rig.query(
        "SELECT run_id::text, ticket, graph_id, status, attempt FROM runs"
        " WHERE thread_id = %s ORDER BY ticket",
        (thread_id,),
    )


def no_two_overlap(notes: list[Note]) -> None:
    """A run that has started keeps its thread until it ends, also while it is handed back."""
    holder: str | None = None
    for note in notes:
        if note.starts:
            assert holder in (None, note.run_id)
            holder = note.run_id
        elif note.ends and holder == note.run_id:
            holder = None


def runs_start_in_the_order_of_their_tickets(notes: list[Note], rows: list[Row]) -> None:
    """At a run's first start everything submitted to its thread before it has ended."""
    ended: set[int] = set()
    for note in notes:
        if note.starts and note.attempt == 1:
            assert {row["ticket"] for row in rows if row["ticket"] < note.ticket} <= ended
        elif note.ends:
            ended.add(note.ticket)


def attempts_count_up(notes: list[Note]) -> None:
    started: dict[str, int] = {}
    for note in notes:
        if note.starts:
            assert note.attempt == started.get(note.run_id, 0) + 1
            started[note.run_id] = note.attempt


def nothing_forbidden_starts(notes: list[Note]) -> None:
    """Neither another server's run, nor a cancelled one, nor one that has ended."""
    ended: set[str] = set()
    for note in notes:
        if note.starts:
            assert note.graph_id in SERVED
            assert not note.cancelled
            assert note.run_id not in ended
        elif note.ends:
            assert note.run_id not in ended
            ended.add(note.run_id)


def everything_possible_has_ended(rig: Rig, rows: list[Row]) -> None:
    """Only what waits behind a run of another server waits for ever."""
    blocked = False
    for row in rows:
        blocked = blocked or (row["graph_id"] == "foreign" and row["status"] == "pending")
        assert row["status"] not in ("pending", "running") or (blocked and row["attempt"] == 0)
        names = [event.name for event in rig.run(rig.log(row["run_id"]))]
        assert names[0] == "created"
        assert names.count("end") == (row["status"] != "pending")
        assert (names[-1] == "end") == (row["status"] != "pending")
