"""The paths of the Responses door: responses, conversations, models."""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import RunNotCancellable
from langgraph_durable.model import Run, RunStatus
from langgraph_durable.serde import clean, decode, encode
from protocol_adapter import sse

from . import delivery, ids, objects, request
from .config import Defaults
from .conversations import Conversations
from .http import Paths, flag, integer, json, json_body, json_text
from .http import routes as door_routes
from .paging import page
from .refusal import Refusal, model_not_found, refusal_of
from .turns import Turns

_RESUMED = "response.resumed"
_NOT_SERVED = ("/responses/compact", "/responses/input_tokens")
"""Paths of OpenAI's that would else be read as the ids of responses."""
_NOT_STREAMABLE = (
    "This response cannot be streamed because it was not created with background=true."
)
_FORGOTTEN = "The events of this response are not kept any more: retrieve it without stream."

log = logging.getLogger(__name__)


def routes(
    engine: DurableEngine, *, defaults: Defaults | None = None, resumed_events: bool = True
) -> list[BaseRoute]:
    """Everything of this door, with and without ``/v1``.

    ``resumed_events`` False leaves ``response.resumed`` out of every stream, for clients that
    cannot take an event which OpenAI does not know.
    """
    turns = Turns(engine, defaults or Defaults())
    responses = _Responses(engine, turns, resumed_events)
    unknown: Paths = {"/responses/{rest:path}": {}, "/conversations/{rest:path}": {}}
    paths = [responses.paths(), Conversations(engine).paths(), _Models(engine).paths(), unknown]
    return [route for part in paths for route in door_routes(part)]


class _Responses:
    def __init__(self, engine: DurableEngine, turns: Turns, resumed_events: bool) -> None:
        self._engine = engine
        self._turns = turns
        self._resumed_events = resumed_events

    def paths(self) -> Paths:
        one = "/responses/{response_id}"
        return {
            "/responses": {"POST": self.create},
            **{path: {} for path in _NOT_SERVED},
            one: {"GET": self.retrieve, "DELETE": self.delete},
            f"{one}/cancel": {"POST": self.cancel},
            f"{one}/signals/{{name}}": {"POST": self.signal},
            f"{one}/input_items": {"GET": self.input_items},
        }

    async def create(self, http: Request) -> Response:
        asked = request.read(await json_body(http))
        run = await self._turns.begin(asked, headers=http.headers, key=_idempotency_key(http))
        try:
            return await self._first_answer(run, asked, http)
        except Exception as error:
            # The run is committed: coming again would start a second one.
            refusal = refusal_of(error)
            refusal.headers |= {"x-should-retry": "false", **_named(run)}
            raise refusal from error

    async def _first_answer(self, run: Run, asked: request.Asked, http: Request) -> Response:
        if asked.stream:
            return self._stream(run, http)
        if not asked.background:
            run = await self._engine.wait(run.run_id)
        return await self._view(run, http)

    async def retrieve(self, http: Request) -> Response:
        run = await self._run(http)
        query = http.query_params
        after = integer(query.get("starting_after"), "starting_after")
        if not flag(query.get("stream"), "stream"):
            if after is not None:
                raise Refusal("'starting_after' needs 'stream=true'.", param="starting_after")
            return await self._view(run, http)
        if not objects.head_of(run).background:
            raise Refusal(_NOT_STREAMABLE, param="stream")
        return self._stream(run, http, after=_last_seen(http) if after is None else after)

    async def cancel(self, http: Request) -> Response:
        run = await self._run(http)
        if not objects.head_of(run).background:
            raise Refusal("Cannot cancel a synchronous response.")
        if not run.status.terminal:
            try:
                await self._engine.cancel(run.run_id)
            except RunNotCancellable:
                log.debug("%s ended before it could be cancelled", run.run_id)
            run = await self._engine.wait(run.run_id)
        if run.status.terminal and run.status is not RunStatus.INTERRUPTED:
            ended = "completed" if run.status is RunStatus.SUCCESS else "failed"
            raise Refusal(f"Cannot cancel a {ended} response.")
        return await self._view(run, http)

    async def signal(self, http: Request) -> Response:
        """The body is the value, any JSON; ``id`` in the query makes it count once."""
        value, run = await json_body(http), await self._run(http)
        name, signal_id = clean(http.path_params["name"]), clean(http.query_params.get("id"))
        new = await self._engine.signal(run.thread_id, name, value, signal_id=signal_id)
        told = {"id": ids.response_id(run.run_id), "object": "response.signal"}
        return json({**told, "name": name, "new": new})

    async def delete(self, http: Request) -> Response:
        run = await self._run(http)
        if not run.status.terminal:
            raise Refusal("The response has not ended: cancel it or wait before deleting it.")
        await self._engine.delete_response(run.run_id)
        name = http.path_params["response_id"]
        return json({"id": name, "object": "response", "deleted": True})

    async def input_items(self, http: Request) -> Response:
        run = await self._run(http)
        return json(page(objects.input_of(run), http.query_params))

    async def _run(self, http: Request) -> Run:
        return await self._turns.run(http.path_params["response_id"])

    async def _view(self, run: Run, http: Request) -> Response:
        trace = _trace(run, http)
        if not run.status.terminal:
            return json(objects.traced(objects.unfinished(run), trace), headers=_named(run))
        text = await delivery.terminal(self._engine, run)
        if trace is not None:
            text = encode(objects.traced(decode(text), trace))
        return json_text(text, headers=_named(run))

    def _stream(self, run: Run, http: Request, *, after: int = -1) -> Response:
        if run.events_deleted_at is not None:
            raise Refusal(_FORGOTTEN, param="stream")
        hidden = () if self._resumed_events and not _is_strict(http) else (_RESUMED,)
        return sse.event_stream(
            delivery.stream(self._engine, run, after=after, hidden=hidden, trace=_trace(run, http)),
            headers=_named(run),
            heartbeat=b": ping\n\n",
        )


class _Models:
    """The served graphs, each of which a request may name as its ``model``."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    def paths(self) -> Paths:
        return {"/models": {"GET": self.list}, "/models/{model}": {"GET": self.get}}

    async def list(self, http: Request) -> Response:
        return json({"object": "list", "data": [_model(name) for name in self._engine.graph_ids]})

    async def get(self, http: Request) -> Response:
        name = http.path_params["model"]
        if name not in self._engine.graph_ids:
            raise model_not_found(name, self._engine.graph_ids, status=404)
        return json(_model(name))


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "langgraph"}


def _last_seen(http: Request) -> int:
    """What a browser's event source has read already; -1 for nothing."""
    text = http.headers.get("last-event-id", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else -1


def _idempotency_key(http: Request) -> str | None:
    key = http.headers.get("idempotency-key")
    if key is not None and not (key.isprintable() and 0 < len(key) <= 255):
        raise Refusal("'Idempotency-Key' must be 1 to 255 printable characters.")
    return None if key is None else f"responses {key}"


def _is_strict(http: Request) -> bool:
    """openai-node's ``responses.stream()`` throws at an event type that it does not know."""
    helper = http.headers.get("x-stainless-helper-method")
    return helper == "stream" and http.headers.get("x-stainless-lang") == "js"


def _trace(run: Run, http: Request) -> str | None:
    """The run's trace, when it is traced and the client asks which one it is."""
    wanted = http.headers.get("x-mlflow-return-trace-id", "").lower() == "true"
    return objects.trace_id(run) if wanted else None


def _named(run: Run) -> dict[str, str]:
    return {"x-response-id": ids.response_id(run.run_id)}
