"""Which ends of runs a client has heard, known to every server.

Only those of runs that the agent streaming protocol has started: see ``event_stream``.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import StoreUnavailable
from langgraph_durable.model import Run
from protocol_adapter.langgraph.protocol_events import LOGGED

RECENT_SECONDS = 10.0
"""How late a client may come to hear of the end of a run that it has started."""


class Ends:
    """The ends of runs, heard or not."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine
        self._noting: set[asyncio.Task[None]] = set()

    def told(self, run: Run) -> None:
        """Somebody who follows this very run has heard of its end; noted beside what goes on."""
        if _started_here(run):
            task = asyncio.create_task(self._note(run.run_id))
            self._noting.add(task)
            task.add_done_callback(self._noting.discard)

    async def are_news(self, run: Run) -> bool:
        """May somebody still wait for the end of this run, which is over?"""
        return _started_here(run) and await self._engine.end_is_news(run.run_id, RECENT_SECONDS)

    async def _note(self, run_id: str) -> None:
        with suppress(StoreUnavailable):
            await self._engine.end_heard(run_id)


def _started_here(run: Run) -> bool:
    return list(run.request["stream_modes"]) == list(LOGGED)
