"""An invocation on its way out: its events as they come, a page of them, its result."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import StoreUnavailable
from langgraph_durable.model import Cursor, Event, Run
from langgraph_durable.serde import decode, encode
from protocol_adapter import sse

from .objects import invocation
from .stream import told

log = logging.getLogger(__name__)


async def stream(engine: DurableEngine, run: Run, after: Cursor) -> AsyncGenerator[bytes, None]:
    """Frames of the events behind ``after``, to the run's last one.

    It stops before that when the server goes down: the client comes back with its cursor.
    """
    try:
        async with aclosing(engine.batches(run.run_id, after)) as batches:
            async for events in batches:
                shown = await _known(engine, run, events)
                yield b"".join(_frame(event, shown) for event in events)
    except StoreUnavailable:
        log.warning("stream of %s cut: the database cannot be reached", run.run_id)


async def page(engine: DurableEngine, run: Run, after: Cursor) -> dict[str, Any]:
    """The first events behind ``after`` that are there now; ``next`` is the cursor behind them."""
    listed: list[Event] = []
    if after < run.next_seq - 1:
        async with aclosing(engine.batches(run.run_id, after)) as batches:
            listed = await anext(batches, [])
    shown = await _known(engine, run, listed)
    following = listed[-1].seq if listed else after
    return {"events": [_entry(event, shown) for event in listed], "next": following}


async def result(engine: DurableEngine, run: Run) -> bytes:
    """The invocation once it has ended, as one JSON text."""
    ended = await engine.wait(run.run_id)
    if not ended.status.terminal:
        raise sse.StreamCut
    return encode(invocation(ended)).encode()


async def _known(engine: DurableEngine, run: Run, events: list[Event]) -> Run:
    ended = bool(events) and events[-1].name == "end"
    return await engine.run(run.run_id) if ended else run


def _frame(event: Event, run: Run) -> bytes:
    name, data = told(event, run)
    return sse.frame(name, data, event_id=event.seq, eol="\n")


def _entry(event: Event, run: Run) -> dict[str, Any]:
    name, data = told(event, run)
    return {"id": event.seq, "event": name, "data": decode(data)}
