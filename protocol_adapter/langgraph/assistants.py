"""Assistants: so far one per served graph, made by the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Assistant
from protocol_adapter.langgraph.fields import (
    Unprocessable,
    choice,
    digits,
    mapping,
    page,
    text,
    texts,
)
from protocol_adapter.langgraph.http import answer, answer_page, json_body
from protocol_adapter.langgraph.objects import assistant_object
from protocol_adapter.langgraph.selection import ASSISTANT_FIELDS, check_columns, select

SORTS = ("assistant_id", "graph_id", "name", "created_at", "updated_at")
EVERY = 1000


class Assistants:
    """The routes under ``/assistants``."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    def routes(self) -> list[BaseRoute]:
        one = "/assistants/{assistant_id}"
        return [
            Route("/assistants/search", self.search, methods=["POST"]),
            Route("/assistants/count", self.count, methods=["POST"]),
            Route(one, self.get, methods=["GET"]),
            Route(f"{one}/schemas", self.schemas, methods=["GET"]),
            Route(f"{one}/graph", self.graph, methods=["GET"]),
            Route(f"{one}/subgraphs", self.subgraphs, methods=["GET"]),
            Route(f"{one}/subgraphs/{{namespace}}", self.subgraphs, methods=["GET"]),
        ]

    async def search(self, request: Request) -> Response:
        body = await json_body(request)
        limit, offset = page(body)
        columns = texts(body, "select")
        check_columns(columns, ASSISTANT_FIELDS)
        found, total = await self._engine.search_assistants(**_filters(body), limit=EVERY)
        rows = _sorted(found, body)[offset : offset + limit]
        return answer_page([select(assistant_object(row), columns) for row in rows], total, offset)

    async def count(self, request: Request) -> Response:
        body = await json_body(request)
        _, total = await self._engine.search_assistants(**_filters(body), limit=1)
        return answer(total)

    async def get(self, request: Request) -> Response:
        return answer(assistant_object(await self._assistant(request)))

    async def schemas(self, request: Request) -> Response:
        return answer(await self._engine.schemas(request.path_params["assistant_id"]))

    async def graph(self, request: Request) -> Response:
        depth = _xray(request.query_params.get("xray", ""))
        name = request.path_params["assistant_id"]
        return answer(await self._engine.graph_json(name, xray=depth))

    async def subgraphs(self, request: Request) -> Response:
        await self._assistant(request)
        return answer({})

    async def _assistant(self, request: Request) -> Assistant:
        return await self._engine.assistant(request.path_params["assistant_id"])


def _filters(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "metadata": mapping(body, "metadata") or None,
        "graph_id": text(body, "graph_id"),
        "name": text(body, "name"),
    }


def _sorted(found: list[Assistant], body: Mapping[str, Any]) -> list[Assistant]:
    key = choice(body, "sort_by", SORTS, "created_at")
    descending = choice(body, "sort_order", ("asc", "desc"), "desc") == "desc"
    return sorted(found, key=lambda row: getattr(row, key), reverse=descending)


def _xray(value: str) -> bool | int:
    if depth := digits(value):
        return depth
    if value.lower() not in ("", "0", "true", "false"):
        raise Unprocessable("'xray' must be true, false or a positive number")
    return value.lower() == "true"
