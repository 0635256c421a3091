"""``http.disable_...`` of a ``langgraph.json``: what is left out is not there; the rest is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.errors import UnprocessableEntityError

from langgraph_durable.errors import ProjectError
from langgraph_durable.project import read_config
from tests.conftest import APPS
from tests.servers import Databases, Server

ROUTES = {
    "assistants": [("POST", "/assistants/search"), ("GET", "/assistants/echo")],
    "threads": [("POST", "/threads"), ("GET", "/threads/t/state"), ("GET", "/threads/t/stream")],
    "runs": [
        *(("POST", "/runs/wait"), ("POST", "/threads/t/runs"), ("GET", "/threads/t/runs")),
        *(("POST", "/runs/crons/search"), ("POST", "/runs/batch"), ("POST", "/runs/cancel")),
    ],
    "store": [("GET", "/store/items?key=k"), ("POST", "/store/namespaces")],
    "meta": [("GET", "/info"), ("GET", "/metrics"), ("GET", "/docs"), ("GET", "/openapi.json")],
}


def config(folder: Path, **http: Any) -> Path:
    graphs = {"echo": f"{APPS / 'basic' / 'graphs.py'}:echo"}
    path = folder / "langgraph.json"
    path.write_text(json.dumps({"graphs": graphs, "http": http}))
    return path


@pytest.fixture(scope="module", params=[("runs",), ("assistants", "threads", "store", "meta")])
def left_out(
    request: Any, databases: Databases, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, set[str]]]:
    """A server without some of its parts, and what it is without."""
    parts: tuple[str, ...] = request.param
    folder = tmp_path_factory.mktemp("left-out")
    path = config(folder, **{f"disable_{part}": True for part in (*parts, "mcp", "a2a", "ui")})
    server = Server(path, database_url=databases.create(template), log=folder / "log")
    yield server.start(), set(parts)
    server.close()


async def test_what_is_left_out_is_not_found_and_the_rest_is_there(
    left_out: tuple[Server, set[str]],
) -> None:
    server, parts = left_out
    async with httpx.AsyncClient(base_url=server.url) as http:
        for part, routes in ROUTES.items():
            for method, path in routes:
                if path.endswith("/stream") and part not in parts:
                    continue  # it never ends
                answer = await http.request(
                    method, path, content="{}" if method == "POST" else None
                )
                absent = answer.status_code == 404 and answer.json() == {"detail": "Not Found"}
                assert absent == (part in parts), (method, path, answer.text)
        assert (await http.get("/ok?check_db=1")).json() == {"ok": True}


async def test_runs_go_on_without_what_is_around_them(left_out: tuple[Server, set[str]]) -> None:
    server, parts = left_out
    if "runs" in parts:
        async with get_client(url=server.url) as client:
            made = await client.threads.create(graph_id="echo")
            await client.threads.update_state(made["thread_id"], {"x": 1}, as_node="echo")
            assert (await client.threads.get_state(made["thread_id"]))["values"] == {"x": 1}
    else:
        async with get_client(url=server.url) as client:
            done: Any = await client.runs.wait(None, "echo", input={"x": 1})
            assert done["y"] == 1


async def test_a_server_that_calls_nobody_refuses_webhooks(
    databases: Databases, template: str, tmp_path: Path
) -> None:
    path = config(tmp_path, disable_webhooks=True)
    server = Server(path, database_url=databases.create(template), log=tmp_path / "log")
    try:
        server.start()
        async with get_client(url=server.url) as client:
            hook = "https://example.com/hook"
            with pytest.raises(UnprocessableEntityError, match="webhook"):
                await client.runs.create(None, "echo", input={"x": 1}, webhook=hook)
            with pytest.raises(UnprocessableEntityError, match="webhook"):
                await client.crons.create("echo", schedule="0 0 1 1 *", input={}, webhook=hook)
            assert (await client.runs.create(None, "echo", input={"x": 1}))["run_id"]
    finally:
        server.close()


def test_a_switch_is_on_or_off(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"http\.disable_store: must be true or false"):
        read_config(config(tmp_path, disable_store="yes"))
    found = read_config(config(tmp_path, disable_store=True, disable_runs=False, disable_ui=True))
    assert found.http.disabled == {"store"}
    assert found.notices == ()
    assert read_config(config(tmp_path, disable_crons=True)).notices == (
        "http: disable_crons: not supported yet; ignored",
    )
