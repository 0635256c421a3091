"""What the routes of this door read is what the OpenAPI document says that they read."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import pytest
from starlette import requests
from starlette.datastructures import QueryParams

from langgraph_durable.errors import ThreadNotFound
from langgraph_durable.model import Cron, Run, Thread, ThreadStatus
from langgraph_durable.serde import encode, received
from protocol_adapter.app import create_app
from protocol_adapter.langgraph import crons, http
from protocol_adapter.langgraph.openapi import LANGGRAPH
from tests.protocol_adapter.asgi import Conversation
from tests.protocol_adapter.engine import ScriptedEngine
from tests.protocol_adapter.langgraph.samples import NOON, run

INERT = {"stream_resumable", "feedback_keys", "langsmith_tracer"}
"""Keys that say nothing to a server of which everything is durable; nobody reads them."""
PASSED_ON = {"command.goto.input", "supersteps.updates.command.goto.input"}
"""What graphs read."""
BY_METHOD = {"POST /threads/{thread_id}/commands"}
"""What is in ``params`` depends on the command."""
AS_A_BODY = {"limit", "offset", "before", "key", "namespace"}
"""Query parameters that are read as those of a body are."""

PLACES: tuple[dict[str, Any], ...] = (
    {"thread_id": "t1"},
    {"configurable": {"thread_id": "t1"}},
)
"""Both forms of a checkpoint."""
RUN: dict[str, Any] = {"assistant_id": "echo", "config": {"tags": []}}
JUMP: dict[str, Any] = {"goto": [{"node": "a"}]}
RUNS = [*({**RUN, "checkpoint": place} for place in PLACES), {**RUN, "command": JUMP}]
CRON = dict.fromkeys(crons.KEYS) | {**RUNS[0], "schedule": "0 0 1 1 *"}
BODIES: dict[str, list[Any]] = {
    "POST /assistants": [{"graph_id": "echo", "config": {"tags": []}}],
    "PATCH /assistants/{assistant_id}": [{"config": {"tags": []}}],
    "POST /assistants/{assistant_id}/latest": [{"version": 1}],
    "POST /threads": [{"ttl": {"ttl": 1}, "supersteps": [{"updates": [{"command": JUMP}]}]}],
    "PATCH /threads/{thread_id}": [{"ttl": {"ttl": 1}}],
    "POST /threads/prune": [{"thread_ids": []}],
    "POST /threads/{thread_id}/state": [{"checkpoint": place} for place in PLACES],
    "POST /threads/{thread_id}/state/checkpoint": [{"checkpoint": place} for place in PLACES],
    "POST /threads/{thread_id}/history": [
        {"checkpoint": place, "before": place} for place in PLACES
    ],
    "POST /threads/{thread_id}/stream/events": [{"channels": ["values"]}],
    "PUT /store/items": [{"namespace": ["a"], "key": "k", "value": {}}],
    "DELETE /store/items": [{"namespace": ["a"], "key": "k"}],
    "POST /runs/batch": [[each] for each in RUNS],
    "POST /runs/cancel": [{"status": "all"}],
    "POST /runs/crons": [CRON],
    "POST /threads/{thread_id}/runs/crons": [{**CRON, "on_run_completed": "keep"}],
    "PATCH /runs/crons/{cron_id}": [{**CRON, "assistant_id": "a1"}],
    **{
        f"POST {where}{tail}": RUNS
        for where in ("/runs", "/threads/{thread_id}/runs")
        for tail in ("", "/stream", "/wait")
    },
}
"""Bodies that are read to their end, with all that has something within."""


class Read(dict[str, Any]):
    """A body that knows which of its keys were read, and those of the objects within."""

    def __init__(self, value: dict[str, Any], path: str, reads: set[str]) -> None:
        super().__init__({k: _watched(v, f"{path}{k}", reads) for k, v in value.items()})
        self._path, self._reads = path, reads

    def get(self, key: str, default: Any = None) -> Any:
        self._reads.add(self._path + key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self._reads.add(self._path + key)
        return super().__getitem__(key)

    def __or__(self, more: Any) -> Any:
        return Read(super().__or__(more), self._path, self._reads)


def _watched(value: Any, path: str, reads: set[str]) -> Any:
    if isinstance(value, dict):
        return Read(value, f"{path}." if path else "", reads)
    if isinstance(value, list):
        return [_watched(item, path, reads) for item in value]
    return value


class Somewhere(ScriptedEngine):
    """Has one run and one thread, and refuses all else when it was asked for whole."""

    def __init__(self) -> None:
        super().__init__(run(next_seq=0))

    def __getattr__(self, name: str) -> Any:
        async def refuse(*args: Any, **kwargs: Any) -> Any:
            raise ThreadNotFound

        return refuse

    async def check_webhook(self, url: str | None) -> None:
        return None

    async def thread(self, thread_id: str) -> Thread:
        return thread()

    async def runs(self, thread_id: str, **about: Any) -> list[Run]:
        return []

    async def follow_thread(self, thread_id: str, **about: Any) -> AsyncIterator[Any]:
        for nothing in ():
            yield nothing

    async def update_cron(self, cron_id: str, change: Any) -> Any:
        change(cron())
        raise ThreadNotFound


def thread() -> Thread:
    return Thread(
        **{"thread_id": "t1", "checkpoint_thread_id": "t1", "status": ThreadStatus.IDLE},
        **{"metadata": {}, "config": {}, "values": None, "interrupts": {}, "error": None},
        **{"temporary": False, "created_at": NOON, "updated_at": NOON, "state_updated_at": NOON},
    )


def cron() -> Cron:
    return Cron(
        **{"cron_id": "c1", "assistant_id": "a1", "thread_id": None, "schedule": "0 0 1 1 *"},
        **{"timezone": None, "end_time": None, "enabled": True, "metadata": {}, "request": {}},
        payload={"assistant_id": "a1", "schedule": "0 0 1 1 *"},
        **{"next_run_date": NOON, "created_at": NOON, "updated_at": NOON},
    )


def keys(schema: Any, path: str = "") -> Iterator[str]:
    """The paths of all properties within ``schema``."""
    if "$ref" in schema:
        yield from keys(LANGGRAPH.schemas[schema["$ref"].rpartition("/")[2]], path)
    for inner in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])):
        yield from keys(inner, path)
    for key, inner in schema.get("properties", {}).items():
        yield f"{path}{key}"
        yield from keys(inner, f"{path}{key}.")


def within(read: set[str], documented: set[str]) -> set[str]:
    """Without what was read in objects that hold what clients like."""
    whole = {path.rpartition(".")[0] for path in documented}
    return {path for path in read if path.rpartition(".")[0] in whole}


async def ask(label: str, body: Any = None, query: str = "") -> None:
    method, path = label.split(" ")
    app = create_app(cast(Any, Somewhere()))
    url = re.sub(r"\{\w+\}", "r1", path) + query
    async with Conversation(app, method, url, encode(body).encode()) as answer:
        assert answer.status in (200, 202, 204, 400, 404)


WITH_BODY = sorted(
    label
    for label, operation in LANGGRAPH.operations.items()
    if operation.body is not None and label not in BY_METHOD
)


@pytest.mark.parametrize("label", WITH_BODY)
async def test_every_key_that_is_read_is_described_and_no_other(
    label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: set[str] = set()
    monkeypatch.setattr(http, "received", lambda raw: _watched(received(raw), "", read))
    for body in BODIES.get(label, [{}]):
        await ask(label, body)
    documented = set(keys(LANGGRAPH.operations[label].body))
    assert within(read, documented) - INERT == documented - INERT - PASSED_ON


@pytest.mark.parametrize("label", sorted(LANGGRAPH.operations))
async def test_every_query_parameter_that_is_read_is_described_and_no_other(
    label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: set[str] = set()

    class Watched(QueryParams):
        def get(self, key: str, default: Any = None) -> Any:
            read.add(key)
            return super().get(key, default)

        def getlist(self, key: str) -> list[Any]:
            read.add(key)
            return super().getlist(key)

    monkeypatch.setattr(requests, "QueryParams", Watched)
    body = {"id": 1, "method": "state.get"} if label in BY_METHOD else BODIES.get(label, [{}])[0]
    await ask(label, body, "?key=k" if label == "GET /store/items" else "")
    assert read - AS_A_BODY == set(LANGGRAPH.operations[label].query) - AS_A_BODY
