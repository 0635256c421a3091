"""``x-request-id``: one name for a request, on its answer and in what is logged about it."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADER = b"x-request-id"
_SANE = re.compile(rb"[\x21-\x7e]{1,200}")
_KEY = "langgraph_durable.request_id"


class RequestId:
    """Takes the client's name for a request, if it is a sane one, and puts it on the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = next((value for key, value in scope["headers"] if key == _HEADER), b"")
        name = asked if _SANE.fullmatch(asked) else b"req_" + uuid4().hex.encode()
        scope[_KEY] = name.decode()

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (_HEADER, name)]
            await send(message)

        await self._app(scope, receive, named)


def request_id(scope: MutableMapping[str, Any]) -> str:
    """The name of the request; empty where nobody named it."""
    return str(scope.get(_KEY, ""))
