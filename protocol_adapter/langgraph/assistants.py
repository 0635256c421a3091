"""Assistants: the graphs' own, those that clients make, and what their graphs look like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from protocol_adapter.langgraph.fields import (
    Unprocessable,
    choice,
    digits,
    mapping,
    number,
    page,
    text,
    texts,
)
from protocol_adapter.langgraph.http import answer, answer_page, json_body, segment, switch
from protocol_adapter.langgraph.objects import assistant_object, version_object
from protocol_adapter.langgraph.request import parse_config
from protocol_adapter.langgraph.selection import ASSISTANT_FIELDS, check_columns, select

SORTS = ("assistant_id", "graph_id", "name", "created_at", "updated_at")


class Assistants:
    """The routes under ``/assistants``."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    def routes(self) -> list[BaseRoute]:
        one = "/assistants/{assistant_id}"
        return [
            Route("/assistants", self.create, methods=["POST"]),
            Route("/assistants/search", self.search, methods=["POST"]),
            Route("/assistants/count", self.count, methods=["POST"]),
            Route(one, self.get, methods=["GET"]),
            Route(one, self.update, methods=["PATCH"]),
            Route(one, self.delete, methods=["DELETE"]),
            Route(f"{one}/versions", self.versions, methods=["POST"]),
            Route(f"{one}/latest", self.set_latest, methods=["POST"]),
            Route(f"{one}/schemas", self.schemas, methods=["GET"]),
            Route(f"{one}/graph", self.graph, methods=["GET"]),
            Route(f"{one}/subgraphs", self.subgraphs, methods=["GET"]),
            Route(f"{one}/subgraphs/{{namespace:path}}", self.subgraphs, methods=["GET"]),
        ]

    async def create(self, request: Request) -> Response:
        body = await json_body(request)
        told = _told(body)
        graph_id = told.pop("graph_id")
        if not graph_id:
            raise Unprocessable("'graph_id' is required: the name of a graph")
        made = await self._engine.create_assistant(
            graph_id,
            assistant_id=text(body, "assistant_id") or None,
            if_exists=choice(body, "if_exists", ("raise", "do_nothing"), "raise"),
            **told,
        )
        return answer(assistant_object(made))

    async def get(self, request: Request) -> Response:
        return answer(assistant_object(await self._engine.assistant(_id(request))))

    async def update(self, request: Request) -> Response:
        told = _told(await json_body(request))
        return answer(assistant_object(await self._engine.update_assistant(_id(request), **told)))

    async def delete(self, request: Request) -> Response:
        threads_too = switch(request, "delete_threads") or False
        await self._engine.delete_assistant(_id(request), delete_threads=threads_too)
        return Response(status_code=204)

    async def search(self, request: Request) -> Response:
        body = await json_body(request)
        limit, offset = page(body)
        columns = texts(body, "select")
        check_columns(columns, ASSISTANT_FIELDS)
        found, total = await self._engine.search_assistants(
            **_filters(body),
            limit=limit,
            offset=offset,
            sort_by=choice(body, "sort_by", SORTS, "created_at"),
            sort_order=choice(body, "sort_order", ("asc", "desc"), "desc"),
        )
        return answer_page([select(assistant_object(row), columns) for row in found], total, offset)

    async def count(self, request: Request) -> Response:
        body = await json_body(request)
        _, total = await self._engine.search_assistants(**_filters(body), limit=1)
        return answer(total)

    async def versions(self, request: Request) -> Response:
        body = await json_body(request)
        limit, offset = page(body)
        found = await self._engine.assistant_versions(
            _id(request), metadata=mapping(body, "metadata"), limit=limit, offset=offset
        )
        return answer([version_object(each) for each in found])

    async def set_latest(self, request: Request) -> Response:
        version = number(await json_body(request), "version", 0, low=1, high=2**31 - 1)
        if not version:
            raise Unprocessable("'version' is required: a number")
        return answer(
            assistant_object(await self._engine.set_assistant_version(_id(request), version))
        )

    async def schemas(self, request: Request) -> Response:
        return answer(await self._engine.schemas(_id(request)))

    async def graph(self, request: Request) -> Response:
        depth = _xray(request.query_params.get("xray", ""))
        return answer(await self._engine.graph_json(_id(request), xray=depth))

    async def subgraphs(self, request: Request) -> Response:
        found = await self._engine.subgraphs(
            _id(request),
            namespace=request.path_params.get("namespace"),
            recurse=switch(request, "recurse") or False,
        )
        return answer(found)


def _id(request: Request) -> str:
    return segment(request, "assistant_id")


def _told(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a body says of an assistant; None where it says nothing."""
    config, _ = parse_config(body)
    return {
        "graph_id": text(body, "graph_id"),
        "name": text(body, "name"),
        "description": text(body, "description"),
        "config": None if body.get("config") is None else config,
        "context": None if body.get("context") is None else mapping(body, "context"),
        "metadata": mapping(body, "metadata"),
    }


def _filters(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "metadata": mapping(body, "metadata") or None,
        "graph_id": text(body, "graph_id"),
        "name": text(body, "name"),
    }


def _xray(value: str) -> bool | int:
    if depth := digits(value):
        return depth
    if value.lower() not in ("", "0", "true", "false"):
        raise Unprocessable("'xray' must be true, false or a positive number")
    return value.lower() == "true"
