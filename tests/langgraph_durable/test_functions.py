"""Functions of LangGraph's functional API, where they differ from other graphs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, TypedDict, cast

import orjson
import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph

from langgraph_durable import DurableEngine, RecoveryStrategy
from langgraph_durable.model import Event
from langgraph_durable.reentry import notice
from langgraph_durable.serde import encode
from langgraph_durable.snapshot import output_values
from tests.conftest import MakeEngine


@task
async def work(text: str) -> str:
    get_stream_writer()({"by": "task"})
    return text.upper()


@entrypoint()
async def function(given: dict[str, Any], *, previous: int | None = None) -> Any:
    get_stream_writer()({"by": "function"})
    count = (previous or 0) + 1
    return entrypoint.final(value=f"{await work(given['text'])} {count}", save=count)


class State(TypedDict, total=False):
    x: int


async def below(state: State) -> State:
    get_stream_writer()({"by": "subgraph"})
    return {"x": 1}


SUBGRAPH: Any = StateGraph(State).add_node("below", below).add_edge(START, "below").compile()
GRAPH: Any = StateGraph(State).add_node("inner", SUBGRAPH).add_edge(START, "inner").compile()


@pytest.mark.parametrize("result", [{"a": 1, "__end__": 2}, "text", [1, 2]])
def test_what_a_function_returned_is_the_output_of_its_stored_state(result: Any) -> None:
    @entrypoint(checkpointer=InMemorySaver())
    def answering(_: str) -> Any:
        return result

    config: Any = {"configurable": {"thread_id": "t"}}
    answering.invoke("go", config)
    assert output_values(answering, answering.get_state(config).values) == result


async def written(engine: DurableEngine, given: Any, **more: Any) -> list[tuple[str, Any]]:
    """Origin and value of what code wrote by itself."""
    run = await engine.submit(given, **more)
    custom = [event async for event in engine.follow(run) if event.mode == "custom"]
    return [(event.namespace.partition(":")[0], orjson.loads(event.data)) for event in custom]


@pytest.mark.parametrize("modes", [["custom"], ["custom", "events"]])
async def test_what_its_tasks_write_is_its_own(make_engine: MakeEngine, modes: list[str]) -> None:
    engine = await make_engine(function)
    found = await written(engine, {"text": "a"}, stream_modes=modes)
    assert found == [("", {"by": "function"}), ("", {"by": "task"})]


async def test_what_a_subgraph_writes_is_not_its_graphs_own(make_engine: MakeEngine) -> None:
    engine = await make_engine(GRAPH)
    assert await written(engine, {"x": 0}) == [("inner", {"by": "subgraph"})]


async def test_it_remembers_what_it_saved_and_answers_what_it_returned(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(function)
    for count in (1, 2):
        run = await engine.submit({"text": "a"}, thread_id="t")
        assert (await engine.wait(run.run_id)).output == f'"A {count}"'


async def test_it_can_start_over_since_it_is_given_the_evidence() -> None:
    engine = DurableEngine(function, recovery=RecoveryStrategy.EVENT_LOG)
    assert engine.settings.recovery is RecoveryStrategy.EVENT_LOG


# -- what its readers are told of a crash ---------------------------------------------------------

CALL = {"name": "add", "args": {}, "id": "c1"}


def event(name: str, data: Any, attempt: int = 1) -> Event:
    return Event(run_id="r", seq=0, attempt=attempt, name=name, data=encode(data))


def calling(name: str, call_id: str) -> Event:
    message = AIMessage("", id=name, tool_calls=[{**CALL, "id": call_id}])
    return event("updates", {"model": message})


def told(past: list[Event], *, rotated: bool = False) -> dict[str, Any]:
    claim = SimpleNamespace(
        checkpoint_thread_id="t", attempt=3, strategy="agent_session", entry=None
    )
    before = SimpleNamespace(
        state=SimpleNamespace(values={}), head=SimpleNamespace(checkpoint_id=None)
    )
    now = "t::attempt-3" if rotated else "t"
    text = notice(
        cast(Any, claim), function, cast(Any, before), past, conversation_id=now, crashed=True
    )
    found: dict[str, Any] = orjson.loads(text)
    return found


def test_calls_that_its_finished_tasks_made_go_on() -> None:
    answered = event("updates", {"tool": ToolMessage("3", tool_call_id="c1")})
    streamed = event("messages", [AIMessage("", id="m9", tool_calls=[{**CALL, "id": "c9"}]), {}])
    found = told([calling("m1", "c1"), answered, calling("m2", "c2"), streamed])
    assert (found["open_tool_call_ids"], found["void_message_ids"]) == (["c2"], ["m9"])


def test_what_stood_before_a_rotation_does_not_go_on() -> None:
    rotation = event("recovered", {"strategy": "event_log", "reason": "crash"}, attempt=2)
    deploy = event("recovered", {"strategy": "event_log", "reason": "deploy"}, attempt=3)
    past = [calling("m1", "c1"), rotation, calling("m2", "c2"), deploy, calling("m3", "c3")]
    assert told(past)["open_tool_call_ids"] == ["c2", "c3"]
    assert told(past, rotated=True)["open_tool_call_ids"] == []
