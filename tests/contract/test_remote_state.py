"""States, edits and drawings through RemoteGraph are those of the graph in this process."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Command

from tests.contract.conftest import RemoteOf
from tests.contract.remote import Half, names_of, on_a_thread, remembering


async def test_a_thread_without_a_state_has_an_empty_one(
    call: Half, remote: RemoteOf, thread_id: str
) -> None:
    graph, config = remote("echo"), on_a_thread(thread_id)
    state = await call(graph, "get_state", config)
    assert (state.values, state.next, state.tasks, state.interrupts) == ({}, (), (), ())
    assert (state.created_at, state.parent_config) == (None, None)
    assert state.config["configurable"]["checkpoint_id"] is None
    assert await call(graph, "get_state_history", config) == []


async def test_states_and_history_are_those_of_this_process(
    call: Half, remote: RemoteOf, served: Any
) -> None:
    told: list[Any] = []
    for graph in (remote("approval"), remembering(served.approval)):
        config = on_a_thread()
        await call(graph, "invoke", {"request": "pay"}, config)
        history = await call(graph, "get_state_history", config)
        first = await call(graph, "get_state_history", config, filter={"source": "input"})
        older = await call(graph, "get_state_history", config, before=history[0].config, limit=1)
        [task] = (await call(graph, "get_state", config)).tasks
        assert (await call(graph, "get_state", history[-1].config)).values == history[-1].values
        assert history[0].parent_config is not None
        assert (
            older[0].config["configurable"]["checkpoint_id"]
            == (history[0].parent_config["configurable"]["checkpoint_id"])
        )
        told.append(
            (
                [(s.values, s.next, s.metadata["step"]) for s in (*history, *first, *older)],
                (task.name, task.error, [question.value for question in task.interrupts]),
            )
        )
    assert told[0] == told[1]
    assert len(told[0][0]) == 5


async def test_an_edit_goes_on_from_where_it_was_made(call: Half, remote: RemoteOf) -> None:
    graph, config = remote("approval"), on_a_thread()
    await call(graph, "invoke", {"request": "pay"}, config)
    *_, oldest = await call(graph, "get_state_history", config)
    made = await call(graph, "update_state", config, {"decision": "mine"}, as_node="ask")
    assert (await call(graph, "get_state", config)).next == ("finish",)
    assert (await call(graph, "get_state", made)).values["decision"] == "mine"
    done = await call(graph, "invoke", None, config)
    assert done == {"request": "pay", "decision": "mine", "log": ["prepared", "finished"]}

    fork = await call(graph, "update_state", oldest.config, {"request": "x"}, "__start__")
    again = await call(graph, "invoke", None, fork)
    assert again["request"] == "x"
    assert again["__interrupt__"][0]["value"]["request"] == "x"


async def test_a_subgraph_that_waits_is_seen_and_edited_from_outside(
    call: Half, remote: RemoteOf
) -> None:
    graph, config = remote("inside"), on_a_thread()
    await call(graph, "invoke", {"q": "first"}, config)
    flat = await call(graph, "get_state", config)
    assert names_of((flat.tasks[0].state["configurable"]["checkpoint_ns"],)) == ("person",)
    deep = await call(graph, "get_state", config, subgraphs=True)
    inner = deep.tasks[0].state
    assert (inner.values, inner.next) == ({"q": "first"}, ("ask",))
    assert [question.value for question in inner.interrupts] == [{"question": "first"}]
    assert inner.interrupts == deep.interrupts == flat.interrupts

    await call(graph, "update_state", inner.config, {"q": "second"})
    asked = await call(graph, "invoke", None, config)
    assert asked["__interrupt__"][0]["value"] == {"question": "second"}
    done = await call(graph, "invoke", Command(resume="yes"), config)
    assert done == {"q": "second", "a": "yes!"}


@pytest.mark.parametrize("xray", [False, True, 1])
async def test_the_drawing_is_the_graphs_own(
    call: Half, remote: RemoteOf, served: Any, xray: Any
) -> None:
    drawn = await call(remote("subgraph"), "get_graph", xray=xray)
    own = served.subgraph.get_graph(xray=xray)
    assert list(drawn.nodes) == list(own.nodes)
    assert [(e.source, e.target) for e in drawn.edges] == [(e.source, e.target) for e in own.edges]
    assert drawn.draw_mermaid().count("-->") == len(own.edges)
