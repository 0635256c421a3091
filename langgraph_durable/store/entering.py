"""How a new run comes in: what it asks for, its place in a thread's queue, a start at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import AsyncConnection

from langgraph_durable.errors import AssistantNotFound, ThreadNotFound
from langgraph_durable.model import Assistant, Event, Run, RunStatus
from langgraph_durable.postgres import Row
from langgraph_durable.serde import encode
from langgraph_durable.sql import statements
from langgraph_durable.store.assistants import as_assistant
from langgraph_durable.store.claims import Claim, as_claim
from langgraph_durable.store.runs import as_run
from langgraph_durable.store.threads import jsonb

_SQL = statements("entering")
_EPOCH = datetime.fromtimestamp(0, UTC)


async def arrival(
    conn: AsyncConnection[Row], assistant_id: str, served: Sequence[str], thread_id: str
) -> tuple[Assistant, str | None]:
    """The assistant and, when it is there, the thread by its own id.

    Raises AssistantNotFound.
    """
    asked = {"assistant_id": assistant_id, "served": list(served), "thread_id": thread_id}
    row = await (await conn.execute(_SQL["arrival"], asked)).fetchone()
    if row is None:
        raise AssistantNotFound
    return as_assistant(row), row["thread_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """A worker with a slot for a new run, and what that run may take. None: no bound."""

    worker_id: str
    lease_seconds: float
    max_attempts: int | None
    deadline_seconds: float | None


_OBJECTS = ("metadata", "own_metadata", "thread_metadata", "config")
_IDENTITY = ("version", "created_at", "updated_at")
"""What no two states of an assistant have in common."""


class Entered:
    """A run that has joined its thread's queue; it can be read when its transaction is over.

    ``now`` is the run as something else in that transaction has left it: ended, if anything.
    """

    def __init__(self, row: Row | None) -> None:
        self.now: Run | None = None
        self._row = row

    def __bool__(self) -> bool:
        return self._row is not None

    def read(self) -> tuple[Run, Claim | None]:
        """The run as its asker sees it, one that waits or has ended; the attempt that has begun.

        Raises ThreadNotFound: the thread was deleted meanwhile.
        """
        if self.now is not None and self.now.status.terminal:
            return self.now, None
        row = self._row
        if row is None:
            raise ThreadNotFound
        waiting = {"status": RunStatus.PENDING, "attempt": 0, "started_at": None}
        claim = as_claim(row | {"was": RunStatus.PENDING}) if row["begins"] else None
        return as_run(row | waiting), claim


def created(run: Run) -> Event:
    """The event that a new run's log begins with."""
    microseconds = (run.created_at - _EPOCH) // timedelta(microseconds=1)
    return Event(
        run_id=run.run_id,
        seq=0,
        attempt=0,
        name="created",
        data=_created(run.run_id),
        at=(microseconds + 500) // 1000,
    )


def _created(run_id: str) -> str:
    return encode({"run_id": run_id})


async def enter(
    conn: AsyncConnection[Row],
    run: Mapping[str, Any],
    hand: Hand | None,
    *,
    remembered: Assistant | None = None,
) -> Entered:
    """A run joins the queue of its thread; a ``hand`` begins it if it can. One statement.

    Of the run's ``metadata`` the thread's count more, and its ``own_metadata`` count most. Nothing
    has entered unless the assistant is still as it is ``remembered``.
    """
    parameters = {
        **run,
        **{name: getattr(hand, name, None) for name in Hand.__slots__},
        **{name: jsonb(run[name]) for name in _OBJECTS},
        **{f"known_{name}": getattr(remembered, name, None) for name in _IDENTITY},
        "created": _created(run["run_id"]),
    }
    return Entered(await (await conn.execute(_SQL["enter"], parameters)).fetchone())
