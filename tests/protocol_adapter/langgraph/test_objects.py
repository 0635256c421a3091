"""The engine's values in the clients' shapes."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from langgraph_durable.model import RunStatus, Thread, ThreadStatus
from protocol_adapter.langgraph.objects import (
    empty_state,
    result_text,
    run_object,
    state_object,
    thread_object,
    updated_state,
)
from tests.protocol_adapter.langgraph.samples import NOON, run


def snapshot(**changed: Any) -> StateSnapshot:
    usual: dict[str, Any] = {
        "values": {"x": 1},
        "next": ("ask",),
        "config": place("c2"),
        "metadata": {"source": "loop", "step": 1, "parents": {}},
        "created_at": "2030-01-01T12:00:00+00:00",
        "parent_config": place("c1"),
        "tasks": (),
        "interrupts": (),
    }
    return StateSnapshot(**{**usual, **changed})


def place(checkpoint_id: str | None, **more: Any) -> dict[str, Any]:
    rotated = {"thread_id": "t1::attempt-2", "checkpoint_ns": "", "checkpoint_id": checkpoint_id}
    return {"configurable": rotated | more}


def task(**changed: Any) -> PregelTask:
    return PregelTask(**{"id": "k1", "name": "ask", "path": ("__pregel_pull", "ask"), **changed})


def test_a_state_names_the_public_thread_only() -> None:
    state = state_object(snapshot(), "t1")
    assert state["checkpoint"] == {
        "checkpoint_id": "c2",
        "thread_id": "t1",
        "checkpoint_ns": "",
    }
    assert state["parent_checkpoint"]["checkpoint_id"] == "c1"
    assert (state["checkpoint_id"], state["parent_checkpoint_id"]) == ("c2", "c1")
    assert state["next"] == ["ask"]


def test_a_task_has_every_key_and_its_error_as_text() -> None:
    failed = task(error=ValueError("boom"))
    [listed] = state_object(snapshot(tasks=(failed,)), "t1")["tasks"]
    assert listed == {
        "id": "k1",
        "name": "ask",
        "path": ["__pregel_pull", "ask"],
        "error": "ValueError('boom')",
        "interrupts": [],
        "checkpoint": None,
        "state": None,
        "result": None,
    }


def test_a_question_without_a_schema_does_not_mention_one() -> None:
    asking = Interrupt(value="sure?", id="i1")
    state = state_object(snapshot(tasks=(task(interrupts=(asking,)),), interrupts=(asking,)), "t1")
    assert state["interrupts"] == [{"id": "i1", "value": "sure?"}]
    assert state["tasks"][0]["interrupts"] == [{"id": "i1", "value": "sure?"}]


def test_a_subgraph_is_a_checkpoint_to_ask_for_or_a_state_when_asked_for() -> None:
    pointer = place(None, checkpoint_ns="child:1")
    [closed] = state_object(snapshot(tasks=(task(state=pointer),)), "t1")["tasks"]
    assert closed["checkpoint"] == {
        "checkpoint_id": None,
        "thread_id": "t1",
        "checkpoint_ns": "child:1",
    }
    assert closed["state"] is None
    [opened] = state_object(snapshot(tasks=(task(state=snapshot()),)), "t1")["tasks"]
    assert opened["state"]["values"] == {"x": 1}
    assert opened["checkpoint"] is None


def test_a_thread_without_a_state_has_an_empty_one_with_every_key() -> None:
    empty = empty_state("t1", None)
    assert empty["values"] == {}
    assert empty["checkpoint"] is None
    assert empty.keys() == state_object(snapshot(), "t1").keys()


def test_an_unknown_checkpoint_is_echoed() -> None:
    empty = empty_state("t1", {"checkpoint_id": "c9"})
    assert empty["checkpoint"] == {
        "checkpoint_id": "c9",
        "thread_id": "t1",
        "checkpoint_ns": "",
    }
    assert empty["checkpoint_id"] == "c9"


def test_remote_graph_reads_the_state_of_a_thread_without_one() -> None:
    empty = empty_state("t1", {})
    assert empty["checkpoint"]["checkpoint_id"] is None
    assert empty["metadata"] == {}


def test_a_state_update_answers_with_the_three_keys_that_remote_graph_reads() -> None:
    answer = updated_state({"checkpoint_id": "c1"}, "t1")
    assert answer["checkpoint"] == {
        "thread_id": "t1",
        "checkpoint_ns": "",
        "checkpoint_id": "c1",
    }
    assert answer["configurable"] == answer["checkpoint"]


def test_a_thread_shows_its_values_as_json_values() -> None:
    thread = Thread(
        thread_id="t1",
        checkpoint_thread_id="t1::attempt-2",
        status=ThreadStatus.IDLE,
        metadata={},
        config={},
        values='{"x":1}',
        interrupts={},
        error=None,
        temporary=False,
        created_at=NOON,
        updated_at=NOON,
        state_updated_at=NOON,
    )
    shown = thread_object(thread)
    assert shown["values"] == {"x": 1}
    assert "checkpoint_thread_id" not in shown


def test_a_run_shows_what_it_was_asked_for() -> None:
    asked = {"stream_modes": ["updates"], "stream_subgraphs": True, "durability": "exit"}
    kwargs = run_object(run(request={**asked, "input": {"x": 1}}))["kwargs"]
    assert kwargs["stream_mode"] == ["updates"]
    assert kwargs["input"] == {"x": 1}
    assert kwargs["subgraphs"] is True
    assert (kwargs["durability"], kwargs["checkpoint_during"]) == ("exit", False)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({}, '{"x":1}'),
        ({"output": None}, "{}"),
        ({"output": "null"}, "{}"),
        ({"status": RunStatus.INTERRUPTED}, '{"x":1}'),
        (
            {"status": RunStatus.ERROR, "error": {"error": "E", "message": "m"}},
            '{"__error__":{"error":"E","message":"m"}}',
        ),
        (
            {"status": RunStatus.TIMEOUT, "error": {"error": "E", "message": "m"}},
            '{"__error__":{"error":"E","message":"m"}}',
        ),
    ],
)
def test_a_result_is_never_null_and_tells_a_failure(changed: dict[str, Any], text: str) -> None:
    assert result_text(run(**changed)) == text
