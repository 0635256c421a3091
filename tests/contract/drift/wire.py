"""What the installed SDK really sends: every method with every parameter, into a mock transport."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import unquote

import httpx
import orjson
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from tests.contract.drift.samples import PATHS, REQUIRED, VARIANTS, sample

JSON, SSE = "application/json", "text/event-stream"
AREAS = ("assistants", "threads", "runs", "crons", "store")
TRANSPORT = frozenset({"accept", "cache-control", "content-type", "content-length"})
BY_HTTPX = frozenset({"host", "connection", "accept-encoding", "user-agent"})


@dataclass(frozen=True)
class Sent:
    """One request: its endpoint, as ``METHOD /path/{thread_id}``, and what it carried."""

    endpoint: str
    carried: Mapping[str, Any] = field(default_factory=dict)
    """``body.<key>``, ``query.<key>``, ``header.<name>``, ``path.<name>``."""


@cache
def methods() -> list[str]:
    """``area.method`` of every public method, of both clients."""
    found = set[str]()
    for client in (get_client(url="http://x"), get_sync_client(url="http://x")):
        for area in AREAS:
            of_area = inspect.getmembers(getattr(client, area), callable)
            found |= {f"{area}.{name}" for name, _ in of_area if not name.startswith("_")}
    return sorted(found)


@cache
def parameters(method: str) -> list[str]:
    """Every parameter of the method, in either client."""
    clients = (get_client(url="http://x"), get_sync_client(url="http://x"))
    names = (inspect.signature(_bound(each, method)).parameters for each in clients)
    return list(dict.fromkeys(name for each in names for name in each))


@cache
def sent(method: str, variant: int = 0, parameter: str | None = None, sync: bool = False) -> Sent:
    """The request of one call: the variant's arguments, and one parameter more."""
    given = {**REQUIRED.get(method, {}), **VARIANTS.get(method, ({},))[variant]}
    if parameter is not None:
        given |= sample(method, parameter)
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        streams = "event-stream" in request.headers["accept"]
        kind, body = (
            ("text/event-stream", b"event: end\ndata: {}\n\n") if streams else (JSON, b"{}")
        )
        headers = {"content-type": kind, "content-location": "/threads/t-1/runs/r-1"}
        return httpx.Response(200, content=body, headers=headers)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        (_call_now if sync else _call)(method, given, httpx.MockTransport(answer))
    assert seen, f"{method} sent nothing"
    return _read(seen[0])


def variants(method: str) -> range:
    """The kinds of call of a method that go to different endpoints."""
    return range(len(VARIANTS.get(method, ({},))))


def required(method: str) -> set[str]:
    """The parameters that every call of the method gives anyway."""
    every = [{**REQUIRED.get(method, {}), **more} for more in VARIANTS.get(method, ({},))]
    return set[str]().union(*every)


def everything(method: str) -> Iterator[Sent]:
    """Every request that the method can make: without options, and with each of its parameters."""
    for variant in variants(method):
        for parameter in (None, *parameters(method)):
            yield sent(method, variant, parameter)


def changed(before: Sent, after: Sent) -> set[str]:
    """The places in which two requests differ; all of ``after`` if it goes elsewhere."""
    if before.endpoint != after.endpoint:
        return {"endpoint", *after.carried}
    places = before.carried.keys() | after.carried.keys()
    return {place for place in places if before.carried.get(place) != after.carried.get(place)}


def _bound(client: Any, method: str) -> Callable[..., Any]:
    area, name = method.split(".")
    found: Callable[..., Any] | None = getattr(getattr(client, area), name, None)
    assert found is not None, f"{type(client).__name__} has no {method}, the other client has it"
    return found


def _made(call: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """The call with these arguments, those by position where it takes no names."""
    kinds = inspect.signature(call).parameters
    by_place = [name for name, kind in kinds.items() if kind.kind is kind.POSITIONAL_ONLY]
    named = {name: value for name, value in given.items() if name not in by_place}
    return call(*(given[name] for name in by_place if name in given), **named)


def _call_now(method: str, given: Mapping[str, Any], transport: httpx.MockTransport) -> None:
    with httpx.Client(transport=transport, base_url="http://x") as http:
        outcome = _made(_bound(SyncLangGraphClient(http), method), given)
        if inspect.isgenerator(outcome):
            list(outcome)


def _call(method: str, given: Mapping[str, Any], transport: httpx.MockTransport) -> None:
    async def call() -> None:
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            outcome = _made(_bound(LangGraphClient(http), method), given)
            if inspect.isawaitable(outcome):
                outcome = await outcome
            if inspect.isasyncgen(outcome):
                async for _ in outcome:
                    pass

    asyncio.run(call())


def _read(request: httpx.Request) -> Sent:
    names = {value: name for name, value in PATHS.items()}
    steps = unquote(request.url.path).split("/")
    path = "/".join(f"{{{names[step]}}}" if step in names else step for step in steps)
    carried: dict[str, Any] = {f"path.{names[s]}": s for s in steps if s in names}
    for key in request.url.params:
        carried[f"query.{key}"] = request.url.params.get_list(key)
    body = orjson.loads(request.content) if request.content else {}
    for part in body if isinstance(body, list) else [body]:
        carried |= {f"body.{key}": value for key, value in part.items()}
    headers = request.headers.items()
    carried |= {f"header.{k}": v for k, v in headers if k not in BY_HTTPX and k not in TRANSPORT}
    return Sent(f"{request.method} {path}", carried)
