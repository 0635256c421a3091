"""``GET /threads/{thread_id}/stream``: everything that happens on a thread, run after run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import ThreadNotFound
from langgraph_durable.model import BEGINNING, Cursor, Event, Run
from langgraph_durable.serde import decode, encode
from protocol_adapter.langgraph.fields import one_of
from protocol_adapter.langgraph.http import many, segment
from protocol_adapter.langgraph.stream import ThreadProjection, View, view_of
from protocol_adapter.sse import StreamCut, event_stream, frame

MODES = ("run_modes", "lifecycle", "state_update")


class ThreadStream:
    """Ends with the thread only; an id in it is ``<ticket of the run>-<seq of the event>``."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    def routes(self) -> list[BaseRoute]:
        return [Route("/threads/{thread_id}/stream", self.stream, methods=["GET"])]

    async def stream(self, request: Request) -> Response:
        thread_id = segment(request, "thread_id")
        asked = [*many(request, "stream_mode"), *many(request, "stream_modes")]
        modes = frozenset(one_of("stream_mode", mode, MODES) for mode in asked or ["run_modes"])
        await self._engine.thread(thread_id)
        ticket, after = place_of(request.headers.get("last-event-id"))
        if ticket is not None and ticket >= 0 and "run_modes" in modes:
            await self._engine.check_kept(thread_id, ticket, after)
        query = urlencode({"stream_mode": sorted(modes)}, doseq=True)
        return event_stream(
            _while_it_lives(self._frames(thread_id, modes, ticket, after)),
            headers={"Location": f"/threads/{thread_id}/stream?{query}"},
            close_cleanly=False,
        )

    async def _frames(
        self, thread_id: str, modes: frozenset[str], ticket: int | None, after: Cursor
    ) -> AsyncGenerator[bytes, None]:
        shown: _Shown | None = None
        log = self._engine.follow_thread(thread_id, ticket=ticket, after=after)
        async with aclosing(log) as batches:
            async for run, events in batches:
                if shown is None or shown.run.run_id != run.run_id:
                    shown = _Shown(run, modes, after if run.ticket == ticket else BEGINNING)
                chunk = b"".join(map(shown.frames, events))
                if events[-1].name == "end" and "state_update" in modes:
                    chunk += await self._state(thread_id)
                if chunk:
                    yield chunk
        raise StreamCut

    async def _state(self, thread_id: str) -> bytes:
        values = (await self._engine.thread(thread_id)).values
        state = {"thread_id": thread_id, "state": decode(values) if values else None}
        return frame("state_update", encode(state))


async def _while_it_lives(
    frames: AsyncGenerator[bytes, None],
) -> AsyncGenerator[bytes, None]:
    """``frames`` of a thread, until it is deleted."""
    with suppress(ThreadNotFound):
        async with aclosing(frames):
            async for chunk in frames:
                yield chunk


class _Shown:
    """What one run shows in its thread's stream."""

    def __init__(self, run: Run, modes: frozenset[str], after: Cursor) -> None:
        self.run = run
        whole = view_of(run, [], None)
        view = whole if "run_modes" in modes else View(modes=frozenset())
        self._hidden = not modes & {"run_modes", "lifecycle"}
        self._projection = ThreadProjection(
            view,
            after,
            name=lambda seq: f"{run.ticket}-{seq}",
            events_deleted_at=run.events_deleted_at,
        )

    def frames(self, event: Event) -> bytes:
        return b"" if self._hidden else self._projection.frames(event)


def place_of(last_event_id: str | None) -> tuple[int | None, Cursor]:
    """The run and the event that a ``Last-Event-ID`` names.

    Nothing: from now on; ``-``, ``-1``, ``0`` and foreign text: from the thread's beginning.
    """
    if not last_event_id:
        return None, BEGINNING
    ticket, _, seq = last_event_id.partition("-")
    if ticket.isdecimal() and seq.isdecimal() and len(last_event_id) < 30:
        return int(ticket), Cursor(int(seq))
    return -1, BEGINNING
