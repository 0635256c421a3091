"""What every path of this door needs: reading a request, writing an answer, one error shape."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.serde import encode, received
from protocol_adapter.request_id import request_id

from .refusal import Refusal, refusal_of

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_PREFIXES = ("", "/v1")

Handler = Callable[[Request], Awaitable[Response]]
Paths = Mapping[str, Mapping[str, Handler]]
"""A path and its handlers by method; a path without any is unknown."""

log = logging.getLogger(__name__)


def routes(paths: Paths) -> list[BaseRoute]:
    """Every path, with and without ``/v1`` in front."""
    return [
        Route(f"{prefix}{path}", _endpoint(verbs), methods=_METHODS)
        for prefix in _PREFIXES
        for path, verbs in paths.items()
    ]


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
                name = request_id(http.scope)
                log.exception("%s %s failed (%s)", http.method, http.url.path, name)
            return json(refusal.body, status=refusal.status, headers=refusal.headers)

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


async def json_body(http: Request) -> Any:
    """The body as JSON, whatever its content type says; nothing at all is None."""
    body = await http.body()
    try:
        return received(body) if body else None
    except ValueError:
        raise Refusal("The body is not valid JSON.", code="invalid_json") from None


def integer(text: str | None, param: str) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Refusal(f"'{param}' must be an integer of 0 or more.", param=param)
    return int(text)


def flag(text: str | None, param: str) -> bool:
    flags = {"true": True, "1": True, "false": False, "0": False}
    if text is not None and text.lower() not in flags:
        raise Refusal(f"'{param}' must be true or false.", param=param)
    return flags[(text or "false").lower()]


def json(
    body: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return json_text(encode(body), status=status, headers=headers)


def json_text(
    text: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(text, status, dict(headers or {}), media_type="application/json")
