"""The paths of the generic protocol. ``POST /invocations`` itself is shared: see ``dispatch``."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from urllib.parse import quote

from langchain_core.utils.uuid import uuid7
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import RunNotCancellable, RunNotFound, ThreadNotFound
from langgraph_durable.model import BEGINNING, Cursor, Run, RunStatus, Thread
from langgraph_durable.serde import clean
from protocol_adapter import sse
from protocol_adapter.envelope import METHODS, Handler, endpoint, integer, json_answer, json_body

from . import delivery, ids, request
from .objects import invocation
from .refusal import nothing_asked, refusal_of, reused
from .request import Asked

_EVENTS, _JSON = "text/event-stream", "application/json"


class Invocations:
    """The generic protocol over ``engine``."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    @property
    def root(self) -> Handler:
        """``/invocations`` for whoever decides which protocol a body speaks."""
        return endpoint({"POST": self.create}, refusal_of)

    def routes(self) -> list[BaseRoute]:
        """Everything below ``/invocations``."""
        paths: dict[str, dict[str, Handler]] = {
            "{id}": {"GET": self.get},
            "{id}/events": {"GET": self.events},
            "{id}/cancel": {"POST": self.cancel},
            "{id}/signals/{name}": {"POST": self.signal},
            "{rest:path}": {},
        }
        return [
            Route(f"/invocations/{path}", endpoint(verbs, refusal_of), methods=METHODS)
            for path, verbs in paths.items()
        ]

    async def create(self, http: Request) -> Response:
        asked = request.read(await json_body(http), default_id=str(uuid7()))
        run = await self._known(asked) or await self._submitted(asked, http)
        try:
            return await self._first_answer(run, asked)
        except Exception as error:
            # The run is committed: what comes again must come with its id.
            refusal = refusal_of(error)
            refusal.headers |= {"x-should-retry": "false", **_place(run)}
            raise refusal from error

    async def get(self, http: Request) -> Response:
        return json_answer(invocation(await self._run(http)))

    async def events(self, http: Request) -> Response:
        after = _cursor(http)
        run = await self._run(http)
        run.check_kept(after)
        accepts = http.headers.get("accept", "")
        if _JSON in accepts and _EVENTS not in accepts:
            return json_answer(await delivery.page(self._engine, run, after))
        return self._stream(run, after)

    async def cancel(self, http: Request) -> Response:
        run = await self._run(http)
        if not run.status.terminal:
            # It may end by itself before it hears.
            with suppress(RunNotCancellable):
                await self._engine.cancel(run.run_id)
            run = await self._engine.wait(run.run_id)
        if run.status.terminal and run.status is not RunStatus.INTERRUPTED:
            raise RunNotCancellable("The invocation has ended already.")
        return json_answer(invocation(run))

    async def signal(self, http: Request) -> Response:
        """The body is the value, any JSON; ``id`` in the query makes it count once."""
        value, run = await json_body(http), await self._run(http)
        name, signal_id = clean(http.path_params["name"]), clean(http.query_params.get("id"))
        new = await self._engine.signal(run.thread_id, name, value, signal_id=signal_id)
        return json_answer({"id": ids.invocation_id(run), "name": name, "new": new})

    async def _known(self, asked: Asked) -> Run | None:
        """The invocation that an earlier request with this id has made."""
        try:
            run = await self._engine.run(ids.run_id(asked.id))
        except RunNotFound:
            return None
        if run.request.get("request_hash") != asked.fingerprint:
            raise reused(asked.id)
        return run

    async def _submitted(self, asked: Asked, http: Request) -> Run:
        served = self._engine.graph_ids
        unsure = asked.graph is None and len(served) > 1
        thread = await self._session(asked) if unsure or asked.answer is not None else None
        if asked.answer is not None and not (thread and any(thread.interrupts.values())):
            raise nothing_asked(asked.session_id)
        own = thread.metadata.get("graph_id") if thread else None
        graph = request.choose(asked.graph, own, served)
        wish = request.run_request(asked, graph=graph)
        headers = self._engine.allowed_headers(http.headers)
        return await self._engine.submit(replace(wish, headers=headers))

    async def _session(self, asked: Asked) -> Thread | None:
        with suppress(ThreadNotFound):
            return await self._engine.thread(asked.session_id)
        return None

    async def _first_answer(self, run: Run, asked: Asked) -> Response:
        if asked.stream:
            run.check_kept(BEGINNING)
            return self._stream(run, BEGINNING)
        if asked.background or run.status.terminal:
            status = 200 if run.status.terminal else 202
            return json_answer(invocation(run), status=status, headers=_place(run))
        return sse.json_when_ready(delivery.result(self._engine, run), headers=_place(run))

    async def _run(self, http: Request) -> Run:
        return await self._engine.run(ids.run_id(str(clean(http.path_params["id"]))))

    def _stream(self, run: Run, after: Cursor) -> Response:
        return sse.event_stream(
            delivery.stream(self._engine, run, after),
            headers=_place(run),
            heartbeat=b": heartbeat\n\n",
        )


def _cursor(http: Request) -> Cursor:
    """Where a reader left off: what its EventSource remembers is newer than its address."""
    after = integer(http.query_params.get("after"), "after")
    seen = http.headers.get("last-event-id", "")
    if seen.isascii() and seen.isdigit() and len(seen) < 19:
        after = int(seen)
    return BEGINNING if after is None else Cursor(after)


def _place(run: Run) -> dict[str, str]:
    return {"Location": f"/invocations/{quote(ids.invocation_id(run), safe='')}"}
