"""Crons: make, read, change, forget."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from langgraph_durable.crons import next_date
from langgraph_durable.engine.started import Started
from langgraph_durable.errors import AssistantNotFound, ThreadNotFound, UnknownGraph
from langgraph_durable.model import Assistant, Cron, CronWish
from langgraph_durable.postgres import Row, reading, transaction
from langgraph_durable.request import stored
from langgraph_durable.store import crons, threads


class Crons(Started):
    """The engine's crons. Every process that works fires them, each date once."""

    async def create_cron(self, wish: CronWish) -> Cron:
        """A new cron; with a thread in its request it runs there, else on a new thread each time.

        Raises:
            AssistantNotFound, ThreadNotFound: there is none.
            InvalidSchedule: the schedule or the time zone cannot be understood.
        """
        async with transaction(self._machinery.pool) as conn:
            assistant = await self._assistant_of_cron(conn, wish.request.assistant)
            thread_id = wish.request.thread_id
            if thread_id is not None:
                thread_id = (await threads.get(conn, thread_id)).thread_id
            now = await crons.now(conn)
            date = next_date(wish.schedule, wish.timezone, now, wish.end_time)
            ids = {"cron_id": str(uuid.uuid4()), "assistant_id": assistant.assistant_id}
            return await crons.insert(conn, {**_told(wish, date), **ids, "thread_id": thread_id})

    async def cron(self, cron_id: str) -> Cron:
        """Raises CronNotFound."""
        async with reading(self._machinery.pool) as conn:
            return await crons.get(conn, cron_id)

    async def update_cron(self, cron_id: str, change: Callable[[Cron], CronWish]) -> Cron:
        """What ``change`` makes of the cron, which nobody else changes meanwhile.

        Its assistant and its thread stay. It fires next as it would have, unless the change is
        one of its dates. Raises CronNotFound, InvalidSchedule, and what ``change`` raises.
        """
        async with transaction(self._machinery.pool) as conn:
            held = await crons.lock(conn, cron_id)
            wish = change(held)
            date = held.next_run_date
            if _dates(wish) != _dates(held):
                now = await crons.now(conn)
                date = next_date(wish.schedule, wish.timezone, now, wish.end_time)
            return await crons.update(conn, {**_told(wish, date), "cron_id": cron_id})

    async def delete_cron(self, cron_id: str) -> None:
        """Forget it; its runs stay. Raises CronNotFound."""
        async with transaction(self._machinery.pool) as conn:
            await crons.delete(conn, cron_id)

    async def search_crons(
        self, *, assistant: str | None = None, thread_id: str | None = None, **filters: Any
    ) -> tuple[list[Cron], int]:
        """Crons and how many match. Other filters: see ``langgraph_durable.store.crons``."""
        async with reading(self._machinery.pool) as conn:
            try:
                assistant_id = assistant and self._assistant_id(assistant)
                if thread_id is not None:
                    thread_id = (await threads.get(conn, thread_id)).thread_id
            except (UnknownGraph, ThreadNotFound):
                return [], 0
            return await crons.search(
                conn, assistant_id=assistant_id, thread_id=thread_id, **filters
            )

    async def _assistant_of_cron(self, conn: AsyncConnection[Row], name: str) -> Assistant:
        try:
            return await self._find_assistant(conn, name)
        except (UnknownGraph, AssistantNotFound):
            raise AssistantNotFound(f"Assistant '{name}' not found") from None


def _dates(cron: Cron | CronWish) -> tuple[Any, ...]:
    """All that says when it fires."""
    return cron.schedule, cron.timezone, cron.end_time, cron.enabled


def _told(wish: CronWish, date: datetime | None) -> dict[str, Any]:
    """The columns that a client's wish and its first date fill."""
    return {
        "schedule": wish.schedule,
        "timezone": wish.timezone,
        "end_time": wish.end_time,
        "enabled": wish.enabled,
        "metadata": wish.request.metadata,
        "payload": wish.payload,
        "request": stored(wish.request),
        "next_run_date": date,
    }
