"""Answers to a graph's questions, in every shape clients send them."""

from __future__ import annotations

from typing import Any

import pytest

from protocol_adapter.responses.interrupts import command

PLAIN = {"i1": "pay?"}
ACTIONS = {"i1": {"action_requests": [{"name": "pay", "args": {}}], "review_configs": []}}
TWO_ACTIONS = {"i1": {"action_requests": [{"name": "pay"}, {"name": "tell"}]}}


def approval(approve: bool, *, question: str = "mcpr_i1", **more: Any) -> dict[str, Any]:
    head = {"type": "mcp_approval_response", "approval_request_id": question}
    return {**head, "approve": approve, **more}


def output(value: Any, *, call_id: str = "i1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": value}


@pytest.mark.parametrize(
    ("questions", "item", "told"),
    [
        (PLAIN, approval(True), {"resume": {"i1": True}}),
        (PLAIN, approval(False, reason="no money"), {"resume": {"i1": False}}),
        (ACTIONS, approval(True), {"resume": {"i1": {"decisions": [{"type": "approve"}]}}}),
        (
            ACTIONS,
            approval(False, reason="no money"),
            {"resume": {"i1": {"decisions": [{"type": "reject", "message": "no money"}]}}},
        ),
        (ACTIONS, approval(False), {"resume": {"i1": {"decisions": [{"type": "reject"}]}}}),
        (
            TWO_ACTIONS,
            approval(True),
            {"resume": {"i1": {"decisions": [{"type": "approve"}, {"type": "approve"}]}}},
        ),
        (PLAIN, output("yes"), {"resume": {"i1": "yes"}}),
        (PLAIN, output('{"amount": 3}'), {"resume": {"i1": {"amount": 3}}}),
        (PLAIN, output("7", call_id="mcpr_i1"), {"resume": {"i1": 7}}),
        (PLAIN, output("{}"), {"resume": {"i1": {}}}),
        (PLAIN, output('{"resume": "yes"}'), {"resume": {"i1": "yes"}}),
        (PLAIN, output({"resume": None}), {"resume": {"i1": None}}),
        (
            PLAIN,
            output('{"resume": 1, "update": {"x": 2}, "goto": "n"}'),
            {"resume": {"i1": 1}, "update": {"x": 2}, "goto": "n"},
        ),
        (PLAIN, output('{"goto": "n"}'), {"goto": "n"}),
        (PLAIN, output('{"resume": 1, "other": 2}'), {"resume": {"i1": {"resume": 1, "other": 2}}}),
    ],
)
def test_an_answer_becomes_a_command(
    questions: dict[str, Any], item: dict[str, Any], told: dict[str, Any]
) -> None:
    assert command([{"type": "message", "role": "user"}, item], questions) == told


@pytest.mark.parametrize(
    "item", [approval(True, question="mcpr_i9"), output("x", call_id="c1"), {"type": "message"}]
)
def test_an_answer_to_a_question_that_is_not_open_is_none(item: dict[str, Any]) -> None:
    assert command([item], PLAIN) == {}


def test_several_questions_are_answered_at_once_and_the_rest_stays_open() -> None:
    questions = {"i1": 1, "i2": 2, "i3": 3}

    told = command([approval(True), output("no", call_id="i3")], questions)

    assert told == {"resume": {"i1": True, "i3": "no"}}
