"""``POST /threads/{thread_id}/signals/{name}``: what a run of the thread waits for, or will."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.serde import clean
from protocol_adapter.langgraph.http import answer, json_value, segment


class Signals:
    """The body is the signal's value, any JSON; none at all is null.

    ``id`` in the query makes it one that counts once, however often it is sent.
    """

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    def routes(self) -> list[BaseRoute]:
        return [Route("/threads/{thread_id}/signals/{name}", self.send, methods=["POST"])]

    async def send(self, request: Request) -> Response:
        value = await json_value(request) if await request.body() else None
        thread_id, name = segment(request, "thread_id"), segment(request, "name")
        signal_id = clean(request.query_params.get("id"))
        new = await self._engine.signal(thread_id, name, value, signal_id=signal_id)
        return answer({"thread_id": thread_id, "name": name, "new": new})
