"""The engine as a library."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph

from langgraph_durable import DurableEngine, InvalidRequest, Settings
from langgraph_durable.model import Cursor, RunRequest, RunStatus
from tests.conftest import MakeEngine


class State(TypedDict, total=False):
    items: Annotated[list[str], operator.add]


def add(state: State) -> State:
    return {"items": ["added"]}


GRAPH: Any = StateGraph(State).add_node("add", add).add_edge(START, "add").compile()


async def test_an_input_is_all_it_takes(make_engine: MakeEngine) -> None:
    engine = await make_engine(GRAPH)
    run = await engine.submit({"items": ["in"]})
    names = [event.name async for event in engine.follow(run)]
    assert names == ["created", "started", "values", "updates", "values", "end"]
    ended = await engine.wait(run.run_id)
    assert (ended.status, ended.output) == (RunStatus.SUCCESS, '{"items":["in","added"]}')


async def test_a_thread_is_made_when_it_is_first_named(make_engine: MakeEngine) -> None:
    engine = await make_engine(GRAPH)
    for _ in range(2):
        run = await engine.submit({"items": ["in"]}, thread_id="order-7", stream_modes=["updates"])
        await engine.wait(run.run_id)
    assert (await engine.thread("order-7")).values == '{"items":["in","added","in","added"]}'


async def test_following_begins_behind_a_cursor_and_takes_an_id(make_engine: MakeEngine) -> None:
    engine = await make_engine(GRAPH)
    run = await engine.submit(input={"items": []})
    whole = [event async for event in engine.follow(run.run_id)]
    assert [event async for event in engine.follow(run, Cursor(2))] == whole[3:]
    batches = [event async for batch in engine.batches(run.run_id) for event in batch]
    assert batches == whole


async def test_a_whole_request_goes_through_as_it_is(make_engine: MakeEngine) -> None:
    engine = await make_engine({"one": GRAPH, "two": GRAPH})
    run = await engine.submit(RunRequest(assistant="two", input={"items": []}))
    assert run.graph_id == "two"
    assert (await engine.submit({"items": []}, assistant="one")).graph_id == "one"


async def test_of_several_graphs_one_must_be_named(make_engine: MakeEngine) -> None:
    engine = await make_engine({"one": GRAPH, "two": GRAPH})
    with pytest.raises(InvalidRequest, match="one, two"):
        await engine.submit({"items": []})


def test_a_database_is_named_in_code_or_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = "postgresql://u@code/d"
    monkeypatch.setenv("DATABASE_URL", "postgresql://u@env/d")
    assert DurableEngine(GRAPH).settings.database_url == "postgresql://u@env/d"
    assert DurableEngine(GRAPH, database_url=url).settings.database_url == url
    engine = DurableEngine(GRAPH, settings=Settings(database_url=url), recovery="agent_session")
    assert engine.settings.database_url == url
