"""Errors as ``{"error": {message, type, param, code}}``, and paths that answer nothing else.

The shape of OpenAI's clients, and of both protocols that share ``POST /invocations``: whichever of
them refuses a body, the client reads the same keys.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from langgraph_durable.serde import encode, received
from protocol_adapter.request_id import request_id

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

Handler = Callable[[Request], Awaitable[Response]]

_LONGEST = 300
"""Letters of a message, which may repeat what the client sent."""

log = logging.getLogger(__name__)


class Refusal(Exception):
    """An answer with an error body; ``status`` is the HTTP status."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        param: str | None = None,
        code: str | None = None,
        kind: str = "invalid_request_error",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}..."
        self.status = status
        self.param = param
        self.code = code
        self.kind = kind
        self.headers = dict(headers or {})

    @property
    def body(self) -> dict[str, Any]:
        about = {"type": self.kind, "param": self.param, "code": self.code}
        return {"error": {"message": self.message, **about}}


def unavailable(message: str) -> Refusal:
    """Not now, but soon: the client may come again after a second."""
    return Refusal(
        message,
        status=503,
        kind="server_error",
        code="service_unavailable",
        headers={"Retry-After": "1"},
    )


def broken() -> Refusal:
    """The server's own fault, its text kept to ourselves."""
    return Refusal("The server had an error.", status=500, kind="server_error", code="server_error")


def endpoint(verbs: Mapping[str, Handler], refusal_of: Callable[[Exception], Refusal]) -> Handler:
    """One path with all its methods; route every method to it, so that no error escapes."""

    async def answered(http: Request) -> Response:
        try:
            return await _handler(verbs, http)(http)
        except ClientDisconnect:
            raise
        except Exception as error:
            refusal = refusal_of(error)
            if refusal.status == 500:
                name = request_id(http.scope)
                log.exception("%s %s failed (%s)", http.method, http.url.path, name)
            return json_answer(refusal.body, status=refusal.status, headers=refusal.headers)

    return answered


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


def json_answer(
    body: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return text_answer(encode(body), status=status, headers=headers)


def text_answer(
    text: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """JSON that is text already."""
    return Response(text, status, dict(headers or {}), media_type="application/json")


def integer(text: str | None, param: str) -> int | None:
    """A number of 0 or more in a query; None when it is absent."""
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Refusal(f"'{param}' must be an integer of 0 or more.", param=param)
    return int(text)
