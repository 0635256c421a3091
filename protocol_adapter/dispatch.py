"""``POST /invocations`` takes the bodies of two protocols; their shape says which one speaks.

1. ``id``, ``session_id``, ``graph`` or ``agent``: the generic protocol, which alone has them.
2. Else a key that only Responses has, or an ``input`` that is a text or a list of items: Responses.
3. Else the generic protocol.

Null says nothing, and what is no JSON object is for the generic protocol to refuse: both refuse
in the same shape.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from langgraph_durable.errors import InvalidRequest
from langgraph_durable.serde import received
from protocol_adapter.envelope import METHODS, Handler

_GENERIC = ("id", "session_id", "graph", "agent")
_RESPONSES = (
    *("model", "custom_inputs", "context", "conversation", "previous_response_id"),
    *("instructions", "tools"),
)


def is_responses(body: Any) -> bool:
    """Is a decoded body a request of the Responses protocol?"""
    if not isinstance(body, dict) or any(body.get(key) is not None for key in _GENERIC):
        return False
    given = body.get("input")
    named = any(body.get(key) is not None for key in _RESPONSES)
    return named or isinstance(given, str) or _lists_items(given)


def _lists_items(given: Any) -> bool:
    items = given if isinstance(given, list) else []
    return bool(items) and all(isinstance(i, dict) and ("role" in i or "type" in i) for i in items)


def invocations_route(*, generic: Handler, responses: Handler) -> Route:
    """``/invocations``, its requests handed on to the two protocols' own handlers."""

    async def chosen(http: Request) -> Response:
        return await (responses if await _speaks_responses(http) else generic)(http)

    return Route("/invocations", chosen, methods=METHODS)


async def _speaks_responses(http: Request) -> bool:
    try:
        return http.method == "POST" and is_responses(received(await http.body()))
    except (ValueError, InvalidRequest):
        return False
