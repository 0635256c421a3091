"""Webhook deliveries: one row for every run that has somebody to tell of its end."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import AsyncConnection

from langgraph_durable.postgres import Row
from langgraph_durable.sql import statements

_SQL = statements("webhooks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One try, just begun; ``attempts`` counts it. ``payload`` is there from the second on."""

    run_id: str
    url: str
    payload: str | None
    attempts: int


async def insert(conn: AsyncConnection[Row], run_id: str, url: str) -> None:
    """In the transaction that makes the run."""
    await conn.execute(_SQL["insert"], {"run_id": run_id, "url": url})


async def take(conn: AsyncConnection[Row], *, slots: int, try_seconds: float) -> list[Delivery]:
    """Begin up to ``slots`` tries that are due; each is nobody else's for ``try_seconds``."""
    rows = await conn.execute(_SQL["take"], {"slots": slots, "try_seconds": try_seconds})
    return [Delivery(**row | {"run_id": str(row["run_id"])}) for row in await rows.fetchall()]


async def keep_payload(conn: AsyncConnection[Row], run_id: str, payload: str) -> str:
    """Store what is told unless it is stored; answers the stored one."""
    parameters = {"run_id": run_id, "payload": payload}
    row = await (await conn.execute(_SQL["keep_payload"], parameters)).fetchone()
    return str(row["payload"]) if row else payload


async def delivered(conn: AsyncConnection[Row], run_id: str) -> None:
    await conn.execute(_SQL["delivered"], {"run_id": run_id})


async def failed(
    conn: AsyncConnection[Row], delivery: Delivery, error: str, *, pause: float | None
) -> None:
    """Try again after ``pause`` seconds; None gives up."""
    await conn.execute(
        _SQL["failed"],
        {
            "run_id": delivery.run_id,
            "attempts": delivery.attempts,
            "error": error,
            "pause": pause,
        },
    )
