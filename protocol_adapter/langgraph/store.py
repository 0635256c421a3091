"""The store: items that clients and the nodes of every graph share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langgraph.store.base import Item, SearchItem
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.serde import clean
from protocol_adapter.langgraph.fields import (
    Unprocessable,
    flag,
    mapping,
    number,
    page,
    text,
    texts,
)
from protocol_adapter.langgraph.http import answer, json_body, switch

OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")
LONGEST_MINUTES = 2**31 - 1


class Store:
    """The routes under ``/store``."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/store/items", self.put, methods=["PUT"]),
            Route("/store/items", self.get, methods=["GET"]),
            Route("/store/items", self.delete, methods=["DELETE"]),
            Route("/store/items/search", self.search, methods=["POST"]),
            Route("/store/namespaces", self.namespaces, methods=["POST"]),
        ]

    async def put(self, request: Request) -> Response:
        body = await json_body(request)
        if not isinstance(body.get("value"), dict):
            raise Unprocessable("'value' must be an object")
        await self._engine.put_item(
            _labels(body, "namespace", needed=True),
            _key(body),
            body["value"],
            index=_index(body),
            ttl=_ttl(body),
        )
        return Response(status_code=204)

    async def get(self, request: Request) -> Response:
        asked = {name: clean(value) for name, value in request.query_params.items()}
        dotted = asked.get("namespace")
        found = await self._engine.get_item(
            _checked(dotted.split(".")) if dotted else [],
            _key(asked),
            refresh_ttl=switch(request, "refresh_ttl"),
        )
        return answer(None if found is None else item_object(found))

    async def delete(self, request: Request) -> Response:
        body = await json_body(request)
        await self._engine.delete_item(_labels(body, "namespace", needed=True), _key(body))
        return Response(status_code=204)

    async def search(self, request: Request) -> Response:
        body = await json_body(request)
        limit, offset = page(body)
        found = await self._engine.search_items(
            _labels(body, "namespace_prefix"),
            query=text(body, "query"),
            filter=_filter(body),
            limit=limit,
            offset=offset,
            refresh_ttl=flag(body, "refresh_ttl"),
        )
        return answer({"items": [found_object(item) for item in found]})

    async def namespaces(self, request: Request) -> Response:
        body = await json_body(request)
        depth = body.get("max_depth")
        found = await self._engine.list_namespaces(
            prefix=_labels(body, "prefix"),
            suffix=_labels(body, "suffix"),
            max_depth=None if depth is None else number(body, "max_depth", 1, low=1, high=1000),
            limit=number(body, "limit", 100, low=1, high=1000),
            offset=page(body | {"limit": None})[1],
        )
        return answer({"namespaces": found})


def item_object(item: Item) -> dict[str, Any]:
    return {
        "namespace": item.namespace,
        "key": item.key,
        "value": item.value,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }


def found_object(item: SearchItem) -> dict[str, Any]:
    return {**item_object(item), "score": item.score}


def _key(given: Mapping[str, Any]) -> str:
    key = text(given, "key")
    if key is None:
        raise Unprocessable("'key' is required")
    return key


def _labels(body: Mapping[str, Any], key: str, *, needed: bool = False) -> list[str]:
    labels = texts(body, key)
    if needed and labels is None:
        raise Unprocessable(f"'{key}' is required")
    return _checked(labels or [])


def _checked(labels: Sequence[str]) -> list[str]:
    for label in labels:
        if not label or "." in label:
            shown = label if len(label) <= 100 else f"{label[:100]}..."
            raise Unprocessable(
                f"Namespace label '{shown}' must be a non-empty string without periods"
            )
    return list(labels)


def _index(body: Mapping[str, Any]) -> Literal[False] | list[str] | None:
    """False: not in the index; paths: these fields; None: the configured ones."""
    index = body.get("index")
    if index is False:
        return False
    paths = None if index is True else texts(body, "index")
    return None if paths is None else list(dict.fromkeys(paths))


def _ttl(body: Mapping[str, Any]) -> float | None:
    ttl = body.get("ttl")
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, (int, float)) or not 0 < ttl <= LONGEST_MINUTES:
        raise Unprocessable("'ttl' must be a number of minutes above 0")
    return float(ttl)


def _filter(body: Mapping[str, Any]) -> dict[str, Any]:
    conditions = mapping(body, "filter")
    for condition in conditions.values():
        for name in condition if isinstance(condition, dict) else ():
            if name.startswith("$") and name not in OPERATORS:
                raise Unprocessable(f"'filter' knows {', '.join(OPERATORS)}, not {name[:20]!r}")
    return conditions
