"""``POST /threads/{thread_id}/stream/events``: a thread's events in the agent streaming protocol.

The stream never ends by itself: to both official clients a clean end is a failure. One whose thread
is deleted is cut off: who comes back is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import InvalidRequest, ThreadNotFound
from langgraph_durable.model import BEGINNING, Cursor, Run, RunStatus
from protocol_adapter.langgraph.ends import Ends
from protocol_adapter.langgraph.fields import Unprocessable, digits, number, texts
from protocol_adapter.langgraph.http import json_body, segment
from protocol_adapter.langgraph.protocol_events import (
    CHANNELS,
    ProtocolEvent,
    ProtocolEvents,
    row_of,
    ticket_of,
)
from protocol_adapter.sse import StreamCut, event_stream, frame

WATCHER = frozenset({"lifecycle", "input"})
"""What a client's watcher asks for, which it opens before it starts a run, or beside it."""

START_SECONDS = 0.5
"""How long a watcher of an idle thread waits for the run that its client is about to start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What a client wants to see. ``since`` is the place behind which it begins."""

    channels: frozenset[str]
    namespaces: list[list[str]]
    depth: int | None
    since: int | None

    def shows(self, event: ProtocolEvent) -> bool:
        behind = self.since is None or event.seq > self.since
        return behind and bool(event.channels & self.channels) and self._near(event)

    @property
    def kinds(self) -> frozenset[str]:
        """The channels without the names of custom ones."""
        return frozenset(channel.partition(":")[0] for channel in self.channels)

    def _near(self, event: ProtocolEvent) -> bool:
        return not self.namespaces or any(
            _begins(event.namespace, prefix)
            and (self.depth is None or len(event.namespace) - len(prefix) <= self.depth)
            for prefix in self.namespaces
        )


class EventStream:
    """The thread's events, over the same log as every other stream."""

    def __init__(self, engine: DurableEngine, ends: Ends) -> None:
        self._engine = engine
        self._ends = ends

    def routes(self) -> list[BaseRoute]:
        return [Route("/threads/{thread_id}/stream/events", self.stream, methods=["POST"])]

    async def stream(self, request: Request) -> Response:
        """SSE; each event's ``id`` is its ``seq``. Raises 400 for an unknown channel.

        A place that events are lost behind is refused: EventsNotKept.
        """
        thread_id = segment(request, "thread_id")
        subscription = parse_subscription(
            await json_body(request), request.headers.get("last-event-id")
        )
        await self._engine.thread(thread_id)
        if (since := subscription.since) is not None and subscription.channels != WATCHER:
            await self._engine.check_kept(thread_id, ticket_of(since), row_of(since))
        return event_stream(self._frames(thread_id, subscription), close_cleanly=False)

    async def _frames(self, thread_id: str, wanted: Subscription) -> AsyncGenerator[bytes, None]:
        with suppress(ThreadNotFound):
            async with aclosing(self._events(thread_id, wanted)) as chunks:
                async for chunk in chunks:
                    yield chunk
        raise StreamCut

    async def _events(self, thread_id: str, wanted: Subscription) -> AsyncGenerator[bytes, None]:
        """The events behind ``since``, then those of every run that begins behind its run.

        A delayed run begins behind younger ones, and its places lie before theirs.
        """
        told: ProtocolEvents | None = None
        current: Run | None = None
        ticket, after = await self._first(thread_id, wanted)
        log = self._engine.follow_thread(thread_id, ticket=ticket, after=after)
        async with aclosing(log) as batches:
            async for run, rows in batches:
                if told is None or current is None or current.run_id != run.run_id:
                    if current is not None and ticket is not None and current.ticket >= ticket:
                        wanted = replace(wanted, since=None)
                    told, current = ProtocolEvents(run, wanted.kinds), run
                events = (event for row in rows for event in told.events(row))
                if chunk := b"".join(_frame(event) for event in events if wanted.shows(event)):
                    yield chunk
                if wanted.channels == WATCHER and rows[-1].mode == "end":
                    self._ends.told(run)

    async def _first(self, thread_id: str, wanted: Subscription) -> tuple[int, Cursor]:
        """The ticket of the run to begin with, and behind which of its events.

        Without ``since`` that is the first unfinished run, else the latest: a client that
        subscribes behind ``run.start`` must see a run that is over already. The Python client's
        watcher takes any run's end for that of its own, so the last run of an idle thread is told
        to it only when no newer one begins, and when it has failed or may be the very run that
        its client has started. A run whose events are not kept cannot be told whole, and is not.
        What begins while this is looked for is told.
        """
        if wanted.since is not None:
            return ticket_of(wanted.since), BEGINNING
        behind = await self._engine.place_now(thread_id)
        runs = await self._recent(thread_id)
        if not runs:
            return behind
        if wanted.channels == WATCHER and _over(runs):
            await asyncio.sleep(START_SECONDS)
            newer = [run for run in await self._recent(thread_id) if run.ticket > runs[0].ticket]
            if not newer and not await self._news(runs[0]):
                return behind
            runs = newer or runs
        first = _first_unfinished(runs)
        whole = wanted.channels == WATCHER or first.events_deleted_at is None
        return (first.ticket, BEGINNING) if whole and first.started_at else behind

    async def _recent(self, thread_id: str) -> list[Run]:
        return await self._engine.runs(thread_id, limit=100)

    async def _news(self, run: Run) -> bool:
        """May a watcher wait for the end of a run that is over?

        A failure it is told in any case, a success only when this protocol has started the run,
        it ended a moment ago, and nobody has heard of that yet, at whatever server.
        """
        failed = run.finished_at is None or run.status is not RunStatus.SUCCESS
        return failed or await self._ends.are_news(run)


