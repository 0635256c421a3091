"""Signals: what runs that sleep are woken with."""

from __future__ import annotations

import uuid
from typing import Any

from langgraph_durable.engine.started import Started
from langgraph_durable.errors import InvalidSignal
from langgraph_durable.postgres import transaction
from langgraph_durable.serde import encode
from langgraph_durable.store import runs, threads, waits
from langgraph_durable.waits import LONGEST_NAME


class Signals(Started):
    """The engine's signals."""

    async def signal(
        self, thread_id: str, name: str, value: Any = None, *, signal_id: str | None = None
    ) -> bool:
        """Give a thread a signal, before or while one of its runs waits for it.

        Each signal ends one ``wait_for_signal(name)`` with its ``value``, any JSON, in the order
        they came. One with a ``signal_id`` that this name has had on the thread changes nothing:
        the answer is False then.

        Raises ThreadNotFound, InvalidSignal for a name or an id that is empty or too long.
        """
        for text in (name, name if signal_id is None else signal_id):
            if not (0 < len(text) <= LONGEST_NAME and "\x00" not in text):
                raise InvalidSignal
        async with transaction(self._machinery.pool) as conn:
            thread = await threads.lock(conn, thread_id)
            new = await waits.add_signal(
                conn, thread["thread_id"], name, signal_id or str(uuid.uuid4()), encode(value)
            )
            await runs.announce_work(conn)
        self._machinery.wake_worker()
        return new
