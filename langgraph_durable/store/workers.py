"""What runs and workers look like from outside, for whoever watches over them."""

from __future__ import annotations

from psycopg import AsyncConnection

from langgraph_durable.postgres import Row
from langgraph_durable.sql import statements

_SQL = statements("workers")


async def standing(conn: AsyncConnection[Row]) -> Row:
    """How many runs wait and run, how long they have waited (seconds), how many workers live."""
    row = await (await conn.execute(_SQL["queue"])).fetchone()
    assert row is not None
    return row
