"""One ASGI app from one engine: all doors, liveness, CORS, and errors as JSON.

The app works alone, under a mount prefix, and mounted in somebody's FastAPI app. In the last case
its lifespan does not run, so the first request starts the engine.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import chain
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from langgraph_durable import errors
from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Run
from protocol_adapter import document_pages, health, metrics
from protocol_adapter.dispatch import invocations_route
from protocol_adapter.invocations.openapi import INVOCATIONS
from protocol_adapter.invocations.routes import Invocations
from protocol_adapter.langgraph.assistants import Assistants
from protocol_adapter.langgraph.commands import Commands
from protocol_adapter.langgraph.crons import Crons
from protocol_adapter.langgraph.disconnect import GRACE_SECONDS, Audience
from protocol_adapter.langgraph.ends import Ends
from protocol_adapter.langgraph.event_stream import EventStream
from protocol_adapter.langgraph.fields import Unprocessable
from protocol_adapter.langgraph.openapi import LANGGRAPH
from protocol_adapter.langgraph.runs import Runs
from protocol_adapter.langgraph.signals import Signals
from protocol_adapter.langgraph.store import Store
from protocol_adapter.langgraph.thread_stream import ThreadStream
from protocol_adapter.langgraph.threads import Threads
from protocol_adapter.openapi import document
from protocol_adapter.request_id import RequestId, request_id
from protocol_adapter.responses.config import read_defaults
from protocol_adapter.responses.delivery import keep
from protocol_adapter.responses.openapi import RESPONSES
from protocol_adapter.responses.routes import routes as responses_routes
from protocol_adapter.route_index import RouteIndex

logger = logging.getLogger(__name__)

STATUS_OF: dict[type[errors.DurableError], int] = {
    Unprocessable: 422,
    errors.InvalidRequest: 400,
    errors.InvalidAssistantId: 422,
    errors.WebhookRefused: 422,
    errors.InvalidSchedule: 422,
    errors.InvalidSignal: 422,
    errors.GraphNotFound: 404,
    errors.UnknownGraph: 422,
    errors.AssistantExists: 409,
    errors.AssistantProtected: 409,
    errors.AssistantNotFound: 404,
    errors.CheckpointNotFound: 404,
    errors.CronNotFound: 404,
    errors.RunNotCancellable: 404,
    errors.RunNotFound: 404,
    errors.EventsNotKept: 404,  # official clients take 410 for a failure that may pass
    errors.ThreadNotFound: 404,
    errors.ThreadBusy: 409,
    errors.ThreadExists: 409,
    errors.StoreUnavailable: 503,
}
EXPOSED = (
    *("Location", "Content-Location", "X-Pagination-Total", "X-Pagination-Next"),
    *("X-Response-Id", "X-Should-Retry", "X-Request-Id"),
)


def create_app(engine: DurableEngine, *, disconnect_grace_seconds: float = GRACE_SECONDS) -> App:
    """The whole server over ``engine``, which starts and stops with the app's lifespan."""
    audience = Audience(engine, disconnect_grace_seconds)
    engine.keepers.extend(keepers(engine))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await engine.start()
        try:
            yield
        finally:
            await audience.close()
            await engine.stop()

    app = App(
        engine.mount_prefix,
        lifespan=lifespan,
        middleware=[Middleware(RequestId), _cors(), Middleware(_Errors)],
        exception_handlers={errors.DurableError: _refusal, HTTPException: _no_such},
    )
    if "meta" not in engine.disabled:
        app.router.routes.extend(document_pages.routes(app.title, app.openapi))
    app.router.routes.extend(_routes(engine, audience))
    return app


def keepers(engine: DurableEngine) -> list[Callable[[Run], Awaitable[object]]]:
    """What the doors of ``engine`` store of a run before its log goes."""
    return [partial(keep, engine)]


class App(Starlette):
    """The whole server as an ASGI app, to be served or mounted."""

    title = "langgraph-durable"

    def __init__(self, prefix: str, **options: Any) -> None:
        super().__init__(**options)
        self._prefix = prefix
        self.version: str = health.describe()["server"]["version"] or "0"

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document of what is served here."""
        served = set(_paths(self.routes))
        doors = (health.SERVER, LANGGRAPH, RESPONSES, INVOCATIONS)
        mounted = [door.under(self._prefix) for door in doors]
        shown = [door.only(served) for door in (health.SERVER, *mounted)]
        return document(self.title, self.version, shown)


def _paths(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[str]:
    for route in routes:
        if isinstance(route, Mount):
            yield from _paths(route.routes, prefix + route.path)
        elif isinstance(route, Route):
            yield prefix + route.path_format


def _routes(engine: DurableEngine, audience: Audience) -> list[BaseRoute]:
    ends = Ends(engine)
    alive = [*health.routes(engine), *metrics.routes(engine)]
    parts: dict[str, list[BaseRoute]] = {
        "assistants": Assistants(engine).routes(),
        "threads": [
            *Threads(engine).routes(),
            *Signals(engine).routes(),
            *ThreadStream(engine).routes(),
            *EventStream(engine, ends).routes(),
        ],
        "runs": [
            *Crons(engine).routes(),
            *Runs(engine, audience, ends).routes(),
            *Commands(engine).routes(),
        ],
        "store": Store(engine).routes(),
    }
    invocations = Invocations(engine)
    responses = responses_routes(
        engine,
        defaults=read_defaults(engine.door_section("responses"), engine.graph_ids),
        resumed_events=engine.settings.send_resumed,
    )
    doors = [
        *chain.from_iterable(parts[part] for part in parts if part not in engine.disabled),
        *responses,
        invocations_route(generic=invocations.root, responses=_endpoint(responses, "/responses")),
        *invocations.routes(),
    ]
    started = _mount("", doors, Middleware(_Started, engine=engine))
    if not engine.mount_prefix:
        return [*alive, started]
    return [_mount(engine.mount_prefix, [*alive, started]), *alive]


def _endpoint(routes: Iterable[BaseRoute], path: str) -> Any:
    return next(
        route.endpoint for route in routes if isinstance(route, Route) and route.path == path
    )


def _mount(path: str, routes: list[BaseRoute], *middleware: Middleware) -> Mount:
    mount = Mount(path, app=RouteIndex(routes), middleware=middleware)
    # An id with a line break in it is for the doors to refuse, each in its own shape.
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return mount


def _cors() -> Middleware:
    return Middleware(
        CORSMiddleware,
        allow_origins=["*"],
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=EXPOSED,
        allow_private_network=True,
    )


async def _refusal(request: Request, error: Exception) -> Response:
    status = next((STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF), None)
    if status is None:
        raise error
    headers = {"Retry-After": "1"} if status == 503 else None
    return JSONResponse({"detail": str(error)}, status, headers)


async def _no_such(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"detail": error.detail}, error.status_code, error.headers)


class _Errors:
    """The last resort: an unexpected error is logged and answered, its text kept to ourselves.

    Inside CORS, which Starlette's own handler is not: a browser would see no answer at all.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            return
        except Exception:
            if begun or scope["type"] != "http":
                raise
            name = request_id(scope)
            logger.exception("%s %s failed (%s)", scope["method"], scope["path"], name)
            await JSONResponse({"detail": "Internal Server Error"}, 500)(scope, receive, send)


class _Started:
    """Starts the engine before the first request, unless the lifespan has done so."""

    def __init__(self, app: ASGIApp, engine: DurableEngine) -> None:
        self._app = app
        self._engine = engine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A database that is away is told by the door that is asked, in its own shape.
        with suppress(errors.StoreUnavailable):
            await self._engine.ensure_started()
        await self._app(scope, receive, send)
