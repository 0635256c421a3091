"""Runs of graphs that nobody serves any more do not wait for ever: a deploy took theirs away."""

from __future__ import annotations

import logging
from collections.abc import Collection

from psycopg import AsyncConnection

from langgraph_durable import unowned
from langgraph_durable.model import RunStatus, ThreadStatus
from langgraph_durable.postgres import Row
from langgraph_durable.sql import statements

_log = logging.getLogger(__name__)
_SQL = statements("served_graphs")


class Orphans:
    """Tells which graphs this worker serves, and ends runs that have waited ``seconds`` for a graph
    that nobody has served for as long.
    """

    def __init__(self, graphs: Collection[str], worker_id: str, *, seconds: float) -> None:
        self._told = {"graphs": list(graphs), "worker_id": worker_id}
        self._seconds = seconds

    async def sweep(self, conn: AsyncConnection[Row]) -> int:
        """Some such runs; 0 when there are no more."""
        await conn.execute(_SQL["tell"], self._told)
        rows = await conn.execute(_SQL["orphans"], {"seconds": self._seconds})
        found = await rows.fetchall()
        for run in found:
            _log.warning("run %s waits for graph %s in vain", run["run_id"], run["graph_id"])
            await unowned.end(
                conn,
                run,
                checkpoint_thread_id=run["checkpoint_thread_id"],
                status=RunStatus.ERROR,
                thread_status=ThreadStatus.ERROR,
                error=_not_served(run["graph_id"]),
                action=run["cancel_action"],
            )
        return len(found)


def _not_served(graph: str) -> dict[str, str]:
    message = f"No server has served the graph {graph!r} for long. Bring it back, and run again."
    return {"error": "GraphNotServed", "message": message}
