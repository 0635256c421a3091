"""The assistants of engines that share a database."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import AssistantNotFound, UnknownGraph
from langgraph_durable.graphs import graph_source
from langgraph_durable.model import RunRequest
from langgraph_durable.project import Project
from langgraph_durable.settings import Settings
from tests.conftest import MakeEngine


class State(TypedDict, total=False):
    x: int


graph = StateGraph(State).add_node("same", lambda state: {}).add_edge(START, "same").compile()


def engine_of(database_url: str, description: str | None = None) -> DurableEngine:
    source = graph_source("agent", graph, description=description)
    return DurableEngine(
        project=Project(graphs={"agent": source}), settings=Settings(database_url=database_url)
    )


async def test_assistants_of_graphs_that_are_served_elsewhere_do_not_exist_here(
    make_engine: MakeEngine,
) -> None:
    here, there = await make_engine({"a": graph, "b": graph}), await make_engine({"a": graph})
    made = (await here.create_assistant("b")).assistant_id
    own = (await here.assistant("b")).assistant_id
    assert [a.graph_id for a in (await there.search_assistants())[0]] == ["a"]
    for name in (made, own):
        with pytest.raises(AssistantNotFound):
            await there.assistant(name)
        with pytest.raises(AssistantNotFound):
            await there.delete_assistant(name)
        with pytest.raises(AssistantNotFound):
            await there.submit(RunRequest(assistant=name, input={}))
    with pytest.raises(UnknownGraph):
        await there.assistant("b")
    assert (await here.assistant(made)).graph_id == "b"


async def test_a_version_whose_graph_is_no_longer_served_cannot_hold_again(
    make_engine: MakeEngine,
) -> None:
    before, now = await make_engine({"a": graph, "b": graph}), await make_engine({"a": graph})
    made = (await before.create_assistant("b")).assistant_id
    await before.update_assistant(made, graph_id="a")
    with pytest.raises(AssistantNotFound, match="Version 1 not found"):
        await now.set_assistant_version(made, 1)
    assert (await now.assistant(made)).version == 2


async def test_engines_that_start_at_once_make_one_assistant_per_graph(
    database_url: str,
) -> None:
    engines = [engine_of(database_url) for _ in range(3)]
    await asyncio.gather(*(engine.start() for engine in engines))
    found: list[Any] = [(await engine.search_assistants())[1] for engine in engines]
    await asyncio.gather(*(engine.stop() for engine in engines))
    assert found == [1, 1, 1]


async def test_a_graphs_own_assistant_follows_the_projects_description(database_url: str) -> None:
    async with engine_of(database_url, "first"):
        pass
    async with engine_of(database_url, "second") as engine:
        described = await engine.assistant("agent")
        assert (described.description, described.version) == ("second", 1)
        await engine.update_assistant("agent", description="mine")
    async with engine_of(database_url, "third") as engine:
        assert (await engine.assistant("agent")).description == "mine"
        assert (await engine.set_assistant_version("agent", 1)).description == "third"


async def test_a_page_behind_the_last_still_tells_how_many_there_are(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(graph)
    assert await engine.search_assistants(offset=5) == ([], 1)
