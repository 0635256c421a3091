"""Items of the store, where LangGraph's own code does not reach: those that have expired."""

from __future__ import annotations

from psycopg import AsyncConnection

from langgraph_durable.postgres import Row
from langgraph_durable.sql import statements

_SQL = statements("items")


async def sweep(conn: AsyncConnection[Row]) -> int:
    """Delete what has expired; answers how many."""
    return (await conn.execute(_SQL["sweep"])).rowcount
