"""What every route of this door needs: reading a request, writing an answer."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from langgraph_durable.serde import clean, decode, encode, received
from protocol_adapter.langgraph.fields import Unprocessable, digits

SWITCHES = {"": False, "0": False, "false": False, "1": True, "true": True}
"""How clients write a flag in a query, in any case."""


async def json_body(request: Request) -> dict[str, Any]:
    """The body as a JSON object, whatever its content type says. Raises Unprocessable."""
    body = await json_value(request)
    if not isinstance(body, dict):
        raise Unprocessable("The request body must be a JSON object")
    return body


async def json_objects(request: Request) -> list[dict[str, Any]]:
    """The body as a list of JSON objects. Raises Unprocessable."""
    body = await json_value(request)
    if not isinstance(body, list) or not all(isinstance(item, dict) for item in body):
        raise Unprocessable("The request body must be a list of JSON objects")
    return body


async def json_value(request: Request) -> Any:
    """The body as JSON, whatever its content type says. Raises Unprocessable."""
    try:
        return received(await request.body())
    except ValueError:
        raise Unprocessable("Invalid JSON in request body") from None


def segment(request: Request, key: str) -> str:
    """A path parameter, its NUL characters replaced as those of a body are."""
    return str(clean(request.path_params[key]))


def switch(request: Request, key: str) -> bool | None:
    """A query flag as the clients write it: 1/0, true/false; None when absent."""
    value = request.query_params.get(key)
    if value is None:
        return None
    if value.lower() not in SWITCHES:
        raise Unprocessable(f"{key!r} must be true or false")
    return SWITCHES[value.lower()]


def many(request: Request, key: str) -> list[str]:
    """A query list: repeated keys, a comma list or a JSON list; empty is absent."""
    found: list[str] = []
    for value in request.query_params.getlist(key):
        found += _json_list(value) if value.startswith("[") else value.split(",")
    return [item for item in found if item]


def query(request: Request) -> dict[str, Any]:
    """The query as a body would be: digits are numbers, an empty value is absent."""
    pairs = request.query_params.items()
    return {k: clean(v) if digits(v) is None else digits(v) for k, v in pairs if v}


def answer(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(value), status, headers, media_type="application/json")


def answer_page(rows: list[Any], total: int, offset: int) -> Response:
    """Rows of a search with the headers that tell a client where the next page begins."""
    headers = {"X-Pagination-Total": str(total)}
    if offset + len(rows) < total:
        headers["X-Pagination-Next"] = str(offset + len(rows))
    return answer(rows, headers=headers)


def run_headers(
    thread_id: str | None, run_id: str, tail: str = "", view: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """``Content-Location`` names the run; ``Location``, with a ``tail``, is where to go on.

    Both are paths without any mount prefix: clients put their base URL before it. They take the
    ids out of ``Content-Location`` as they stand and send nothing of their own query along to
    ``Location``, so that one carries the ``view``.
    """
    run = f"runs/{run_id}"
    if thread_id is None:
        name = path = f"/{run}"
    else:
        name = f"/threads/{quote(thread_id, safe=string.printable)}/{run}"
        path = f"/threads/{quote(thread_id, safe=':@!$&()*+,;=~')}/{run}"
    headers = {"Content-Location": name}
    if tail:
        query = f"?{urlencode(view, doseq=True)}" if view else ""
        headers["Location"] = f"{path}/{tail}{query}"
    return headers


def _json_list(value: str) -> list[str]:
    try:
        items = decode(value)
    except ValueError:
        raise Unprocessable(f"{value!r} is not a JSON list") from None
    return [str(item) for item in items]
