"""Runs of a thread, and stateless runs on a temporary thread of their own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import RunNotFound, ThreadNotFound
from langgraph_durable.model import BEGINNING, Cursor, Run, RunStatus
from langgraph_durable.serde import clean
from protocol_adapter.langgraph.bulk import Bulk, cancel_action
from protocol_adapter.langgraph.disconnect import Audience
from protocol_adapter.langgraph.ends import Ends
from protocol_adapter.langgraph.fields import one_of, page
from protocol_adapter.langgraph.http import (
    answer,
    json_body,
    many,
    query,
    run_headers,
    segment,
    switch,
)
from protocol_adapter.langgraph.objects import result_text, run_object
from protocol_adapter.langgraph.request import parse_run, stream_modes
from protocol_adapter.langgraph.selection import RUN_COLUMNS, check_columns, select
from protocol_adapter.langgraph.stream import (
    Projection,
    View,
    cursor_of,
    finished,
    live_from,
    view_of,
)
from protocol_adapter.sse import StreamCut, event_stream, json_when_ready

STATUSES = tuple(RunStatus)


class Runs:
    """The routes under ``/threads/{thread_id}/runs`` and ``/runs``."""

    def __init__(self, engine: DurableEngine, audience: Audience, ends: Ends) -> None:
        self._engine = engine
        self._audience = audience
        self._ends = ends

    def routes(self) -> list[BaseRoute]:
        of_thread = "/threads/{thread_id}/runs"
        return [
            Route(of_thread, self.list, methods=["GET"]),
            Route(f"{of_thread}/{{run_id}}", self.delete, methods=["DELETE"]),
            Route(f"{of_thread}/{{run_id}}/cancel", self.cancel, methods=["POST"]),
            *self._everywhere(of_thread),
            *Bulk(self._engine).routes(),
            *self._everywhere("/runs"),
        ]

    def _everywhere(self, runs: str) -> list[BaseRoute]:
        return [
            Route(runs, self.create, methods=["POST"]),
            Route(f"{runs}/stream", self.stream, methods=["POST"]),
            Route(f"{runs}/wait", self.wait, methods=["POST"]),
            Route(f"{runs}/{{run_id}}", self.get, methods=["GET"]),
            Route(f"{runs}/{{run_id}}/join", self.join, methods=["GET"]),
            Route(f"{runs}/{{run_id}}/stream", self.join_stream, methods=["GET"]),
        ]

    async def create(self, request: Request) -> Response:
        run = await self._submit(request, attended=False)
        return answer(run_object(run), headers=run_headers(_public(request, run), run.run_id))

    async def stream(self, request: Request) -> Response:
        run = await self._submit(request, attended=True)
        view = view_of(run, [], None, _namespaces(request))
        return self._open_stream(request, run, view, BEGINNING, _cancels(run))

    async def wait(self, request: Request) -> Response:
        run = await self._submit(request, attended=True)
        return self._open_result(request, run, _cancels(run), new=run)

    async def join(self, request: Request) -> Response:
        run = await self._run(request)
        cancels = switch(request, "cancel_on_disconnect") or _cancels(run)
        return self._open_result(request, run, cancels)

    async def join_stream(self, request: Request) -> Response:
        asked = many(request, "stream_mode")
        modes = [*stream_modes(asked)] if asked else []
        cancels = switch(request, "cancel_on_disconnect") or False
        run = await self._run(request)
        subgraphs = switch(request, "stream_subgraphs")
        view = view_of(run, modes, subgraphs, _namespaces(request))
        if "last_event_id" in request.query_params:  # our own address of a stream that is whole
            view = replace(view, narrowed=False)
        after = cursor_of(_last_event_id(request), run)
        if (shown := _shown(request)) and (after is None or after == BEGINNING):
            after = await self._engine.cursor_at(run.run_id, shown)
        if after is not None:
            run.check_kept(after)
        return self._open_stream(request, run, view, after, cancels or _cancels(run))

    async def get(self, request: Request) -> Response:
        return answer(run_object(await self._run(request)))

    async def list(self, request: Request) -> Response:
        limit, offset = page(query(request))
        columns = many(request, "select")
        check_columns(columns, RUN_COLUMNS)
        status = request.query_params.get("status") or None
        runs = await self._engine.runs(
            segment(request, "thread_id"),
            limit=limit,
            offset=offset,
            status=status and one_of("status", status, STATUSES),
        )
        return answer([select(run_object(run), columns) for run in runs])

    async def delete(self, request: Request) -> Response:
        await self._engine.delete_run((await self._run(request)).run_id)
        return Response(status_code=204)

    async def cancel(self, request: Request) -> Response:
        action = cancel_action(request)
        run_id = (await self._run(request)).run_id
        await self._engine.cancel(run_id, action=action)
        if not switch(request, "wait"):
            return Response(status_code=202)
        headers = run_headers(_thread_id(request), run_id, "join")
        return json_when_ready(self._settled(run_id), headers=headers)

    async def _submit(self, request: Request, *, attended: bool) -> Run:
        body = await json_body(request)
        asked = parse_run(body, _thread_id(request), attended=attended)
        headers = self._engine.allowed_headers(request.headers)
        return await self._engine.submit(replace(asked, headers=headers))

    async def _run(self, request: Request) -> Run:
        run = await self._engine.run(request.path_params["run_id"], _thread_id(request))
        if run.hidden:
            raise RunNotFound
        return run

    def _open_stream(
        self, request: Request, run: Run, view: View, after: Cursor | None, cancels: bool
    ) -> Response:
        """SSE from a cursor, or live without one.

        The clients ask how a run stands after a clean close without ``end``, but only for a run
        of a thread: a stateless one must look cut off for them to come back.
        """
        thread_id = _public(request, run)
        shown = _shown(request)
        query = {**view.query, "checkpoint_id": shown} if shown else view.query
        if request.method == "POST":
            # For a client that is cut off before it has seen any id to come back with.
            query = {**query, "last_event_id": "-1"}
        return event_stream(
            self._frames(run, view, after, cancels, run if request.method == "POST" else None),
            headers=run_headers(thread_id, run.run_id, "stream", query),
            close_cleanly=thread_id is not None,
        )

    async def _frames(
        self, run: Run, view: View, after: Cursor | None, cancels: bool, new: Run | None
    ) -> AsyncGenerator[bytes, None]:
        if run.status.terminal and after is None:
            yield finished(run, view)
            self._ends.told(run)
        if run.status.terminal and (after is None or after >= run.next_seq - 1):
            return
        projection = Projection(view, live_from(run) if after is None else after)
        with self._audience.follower(run.run_id, cancels=cancels):
            reader = self._engine.batches(run.run_id, projection.start, new=new)
            async with aclosing(reader) as batches:
                async for events in batches:
                    if chunk := b"".join(map(projection.frames, events)):
                        yield chunk
        if not projection.ended:
            raise StreamCut
        self._ends.told(run)

    def _open_result(
        self, request: Request, run: Run, cancels: bool, *, new: Run | None = None
    ) -> Response:
        headers = run_headers(_public(request, run), run.run_id, "join")
        if run.status.terminal:
            self._ends.told(run)
            return Response(result_text(run), headers=headers, media_type="application/json")
        text = self._result(run.run_id, cancels, new)
        return json_when_ready(text, headers=headers, sent=partial(self._ends.told, run))

    async def _result(self, run_id: str, cancels: bool, new: Run | None) -> bytes:
        with self._audience.follower(run_id, cancels=cancels):
            run = await self._engine.wait(run_id, new=new)
        if not run.status.terminal:
            raise StreamCut
        return (await self._undone(run) if run.hidden else result_text(run)).encode()

    async def _undone(self, run: Run) -> str:
        """What a run that was rolled back leaves: the values its thread had before it."""
        try:
            return (await self._engine.thread(run.thread_id)).values or "{}"
        except ThreadNotFound:
            return "{}"

    async def _settled(self, run_id: str) -> bytes:
        run = await self._engine.wait(run_id)
        if not run.status.terminal:
            raise StreamCut
        return b"{}"


def _thread_id(request: Request) -> str | None:
    return segment(request, "thread_id") if "thread_id" in request.path_params else None


def _public(request: Request, run: Run) -> str | None:
    """The thread id to tell a client: never a rotated one, none for a stateless run."""
    return None if _thread_id(request) is None else run.thread_id


def _cancels(run: Run) -> bool:
    return bool(run.request.get("on_disconnect") == "cancel")


def _namespaces(request: Request) -> list[str] | None:
    """The graphs a follower wants to see, an empty name being a name here; None: no filter."""
    return request.query_params.getlist("namespace") or None


def _last_event_id(request: Request) -> str | None:
    """What a follower has seen last; what its address says of that is older than its header."""
    seen = request.headers.get("last-event-id")
    return seen or clean(request.query_params.get("last_event_id"))


def _shown(request: Request) -> str:
    """The checkpoint whose state a follower has: it goes on behind that, if it is the run's."""
    return str(clean(request.query_params.get("checkpoint_id", "")))
