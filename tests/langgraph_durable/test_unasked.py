"""What LangGraph says of waits is left out of what clients read; nothing else is."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from langgraph_durable.unasked import open_waits, part_without_waits, without_waits
from langgraph_durable.waits import MARK

WAIT = {MARK: "sleep", "seconds": 1.0}
SLEEP, ASK = Interrupt(WAIT, id="s"), Interrupt("ok?", id="q")
TOLD_SLEEP, TOLD_ASK = {"value": WAIT, "id": "s"}, {"value": "ok?", "id": "q"}
CHECKPOINT: dict[str, Any] = {"values": {}, "next": ["a"]}


def result(*interrupts: dict[str, Any]) -> dict[str, Any]:
    return {"id": "t", "name": "n", "error": None, "result": {}, "interrupts": list(interrupts)}


def checkpoint(*interrupts: dict[str, Any]) -> dict[str, Any]:
    tasks = [{"id": "t", "interrupts": list(interrupts)}, {"id": "u", "interrupts": []}]
    return {**CHECKPOINT, "tasks": tasks}


@pytest.mark.parametrize(
    ("mode", "part", "left"),
    [
        ("updates", {"__interrupt__": (SLEEP,)}, None),
        ("updates", {"__interrupt__": (SLEEP, ASK)}, {"__interrupt__": (ASK,)}),
        ("values", {"x": 1, "__interrupt__": (SLEEP,)}, None),
        ("values", {"x": 1, "__interrupt__": (ASK, SLEEP)}, {"x": 1, "__interrupt__": (ASK,)}),
        ("tasks", result(TOLD_SLEEP), None),
        ("tasks", result(TOLD_SLEEP, TOLD_ASK), result(TOLD_ASK)),
        ("checkpoints", checkpoint(TOLD_SLEEP), checkpoint()),
        ("checkpoints", checkpoint(TOLD_SLEEP, TOLD_ASK), checkpoint(TOLD_ASK)),
        ("debug", {"type": "task_result", "payload": result(TOLD_SLEEP)}, None),
        (
            "debug",
            {"step": 1, "type": "checkpoint", "payload": checkpoint(TOLD_SLEEP)},
            {"step": 1, "type": "checkpoint", "payload": checkpoint()},
        ),
    ],
)
def test_a_part_tells_of_questions_only(mode: str, part: Any, left: Any) -> None:
    assert part_without_waits(mode, part) == left


@pytest.mark.parametrize(
    ("mode", "part"),
    [
        ("updates", {"node": {"x": 1}}),
        ("updates", {"node": None, "__metadata__": {"cached": True}}),
        ("updates", {"__interrupt__": (ASK,)}),
        ("updates", {"__interrupt__": ()}),
        ("values", {"x": 1}),
        ("values", [1, 2]),
        ("values", None),
        ("tasks", result()),
        ("tasks", result(TOLD_ASK)),
        ("tasks", {"id": "t", "name": "n", "input": {}, "triggers": []}),
        ("checkpoints", CHECKPOINT),
        ("checkpoints", checkpoint(TOLD_ASK)),
        ("debug", {"type": "task", "payload": {"id": "t"}}),
        ("custom", {"__interrupt__": [SLEEP]}),
        ("messages", ("chunk", {})),
    ],
)
def test_every_other_part_stays_as_it_is(mode: str, part: Any) -> None:
    assert part_without_waits(mode, part) == part


def snapshot(*tasks: PregelTask) -> StateSnapshot:
    asked = tuple(each for task in tasks for each in task.interrupts)
    return StateSnapshot({}, ("n",), {"configurable": {}}, None, None, None, tasks, asked)


def test_a_state_shows_its_questions_at_every_depth() -> None:
    inner = snapshot(PregelTask("i", "inner", ("p",), interrupts=(SLEEP, ASK)))
    outer = snapshot(PregelTask("o", "outer", ("p",), interrupts=(SLEEP, ASK), state=inner))
    shown = without_waits(outer)
    assert shown.interrupts == shown.tasks[0].interrupts == (ASK,)
    nested = shown.tasks[0].state
    assert isinstance(nested, StateSnapshot)
    assert nested.interrupts == nested.tasks[0].interrupts == (ASK,)
    assert open_waits(outer) == ["s"]
    assert open_waits(shown) == []
