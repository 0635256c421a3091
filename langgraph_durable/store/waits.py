"""What sleeping runs wait for, and the signals that wake them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

from psycopg import AsyncConnection

from langgraph_durable.postgres import Row
from langgraph_durable.serde import decode
from langgraph_durable.sql import statements
from langgraph_durable.waits import DUE, MARK, SIGNAL

_SQL = statements("waits")

Statement = tuple[LiteralString, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """A wait that is over. ``value`` is the JSON text of the signal that ended it, at
    ``position`` among all signals; None: its time has come.
    """

    interrupt_id: str
    position: int | None
    value: str | None
    at: datetime

    @property
    def answer(self) -> dict[str, Any]:
        """What its task is told."""
        told = {MARK: DUE if self.value is None else SIGNAL, "at": self.at.isoformat()}
        return told if self.value is None else told | {"value": decode(self.value)}


def begin(run_id: str, interrupt_id: str, wait: Mapping[str, Any]) -> Statement:
    """A task of a run waits: ``wait`` is the value of its interrupt."""
    return _SQL["begin"], {
        "run_id": run_id,
        "interrupt_id": interrupt_id,
        "signal": wait.get("name"),
        "until": wait.get("until"),
        "seconds": wait.get("seconds"),
    }


async def known(conn: AsyncConnection[Row], run_id: str) -> set[str]:
    """Ids of the waits that a run has on record."""
    rows = await conn.execute(_SQL["known"], {"run_id": run_id})
    return {row["interrupt_id"] for row in await rows.fetchall()}


def fall_asleep(
    run_id: str,
    thread_id: str,
    *,
    open_waits: Sequence[str],
    asks: Sequence[str],
    output: str | None,
    values: str | None,
    interrupts: str | None,
) -> list[Statement]:
    """A run's last statements before it sleeps; ``asks`` are questions open beside its waits."""
    rest = {"thread_id": thread_id, "values": values, "interrupts": interrupts}
    asleep = {"run_id": run_id, "asks": list(asks), "output": output}
    return [
        (_SQL["keep"], {"run_id": run_id, "open": list(open_waits)}),
        (_SQL["fall_asleep"], asleep),
        (_SQL["rest_thread"], rest),
        settle_unasked(thread_id),
    ]


def settle_unasked(thread_id: str) -> Statement:
    """Runs that answer what their thread's sleeper does not ask end; the thread must be locked."""
    return _SQL["settle_unasked"], {"thread_id": thread_id}


async def over(conn: AsyncConnection[Row], run_id: str, thread_id: str) -> list[Over]:
    """What has woken a run: all its waits that are over by now."""
    rows = await conn.execute(_SQL["over"], {"run_id": run_id, "thread_id": thread_id})
    return [Over(**row) for row in await rows.fetchall()]


def wake(
    run_id: str, thread_id: str, ended: Sequence[Over], *, first_entry: str | None
) -> list[Statement]:
    """The run is awake, and what woke it is used up."""
    positions = [each.position for each in ended if each.position is not None]
    taken = {"run_id": run_id, "thread_id": thread_id, "positions": positions}
    return [
        (_SQL["take_signals"], taken),
        (_SQL["finish"], {"run_id": run_id, "over": [each.interrupt_id for each in ended]}),
        (_SQL["wake"], {"run_id": run_id, "first_entry": first_entry}),
    ]


def forget(run_id: str) -> Statement:
    """A run that has ended waits for nothing."""
    return _SQL["forget"], {"run_id": run_id}


async def add_signal(
    conn: AsyncConnection[Row], thread_id: str, name: str, signal_id: str, value: str
) -> bool:
    """Store a signal and make its sleeper due; the thread must be locked. False: known already."""
    signal = {"thread_id": thread_id, "name": name, "signal_id": signal_id, "value": value}
    if await (await conn.execute(_SQL["signal"], signal)).fetchone() is None:
        return False
    await conn.execute(_SQL["call"], {"thread_id": thread_id, "name": name})
    return True


async def answered_sleepers(conn: AsyncConnection[Row]) -> list[Row]:
    """Locked rows of sleepers with a question that the next run of their thread answers."""
    return await (await conn.execute(_SQL["answered_sleepers"])).fetchall()


async def bequeath(conn: AsyncConnection[Row], run_id: str, thread_id: str, heir: str) -> None:
    """A sleeper's waits go to another run, which is the next to run on the thread."""
    await conn.execute(_SQL["inherit"], {"run_id": run_id, "heir": heir})
    await conn.execute(_SQL["give_way"], {"thread_id": thread_id, "heir": heir})
