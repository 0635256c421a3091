"""A sleeper at both ends of its sleep: what it waits for, and what has woken it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.types import StateSnapshot
from psycopg import AsyncConnection

from langgraph_durable.eventlog.change import Statement
from langgraph_durable.postgres import Row
from langgraph_durable.serde import encode
from langgraph_durable.store import checkpoints, waits
from langgraph_durable.store.claims import Claim
from langgraph_durable.unasked import open_waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Waking:
    """The ``entry`` from which a run goes on, its ``answers`` to the waits that are over in it;
    the ``statements`` use up what ended them.
    """

    answers: dict[str, Any]
    entry: dict[str, Any]
    statements: Sequence[Statement]


async def wake(conn: AsyncConnection[Row], claim: Claim, checkpoint_thread_id: str) -> Waking:
    """What has woken a run: all its waits that are over by now, perhaps none."""
    over = await waits.over(conn, claim.run_id, claim.thread_id)
    stands = await checkpoints.entry(conn, checkpoint_thread_id)
    answers = {each.interrupt_id: each.answer for each in over}
    return Waking(
        answers=answers,
        entry={**stands, "answers": answers, "crashes": claim.crashes},
        statements=waits.wake(
            claim.run_id,
            claim.thread_id,
            over,
            first_entry=encode(claim.first_entry or claim.entry),
        ),
    )


async def still_waits(conn: AsyncConnection[Row], run_id: str, state: StateSnapshot) -> list[str]:
    """The waits on a run's record that a state stands at; those of runs before it are not."""
    known = await waits.known(conn, run_id)
    return [wait for wait in open_waits(state) if wait in known]
