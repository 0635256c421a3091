"""Three lines of Python, in any ASGI server and inside somebody's own app."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from langgraph.graph import MessagesState, StateGraph
from typing_extensions import TypedDict

from langgraph_durable import DurableServer, ProjectError, RecoveryStrategy, Settings
from langgraph_durable.embedded_guard import postmaster


class Silent(TypedDict):
    number: int


def echo(state: MessagesState) -> dict[str, Any]:
    return {"messages": [("ai", f"you said {state['messages'][-1].content}")]}


GRAPH = StateGraph(MessagesState).add_node("echo", echo).set_entry_point("echo").compile()


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment that names no database, and the home of the embedded one."""
    for name in ("DATABASE_URL", "DATABASE_URI", "POSTGRES_URI", "PGHOST", "PGDATABASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANGGRAPH_DURABLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


async def said(app: Any, prefix: str = "") -> object:
    """What the agent answers when asked through ``app``."""
    body = {"assistant_id": "agent", "input": {"messages": [{"role": "user", "content": "hi"}]}}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.post(f"{prefix}/runs/wait", json=body, timeout=30)
    return answer.json()["messages"][-1]["content"]


async def test_a_graph_becomes_an_app_with_a_database_of_its_own(clean: Path) -> None:
    server = DurableServer(GRAPH)
    async with server.lifespan():
        assert await said(server.app) == "you said hi"
    assert postmaster(clean / "postgres") is None


async def test_it_can_be_mounted_in_an_app_that_runs_its_lifespan(clean: Path) -> None:
    server = DurableServer(GRAPH)
    api = FastAPI(lifespan=server.lifespan)
    api.mount("/agents", server.app)
    async with api.router.lifespan_context(api):
        assert await said(api, "/agents") == "you said hi"


async def test_it_can_be_started_inside_the_lifespan_of_another_app(clean: Path) -> None:
    server = DurableServer(GRAPH)
    order: list[str] = []

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with server.lifespan():
            order.append("mine")
            yield

    api = FastAPI(lifespan=lifespan)
    api.mount("/agents", server.app)
    async with api.router.lifespan_context(api):
        assert await said(api, "/agents") == "you said hi"
    assert order == ["mine"]


async def test_a_mounted_app_starts_at_its_first_request_when_nobody_started_it(
    clean: Path,
) -> None:
    server = DurableServer(GRAPH)
    api = FastAPI()
    api.mount("/agents", server.app)
    try:
        assert await said(api, "/agents") == "you said hi"
    finally:
        await server.engine.stop()


def test_several_graphs_are_served_by_name(clean: Path) -> None:
    server = DurableServer({"one": GRAPH, "two": GRAPH})
    assert list(server.engine.graph_ids) == ["one", "two"]
    assert list(DurableServer(GRAPH, name="mine").engine.graph_ids) == ["mine"]


def test_what_is_given_in_code_wins_over_settings_and_environment(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://u@env/d")
    url = "postgresql://u@code/d"
    assert DurableServer(GRAPH).settings.database_url == "postgresql://u@env/d"
    assert DurableServer(GRAPH, database_url=url).settings.database_url == url
    settings = Settings(pool_size=3)
    server = DurableServer(GRAPH, settings=settings, recovery="event_log", database_url=url)
    assert server.settings.recovery is RecoveryStrategy.EVENT_LOG
    assert (server.settings.pool_size, server.settings.database_url) == (3, url)


def test_a_graph_that_cannot_recover_as_asked_is_refused_at_once(clean: Path) -> None:
    silent = StateGraph(Silent).add_node("n", lambda state: state).set_entry_point("n").compile()
    with pytest.raises(ProjectError, match="event_log needs a `messages` channel"):
        DurableServer(silent, recovery=RecoveryStrategy.EVENT_LOG)


def test_importing_the_package_loads_nothing_else() -> None:
    code = (
        "import sys, langgraph_durable as d\n"
        "before = set(sys.modules)\n"
        "assert not {m.partition('.')[0] for m in before} & {'langgraph', 'psycopg', 'fastapi'}\n"
        "assert all(getattr(d, name) is not None for name in d.__all__)\n"
        "assert set(d.__all__) <= set(dir(d))"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    import langgraph_durable

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = langgraph_durable.nothing
