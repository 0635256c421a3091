"""Answers to a graph's questions, in every shape clients send them."""

from __future__ import annotations

from typing import Any

import pytest

from protocol_adapter.responses.ids import Question, question_name
from protocol_adapter.responses.interrupts import (
    APPROVAL_REQUEST,
    FUNCTION_CALL,
    command,
    kind_for,
    last_answers,
    name_in,
    told,
)
from protocol_adapter.responses.refusal import Refusal

RUN = "0190a0b0-0000-7000-8000-000000000001"
ASKED = "0" * 31 + "1"

PLAIN = {"i1": "pay?"}
ACTIONS = {"i1": {"action_requests": [{"name": "pay", "args": {}}], "review_configs": []}}
TWO_ACTIONS = {"i1": {"action_requests": [{"name": "pay"}, {"name": "tell"}]}}


def approval(approve: bool, *, question: str = "mcpr_i1", **more: Any) -> dict[str, Any]:
    head = {"type": "mcp_approval_response", "approval_request_id": question}
    return {**head, "approve": approve, **more}


def output(value: Any, *, call_id: str = "i1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": value}


@pytest.mark.parametrize(
    ("questions", "item", "expected"),
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
    questions: dict[str, Any], item: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert command([{"type": "message", "role": "user"}, item], questions) == expected


@pytest.mark.parametrize(
    "item", [approval(True, question="mcpr_i9"), output("x", call_id="c1"), {"type": "message"}]
)
def test_an_answer_to_a_question_that_is_not_open_is_none(item: dict[str, Any]) -> None:
    assert command([item], PLAIN) == {}


def test_several_questions_are_answered_at_once_and_the_rest_stays_open() -> None:
    questions = {"i1": 1, "i2": 2, "i3": 3}

    given = command([approval(True), output("no", call_id="i3")], questions)

    assert given == {"resume": {"i1": True, "i3": "no"}}


# -- how questions are told -----------------------------------------------------------------------

MCP = {"type": "mcp", "server_label": "langgraph"}
FUNCTION = {"type": "function", "name": "langgraph_interrupt"}


@pytest.mark.parametrize(
    ("tools", "kind"),
    [
        ([], "default"),
        ([{"type": "mcp", "server_label": "other"}], "default"),
        ([{"type": "function", "name": "other"}, {"type": "web_search"}], "default"),
        ([MCP], APPROVAL_REQUEST),
        ([FUNCTION], FUNCTION_CALL),
        ([{"type": "function", "name": "other"}, FUNCTION], FUNCTION_CALL),
        ([MCP, FUNCTION], APPROVAL_REQUEST),
        ([FUNCTION, MCP], FUNCTION_CALL),
    ],
)
def test_a_client_declares_how_it_takes_questions(tools: list[dict[str, Any]], kind: str) -> None:
    assert kind_for(tools, "default") == kind


def asked(value: Any, kind: str = APPROVAL_REQUEST) -> list[dict[str, Any]]:
    interrupt = {"id": ASKED, "value": value}
    return [{"id": whole.item_id, **whole.body} for whole in told(interrupt, run_id=RUN, kind=kind)]


def name_of(action: int | None = None) -> str:
    return question_name(Question(interrupt_id=ASKED, run_id=RUN, action=action))


def test_a_question_is_one_request_for_approval() -> None:
    [item] = asked({"question": "Pay?"})

    assert item == {
        "id": name_of(),
        "type": "mcp_approval_request",
        "server_label": "langgraph",
        "name": "interrupt",
        "arguments": '{"question":"Pay?"}',
    }


def test_a_question_is_one_call_for_who_wants_calls() -> None:
    [item] = asked({"question": "Pay?"}, FUNCTION_CALL)

    assert item["call_id"] == name_of()
    assert (item["type"], item["name"]) == ("function_call", "langgraph_interrupt")
    assert item["arguments"] == f'{{"interrupt_id":"{ASKED}","value":{{"question":"Pay?"}}}}'


def test_actions_are_one_request_each() -> None:
    items = asked({"action_requests": [{"name": "pay", "args": {"n": 1}}, {"name": "tell"}]})

    assert [(i["id"], i["name"], i["arguments"]) for i in items] == [
        (name_of(0), "pay", '{"n":1}'),
        (name_of(1), "tell", "null"),
    ]


@pytest.mark.parametrize(
    "value",
    [
        *({"action_requests": []}, {"action_requests": "x"}, {"action_requests": [5]}),
        {"action_requests": [{"name": "x"}] * 256},
        *(None, "text", [], 5),
    ],
)
def test_what_lists_no_actions_is_one_question(value: Any) -> None:
    [item] = asked(value)

    assert (item["id"], item["name"]) == (name_of(), "interrupt")


# -- decisions ------------------------------------------------------------------------------------

BOTH = {ASKED: {"action_requests": [{"name": "pay"}, {"name": "tell"}]}}


def decided(*items: dict[str, Any]) -> Any:
    return command(items, BOTH)["resume"][ASKED]["decisions"]


@pytest.mark.parametrize(
    ("given", "decision"),
    [
        ("true", {"type": "approve"}),
        ("false", {"type": "reject"}),
        (True, {"type": "approve"}),
        ('{"type": "edit", "x": 1}', {"type": "edit", "x": 1}),
        ({"type": "respond", "message": "hi"}, {"type": "respond", "message": "hi"}),
    ],
)
def test_an_action_takes_a_decision_in_every_shape(given: Any, decision: Any) -> None:
    second = approval(False, question=name_of(1), reason="late")

    assert decided(output(given, call_id=name_of(0)), second) == [
        decision,
        {"type": "reject", "message": "late"},
    ]


def test_decisions_are_put_in_the_order_of_the_actions() -> None:
    yes, no = approval(True, question=name_of(0)), approval(False, question=name_of(1))

    assert decided(no, yes) == decided(yes, no) == [{"type": "approve"}, {"type": "reject"}]


def test_the_last_of_two_decisions_counts() -> None:
    first, second = approval(True, question=name_of(0)), approval(False, question=name_of(0))

    assert decided(first, second, approval(True, question=name_of(1)))[0] == {"type": "reject"}


@pytest.mark.parametrize("guess", ["yes", "no", "1", "null", "[]", "", None])
def test_a_decision_is_never_guessed(guess: Any) -> None:
    with pytest.raises(Refusal):
        decided(output(guess, call_id=name_of(0)), approval(True, question=name_of(1)))


def test_a_missing_decision_is_told() -> None:
    with pytest.raises(Refusal) as refused:
        decided(approval(True, question=name_of(1)))

    assert refused.value.code == "incomplete_answer"


@pytest.mark.parametrize("action", [2, 254])
def test_an_action_that_was_not_asked_about_is_no_answer(action: int) -> None:
    assert command([approval(True, question=name_of(action))], BOTH) == {}
    assert command([approval(True, question=name_of(0))], {ASKED: "pay?"}) == {}


# -- where answers stand --------------------------------------------------------------------------


def test_the_last_answers_are_those_behind_which_nobody_speaks() -> None:
    said, yes, no = {"type": "message"}, approval(True), output("no")

    assert last_answers([yes, said, no, yes]) == [no, yes]
    assert last_answers([yes, said]) == last_answers([]) == []
    assert last_answers([yes]) == [yes]


def test_an_answer_names_its_question() -> None:
    assert name_in(approval(True, question="mcpr_x")) == "mcpr_x"
    assert name_in(output("x", call_id="c1~2")) == "c1"
    assert name_in({"type": "message"}) == ""
