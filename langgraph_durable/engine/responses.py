"""The Responses door's own records."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from langgraph_durable.engine.runs import Runs
from langgraph_durable.postgres import reading, transaction
from langgraph_durable.store import responses, threads


class Responses(Runs):
    """One terminal object per run, stored once; items that no run has made."""

    async def save_response(
        self, response_id: str, *, run_id: str, terminal: str, item_ids: Collection[str] = ()
    ) -> str:
        """Store a terminal object unless one is there; answers the stored one.

        By ``item_ids`` it can be found again.
        """
        async with transaction(self._machinery.pool) as conn:
            return await responses.save(
                conn, response_id, run_id=run_id, terminal=terminal, item_ids=item_ids
            )

    async def responses_showing(self, item_ids: Collection[str]) -> dict[str, str]:
        """The terminal objects that show these items, by item; the latest if there are several."""
        async with reading(self._machinery.pool) as conn:
            return await responses.showing(conn, item_ids)

    async def stored_response(self, response_id: str) -> str | None:
        """The stored terminal object."""
        async with reading(self._machinery.pool) as conn:
            return await responses.stored(conn, response_id)

    async def delete_response(self, run_id: str) -> None:
        """Hide a run from the Responses door. Raises RunNotFound."""
        run = await self.run(run_id)
        async with transaction(self._machinery.pool) as conn:
            await responses.delete(conn, "resp_" + run.run_id.replace("-", ""), run.run_id)

    async def response_deleted(self, run_id: str) -> bool:
        """Is the run hidden from the Responses door?"""
        async with reading(self._machinery.pool) as conn:
            return await responses.deleted(conn, run_id)

    async def items_by_hand(self, thread_id: str) -> dict[str, str | None]:
        """What was put into a conversation by hand, id -> JSON text; None: taken out of it.

        Raises ThreadNotFound.
        """
        async with reading(self._machinery.pool) as conn:
            thread = await threads.get(conn, thread_id)
            return await responses.items(conn, thread.thread_id)

    async def put_items(self, thread_id: str, items: Mapping[str, str | None]) -> None:
        """Put items into a conversation; None takes one out. Raises ThreadNotFound."""
        async with transaction(self._machinery.pool) as conn:
            thread = await threads.lock(conn, thread_id)
            for item_id, item in items.items():
                await responses.put_item(conn, thread["thread_id"], item_id, item)