def parse_subscription(body: Mapping[str, Any], last_event_id: str | None) -> Subscription:
    """``{channels, namespaces?, depth?, since?}``. Raises InvalidRequest (400), Unprocessable."""
    channels = texts(body, "channels") or []
    for channel in channels:
        if channel not in CHANNELS and not (channel.startswith("custom:") and channel[7:]):
            raise InvalidRequest(f"Unknown channel {channel!r}")
    if not channels:
        raise InvalidRequest("'channels' must name at least one channel")
    since = None if body.get("since") is None else number(body, "since", 0, low=0, high=2**53)
    depth = None if body.get("depth") is None else number(body, "depth", 0, low=0, high=2**31)
    return Subscription(
        channels=frozenset(channels),
        namespaces=_namespaces(body),
        depth=depth,
        since=since if since is not None else digits(last_event_id or ""),
    )


def _namespaces(body: Mapping[str, Any]) -> list[list[str]]:
    given = [] if body.get("namespaces") is None else body["namespaces"]
    if not isinstance(given, list):
        raise Unprocessable("'namespaces' must be a list of lists of strings")
    return [texts({"namespaces": path}, "namespaces") or [] for path in given]


def _begins(namespace: list[str], prefix: list[str]) -> bool:
    """Does a namespace begin so? A segment without ``:`` stands for every task of its node."""
    pairs = zip(namespace, prefix, strict=False)
    return len(prefix) <= len(namespace) and all(
        have == want or (":" not in want and have.partition(":")[0] == want) for have, want in pairs
    )


def _first_unfinished(runs: list[Run]) -> Run:
    """Of runs, newest first: the oldest that is not over, else the newest.

    One that was put off, and that a younger one has overtaken, is behind that one.
    """
    over = next((run.ticket for run in runs if run.status.terminal), -1)
    unfinished = [r for r in runs if not r.status.terminal and (r.started_at or r.ticket > over)]
    return min(unfinished, key=lambda run: (not run.started_at, run.ticket), default=runs[0])


def _over(runs: list[Run]) -> bool:
    """Is the thread idle? A run that waits for a person is one that a watcher must hear of."""
    newest = runs[0]
    asks = newest.status is RunStatus.SUCCESS and '"__interrupt__"' in (newest.output or "")
    return not asks and all(run.status.terminal for run in runs)


def _frame(event: ProtocolEvent) -> bytes:
    return frame(event.method, event.json(), event_id=event.seq)
