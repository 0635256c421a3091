"""The OpenAPI document describes what is served, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

import httpx
import pytest
from jsonschema import Draft202012Validator
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route

from protocol_adapter.app import App, create_app
from tests.protocol_adapter.engine import ScriptedEngine

ABOUT_ITSELF = re.compile("/(openapi.json|docs|redoc)")
NOWHERE = ("Not Found", "Unknown request URL")


def app_of(prefix: str = "", *, without: Iterable[str] = ()) -> App:
    engine = ScriptedEngine(mount_prefix=prefix)
    engine.disabled = frozenset(without)
    return create_app(cast(Any, engine))


def routed(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Methods and paths; those of ``/responses`` take every method, to refuse it themselves."""
    for route in routes:
        if isinstance(route, Mount):
            yield from routed(route.routes, prefix + route.path)
        elif isinstance(route, Route) and not ABOUT_ITSELF.match(route.path):
            for method in (route.methods or set()) - {"HEAD"}:
                yield method, prefix + route.path_format


async def is_served(client: httpx.AsyncClient, method: str, path: str) -> bool:
    answer = await client.request(method, re.sub(r"\{\w+\}", "x", path.replace("{rest}", "x/y")))
    nowhere = answer.status_code == 404 and any(words in answer.text for words in NOWHERE)
    return answer.status_code != 405 and not nowhere


def described(app: App) -> set[tuple[str, str]]:
    found = app.openapi()["paths"]
    return {(method.upper(), path) for path, methods in found.items() for method in methods}


def schemas_in(value: Any) -> Iterator[Any]:
    """Every schema of the document's operations, and all its components."""
    if isinstance(value, dict):
        if "schema" in value:
            yield value["schema"]
        for inner in value.values():
            yield from schemas_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from schemas_in(inner)


@pytest.mark.parametrize("prefix", ["", "/agents"])
async def test_every_served_route_is_described_and_no_other(prefix: str) -> None:
    app = app_of(prefix)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        served = {
            (method, path)
            for method, path in routed(app.routes)
            if await is_served(client, method, path)
        }
    assert described(app) == served
    assert served >= {("POST", f"{prefix}/threads"), ("GET", "/ok")}


async def test_a_part_that_is_shut_is_not_described() -> None:
    whole, less = described(app_of()), described(app_of(without=["store"]))
    assert whole - less == {pair for pair in whole if pair[1].startswith("/store")}


def test_every_schema_is_one_and_refers_to_what_is_there() -> None:
    document = app_of().openapi()
    components = document["components"]["schemas"]
    for schema in [*schemas_in(document["paths"]), *components.values()]:
        Draft202012Validator.check_schema(schema)
    named = set(re.findall(r"#/components/schemas/(\w+)", repr(document)))
    assert named == set(components)


def test_every_operation_has_a_name_of_its_own_and_says_what_it_is_for() -> None:
    found = [each for ops in app_of().openapi()["paths"].values() for each in ops.values()]
    names = [each["operationId"] for each in found]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"\w+", name) for name in names)
    assert all(each["summary"] for each in found)


async def test_it_is_served_as_json_and_as_a_page() -> None:
    app = app_of()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        assert (await client.get("/openapi.json")).json() == app.openapi()
        for page in ("/docs", "/redoc"):
            assert '"/openapi.json"' in (await client.get(page)).text.replace("'", '"')


async def test_the_pages_of_a_mounted_app_read_its_own_document() -> None:
    outer = Starlette(routes=[Mount("/agents", app_of())])
    transport = httpx.ASGITransport(outer)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        assert "/agents/openapi.json" in (await client.get("/agents/docs")).text
        assert (await client.get("/agents/openapi.json")).json()["openapi"]
