"""Every answer has a name that the client chose or the server gave, and so has every error."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from langgraph_durable.errors import StoreUnavailable
from tests.protocol_adapter.engine import ScriptedEngine
from tests.protocol_adapter.test_app import Failing, app_of, client_of

OURS = re.compile(r"req_[0-9a-f]{32}")
ANSWERS = [
    ("GET", "/ok"),
    ("GET", "/info"),
    ("GET", "/health"),
    ("GET", "/nowhere"),
    ("PUT", "/threads"),
    ("GET", "/threads/t1/runs/missing"),
    ("POST", "/threads/t1/runs"),
    ("GET", "/threads/t1/runs/r1/stream"),
    ("POST", "/responses"),
    ("GET", "/v1/responses/resp_1"),
    ("GET", "/v1/nowhere"),
    ("GET", "/invocations/1"),
    ("GET", "/openapi.json"),
]


@pytest.mark.parametrize(("method", "path"), ANSWERS)
async def test_every_answer_has_a_name(method: str, path: str) -> None:
    engine = Failing(StoreUnavailable())
    async with client_of(app_of(engine)) as client:
        given = await client.request(method, path, headers={"x-request-id": "mine-1"})
        own = [await client.request(method, path) for _ in range(2)]

    assert given.headers.get_list("x-request-id") == ["mine-1"]
    names = [answer.headers["x-request-id"] for answer in own]
    assert all(OURS.fullmatch(name) for name in names)
    assert names[0] != names[1]


@pytest.mark.parametrize("name", ["", "two words", "ü", "x" * 201, "tab\there"])
async def test_a_name_that_could_spoil_a_log_is_replaced(name: str) -> None:
    async with client_of(app_of(ScriptedEngine())) as client:
        answer = await client.get("/ok", headers={"x-request-id": name.encode()})
    assert OURS.fullmatch(answer.headers["x-request-id"])


async def test_a_preflight_has_one_too_and_browsers_may_read_it() -> None:
    asked = {"origin": "http://ui", "access-control-request-method": "POST"}
    async with client_of(app_of(ScriptedEngine())) as client:
        answer = await client.options("/threads", headers=asked)
        read = await client.get("/ok", headers={"origin": "http://ui"})
    assert OURS.fullmatch(answer.headers["x-request-id"])
    assert "x-request-id" in read.headers["access-control-expose-headers"].lower()


@pytest.mark.parametrize("path", ["/threads/t1/runs/r1", f"/v1/responses/resp_{'0' * 32}"])
async def test_an_unexpected_error_is_logged_under_its_name(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine: Any = Failing(RuntimeError("secret"))
    engine.response_deleted = engine.run
    async with client_of(app_of(engine)) as client:
        answer = await client.get(path, headers={"x-request-id": "mine-1"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "mine-1")
    (record,) = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert record.getMessage() == f"GET {path} failed (mine-1)"
