"""The paths of the Responses door, with and without ``/v1`` in front."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain_core.utils.uuid import uuid7
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import RunNotCancellable, RunNotFound, ThreadNotFound
from langgraph_durable.model import Run, RunStatus, ThreadStatus
from langgraph_durable.serde import decode, encode, received
from protocol_adapter import sse

from . import delivery, history, ids, objects, request
from .conversation import Conversation, resolve
from .refusal import Refusal, refusal_of, response_not_found

_PREFIXES = ("", "/v1")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_RESUMED = "response.resumed"
_NOT_STREAMABLE = (
    "This response cannot be streamed because it was not created with background=true."
)

Handler = Callable[[Request], Awaitable[Response]]

log = logging.getLogger(__name__)


def routes(engine: DurableEngine, *, resumed_events: bool = True) -> list[BaseRoute]:
    """Everything under ``/responses``.

    ``resumed_events`` False leaves ``response.resumed`` out of every stream, for clients that
    cannot take an event which OpenAI does not know.
    """
    door = _Door(engine, resumed_events)
    paths: dict[str, dict[str, Handler]] = {
        "/responses": {"POST": door.create},
        "/responses/{response_id}": {"GET": door.retrieve, "DELETE": door.delete},
        "/responses/{response_id}/cancel": {"POST": door.cancel},
        "/responses/{rest:path}": {},
    }
    return [
        Route(f"{prefix}{path}", _endpoint(verbs), methods=_METHODS)
        for prefix in _PREFIXES
        for path, verbs in paths.items()
    ]


class _Door:
    def __init__(self, engine: DurableEngine, resumed_events: bool) -> None:
        self._engine = engine
        self._resumed_events = resumed_events

    async def create(self, http: Request) -> Response:
        asked = request.read(await _json_body(http))
        graph = request.graph_of(asked.body.get("model"), self._engine.graph_ids)
        run_id = str(uuid7())
        conversation = await self._conversation(asked, ids.response_id(run_id))
        run = await self._engine.submit(
            request.run_request(
                asked,
                run_id=run_id,
                graph=graph,
                conversation=conversation,
                thread=await self._held(conversation),
            )
        )
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
        return await self._view(run)

    async def retrieve(self, http: Request) -> Response:
        run = await self._run(http.path_params["response_id"])
        query = http.query_params
        after = _integer(query.get("starting_after"), "starting_after")
        if not _flag(query.get("stream"), "stream"):
            if after is not None:
                raise Refusal("'starting_after' needs 'stream=true'.", param="starting_after")
            return await self._view(run)
        if not objects.head_of(run).background:
            raise Refusal(_NOT_STREAMABLE, param="stream")
        return self._stream(run, http, after=-1 if after is None else after)

    async def cancel(self, http: Request) -> Response:
        run = await self._run(http.path_params["response_id"])
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
        return await self._view(run)

    async def delete(self, http: Request) -> Response:
        name = http.path_params["response_id"]
        run = await self._run(name)
        if not run.status.terminal:
            raise Refusal("The response has not ended: cancel it or wait before deleting it.")
        await self._engine.delete_response(run.run_id)
        return _json({"id": name, "object": "response", "deleted": True})

    async def _run(self, response_id: str) -> Run:
        run_id = ids.run_id(response_id)
        if run_id is None or await self._engine.response_deleted(run_id):
            raise response_not_found(response_id)
        try:
            return await self._engine.run(run_id)
        except RunNotFound:
            raise response_not_found(response_id) from None

    async def _conversation(self, asked: request.Asked, response_id: str) -> Conversation:
        previous = asked.body.get("previous_response_id")
        # Resolved before it is looked up: a contradiction is told whether or not it exists.
        found = resolve(asked.body, response_id=response_id, previous=previous)
        if found.source != "previous_response_id":
            return found
        try:
            run = await self._run(found.id)
        except Refusal:
            raise Refusal(
                f"Previous response with id '{previous}' not found.",
                status=404,
                param="previous_response_id",
                code="previous_response_not_found",
            ) from None
        return resolve(asked.body, response_id=response_id, previous=run.thread_id)

    async def _held(self, conversation: Conversation) -> history.Held:
        if conversation.new:
            return history.NOTHING
        try:
            thread = await self._engine.thread(conversation.id)
        except ThreadNotFound:
            return history.NOTHING
        state = await self._engine.state(conversation.id)
        values = state.values if state is not None and isinstance(state.values, dict) else {}
        asked = (question for each in thread.interrupts.values() for question in each)
        return history.held(
            decode(encode(values.get("messages"))),
            {question["id"]: question.get("value") for question in asked},
            busy=thread.status is ThreadStatus.BUSY,
        )

    async def _view(self, run: Run) -> Response:
        if run.status.terminal:
            return _text(await delivery.terminal(self._engine, run), headers=_named(run))
        return _json(objects.unfinished(run), headers=_named(run))

    def _stream(self, run: Run, http: Request, *, after: int = -1) -> Response:
        hidden = () if self._resumed_events and not _is_strict(http) else (_RESUMED,)
        return sse.event_stream(
            delivery.stream(self._engine, run, after=after, hidden=hidden),
            headers=_named(run),
            heartbeat=b": ping\n\n",
        )


def _endpoint(verbs: Mapping[str, Handler]) -> Handler:
    """One path with all its methods, so that every error has this door's shape."""

    async def endpoint(http: Request) -> Response:
        try:
            return await _handler(verbs, http)(http)
        except ClientDisconnect:
            raise
        except Exception as error:
            refusal = refusal_of(error)
            if refusal.status == 500:
                log.exception("%s %s failed", http.method, http.url.path)
            return _json(refusal.body, status=refusal.status, headers=refusal.headers)

    return endpoint


def _handler(verbs: Mapping[str, Handler], http: Request) -> Handler:
    if not verbs:
        raise Refusal(
            f"Unknown request URL: {http.method} {http.url.path}.", status=404, code="unknown_url"
        )
    if http.method not in verbs:
        raise Refusal(
            f"Not allowed here: {http.method} {http.url.path}.",
            status=405,
            code="method_not_allowed",
            headers={"Allow": ", ".join(verbs)},
        )
    return verbs[http.method]


def _is_strict(http: Request) -> bool:
    """openai-node's ``responses.stream()`` throws at an event type that it does not know."""
    helper = http.headers.get("x-stainless-helper-method")
    return helper == "stream" and http.headers.get("x-stainless-lang") == "js"


async def _json_body(http: Request) -> Any:
    try:
        return received(await http.body())
    except ValueError:
        raise Refusal("The body is not valid JSON.", code="invalid_json") from None


def _integer(text: str | None, param: str) -> int | None:
    if text is None:
        return None
    if not (text.isdecimal() and len(text) < 19):
        raise Refusal(f"'{param}' must be an integer of 0 or more.", param=param)
    return int(text)


def _flag(text: str | None, param: str) -> bool:
    flags = {"true": True, "1": True, "false": False, "0": False}
    if text is not None and text.lower() not in flags:
        raise Refusal(f"'{param}' must be true or false.", param=param)
    return flags[(text or "false").lower()]


def _named(run: Run) -> dict[str, str]:
    return {"x-response-id": ids.response_id(run.run_id)}


def _json(
    body: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return _text(encode(body), status=status, headers=headers)


def _text(text: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(text, status, dict(headers or {}), media_type="application/json")
