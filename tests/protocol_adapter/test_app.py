"""The app as a whole: start, liveness, CORS, errors, mounting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette

from langgraph_durable import errors
from protocol_adapter.app import create_app
from tests.protocol_adapter.engine import ScriptedEngine


class Failing(ScriptedEngine):
    """An engine whose every read of a run fails in one way."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def run(self, run_id: str, thread_id: str | None = None) -> Any:
        raise self.error


@asynccontextmanager
async def client_of(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


def app_of(engine: ScriptedEngine) -> Starlette:
    return create_app(cast(Any, engine))


async def test_it_is_alive_without_an_engine_that_has_started() -> None:
    engine = ScriptedEngine()
    async with client_of(app_of(engine)) as client:
        assert (await client.get("/ok")).json() == {"ok": True}
        assert (await client.get("/info")).json()["flags"]["assistants"] is True
    assert engine.starts == 0


async def test_a_database_check_tells_when_it_is_gone() -> None:
    engine = ScriptedEngine()
    async with client_of(app_of(engine)) as client:
        assert (await client.get("/ok?check_db=1")).status_code == 200
        engine.alive = False
        assert (await client.get("/ok?check_db=1")).status_code == 503


async def test_the_lifespan_starts_and_stops_the_engine() -> None:
    engine = ScriptedEngine()
    app = app_of(engine)
    async with app.router.lifespan_context(app):
        assert engine.starts == 1
    assert engine.draining


async def test_mounted_where_no_lifespan_runs_the_first_request_starts_it() -> None:
    engine = ScriptedEngine()
    outer = FastAPI()
    outer.mount("/agents", app_of(engine))
    async with client_of(outer) as client:
        assert (await client.get("/agents/ok")).status_code == 200
        assert engine.starts == 0
        found = await client.get("/agents/threads/t1/runs/r1")
        assert found.status_code == 200
        assert (await client.get("/agents/threads/t1/runs/r1")).json() == found.json()
    assert engine.starts == 1


async def test_a_prefix_moves_the_doors_but_not_the_liveness() -> None:
    engine = ScriptedEngine(mount_prefix="/api")
    async with client_of(app_of(engine)) as client:
        assert (await client.get("/api/threads/t1/runs/r1")).status_code == 200
        assert (await client.get("/threads/t1/runs/r1")).status_code == 404
        assert (await client.get("/api/ok")).status_code == 200
        assert (await client.get("/ok")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "detail"),
    [
        ("GET", "/nope", 404, "Not Found"),
        ("PUT", "/threads", 405, "Method Not Allowed"),
        ("GET", "/threads/t1/runs/missing", 404, "Run not found"),
    ],
)
async def test_errors_are_a_detail_in_words(
    method: str, path: str, status: int, detail: str
) -> None:
    async with client_of(app_of(ScriptedEngine())) as client:
        answer = await client.request(method, path)
    assert (answer.status_code, answer.json()) == (status, {"detail": detail})


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.InvalidRequest("no"), 400),
        (errors.ThreadNotFound(), 404),
        (errors.AssistantNotFound(), 404),
        (errors.UnknownGraph(), 422),
        (errors.ThreadBusy(), 409),
        (errors.ThreadExists(), 409),
        (errors.RunNotCancellable(), 404),
        (errors.StoreUnavailable(), 503),
    ],
)
async def test_each_error_of_the_engine_has_its_status(
    error: errors.DurableError, status: int
) -> None:
    async with client_of(app_of(Failing(error))) as client:
        answer = await client.get("/threads/t1/runs/r1")
    assert (answer.status_code, answer.json()) == (status, {"detail": str(error)})
    assert answer.headers.get("retry-after") == ("1" if status == 503 else None)


@pytest.mark.parametrize("error", [RuntimeError("SELECT secret"), errors.LeaseLost("secret")])
async def test_an_unexpected_error_is_logged_and_not_told(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async with client_of(app_of(Failing(error))) as client:
        answer = await client.get("/threads/t1/runs/r1", headers={"origin": "http://ui"})
    assert answer.status_code == 500
    assert answer.json() == {"detail": "Internal Server Error"}
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "secret" in caplog.text


async def test_browsers_may_read_where_a_run_lives() -> None:
    async with client_of(app_of(ScriptedEngine())) as client:
        answer = await client.get("/ok", headers={"origin": "http://ui"})
    exposed = {
        name.strip().lower() for name in answer.headers["access-control-expose-headers"].split(",")
    }
    assert exposed == {
        *("location", "content-location", "x-pagination-total", "x-pagination-next"),
        *("x-response-id", "x-should-retry", "x-request-id"),
    }


async def test_a_page_on_the_internet_may_reach_a_server_on_this_machine() -> None:
    asked = {
        "origin": "https://studio",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
        "access-control-request-private-network": "true",
    }
    async with client_of(app_of(ScriptedEngine())) as client:
        answer = await client.options("/threads", headers=asked)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-private-network"] == "true"


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", ""])
async def test_a_body_is_json_whatever_its_type_says(content_type: str) -> None:
    body = b'{"assistant_id":"echo"}'
    async with client_of(app_of(ScriptedEngine())) as client:
        headers = {"content-type": content_type} if content_type else {}
        answer = await client.post("/threads/t1/runs", content=body, headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize("body", [b"", b"{bad", b"[]", b'"text"', b"\xff", b'"\\ud800"'])
async def test_a_body_that_is_no_json_object_is_unprocessable(body: bytes) -> None:
    async with client_of(app_of(ScriptedEngine())) as client:
        answer = await client.post("/threads/t1/runs", content=body)
    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)
