"""One batch of the group-commit writer: whatever is wrong with one attempt harms no other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future

from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_durable.errors import LeaseLost
from langgraph_durable.eventlog.change import Change, RunLog
from langgraph_durable.store.claims import Claim
from tests.property.laws import race
from tests.property.rig import Rig, end, new_thread, says, succeeded


def with_checkpoint(log: RunLog, *, type_: str = "type", checkpoint: str = "{}") -> Change:
    """An event, and the row of a checkpoint in the same change."""
    change = says(log, "bad")
    change.blobs = [(log.thread_id, "", "channel", "1", type_, b"")]
    change.checkpoints = [(log.thread_id, "", "1", None, checkpoint, "{}")]
    return change


def without_name(log: RunLog) -> Change:
    return Change(log=log, events=[(log.next_seq, None, "x", None, None)])


BAD: dict[str, Callable[[RunLog], Change]] = {
    "NUL in a text": lambda log: with_checkpoint(log, type_="a\x00"),
    "half a character": lambda log: with_checkpoint(log, type_="\ud800"),
    "half a JSON": lambda log: with_checkpoint(log, checkpoint="{"),
    "an event without a name": without_name,
}

fates = st.sampled_from(["good", "good", "stale", "impatient", *BAD])


class Batch:
    """Many attempts that write at the same moment."""

    def __init__(self, rig: Rig, wanted: list[str]) -> None:
        self.rig = rig
        self.wanted = wanted
        self.futures: list[Future[None]] = []

    async def begin(self) -> list[Claim]:
        for _ in self.wanted:
            await self.rig.submit(new_thread())
        claims = await self.rig.claim(slots=len(self.wanted), idle=False)
        assert len(claims) == len(self.wanted)
        for fate, claim in zip(self.wanted, claims, strict=True):
            if fate == "stale":
                await end(self.rig.pen(claim), succeeded())
        return claims

    async def write(self, claims: list[Claim]) -> None:
        """Everybody's change, queued before anything of it is written."""
        for fate, claim in zip(self.wanted, claims, strict=True):
            log = self.rig.pen(claim)
            first = BAD[fate](log) if fate in BAD else says(log, "one", "two")
            self.futures.append(log.put(first))
            if fate == "impatient":
                asyncio.wrap_future(self.futures[-1]).cancel()

    def check(self, claims: list[Claim]) -> None:
        for fate, claim, future in zip(self.wanted, claims, self.futures, strict=True):
            error = future.exception(5)
            names = [e.name for e in self.rig.run(self.rig.log(claim.run_id))]
            if fate in ("good", "impatient"):
                assert (error, names) == (None, ["created", "custom", "custom"])
            elif fate == "stale":
                assert isinstance(error, LeaseLost)
                assert names == ["created", "end"]
            else:
                assert error is not None
                assert names == ["created"]


@settings(race, max_examples=20)
@given(st.lists(fates, min_size=2, max_size=8))
def test_nobody_in_a_batch_is_harmed_by_another(rig: Rig, wanted: list[str]) -> None:
    batch = Batch(rig, wanted)
    claims = rig.run(batch.begin())

    rig.run(batch.write(claims))

    batch.check(claims)
    rig.run(rig.forget(*(claim.thread_id for claim in claims)))
