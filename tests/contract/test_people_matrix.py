"""People in the loop: how a client is asked, how it answers, and how its answer finds the graph.

``declared`` is what a client says it can take, ``reach`` how it names the conversation: clients
that keep nothing send their history with the answer behind it.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.people import (
    MCP,
    REACH,
    STOCK,
    TOOL,
    Body,
    People,
    approval,
    output,
    place,
    question,
    questions,
    sent,
    text,
    user,
)

DECLARED: dict[str, dict[str, Any]] = {
    "nothing": {},
    "an mcp server": {"tools": [MCP]},
    "a function": {"tools": [TOOL]},
}
ANSWERS = {
    "yes": lambda q: approval(q),
    "no": lambda q: approval(q, approve=False),
    "no, with a reason": lambda q: approval(q, approve=False, reason="too much"),
    "JSON": lambda q: output(q, {"by": "card"}),
    "JSON false": lambda q: output(q, False),
    "plain text": lambda q: output(q, "by card"),
    "resume": lambda q: output(q, {"resume": "by card"}),
    "update": lambda q: output(q, {"resume": True, "update": {"messages": []}}),
}
GIVEN = {
    "yes": "It is paid (True).",
    "no": "It is not paid.",
    "no, with a reason": "It is not paid.",
    "JSON": "It is paid ({'by': 'card'}).",
    "JSON false": "It is not paid.",
    "plain text": "It is paid (by card).",
    "resume": "It is paid (by card).",
    "update": "It is paid (True).",
}


@pytest.mark.parametrize("reach", REACH)
@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("declared", DECLARED)
def test_a_question_is_asked_as_declared_and_every_answer_arrives(
    people: People, declared: str, kind: str, reach: str
) -> None:
    asked = people.ask("payer", "pay", **DECLARED[declared])
    emitted = {item["type"] for item in asked["output"]} - {"mcp_call"}
    assert emitted == {"function_call" if declared == "a function" else "mcp_approval_request"}

    answer = ANSWERS[kind](question(asked))
    told = people.ask(
        "payer", sent(asked, answer, reach), **DECLARED[declared], **REACH[reach](asked)
    )

    assert (told["status"], text(told)) == ("completed", GIVEN[kind])
    assert place(told) == place(asked)


@pytest.mark.parametrize("reach", ["stateless", "previous response", "conversation"])
def test_an_answer_may_go_elsewhere(people: People, reach: str) -> None:
    asked = people.ask("payer", "pay")
    answer = output(question(asked), {"goto": "model", "update": {"messages": [user("pay later")]}})

    told = people.ask("payer", sent(asked, answer, reach), **REACH[reach](asked))

    assert text(told) == "Heard pay later."


@pytest.mark.parametrize("stream", [False, True])
def test_the_stock_client_sees_the_same_question_in_all_modes(people: People, stream: bool) -> None:
    with people.stock() as client:
        if stream:
            events = list(client.responses.create(model="payer", input="pay", stream=True))
            asked = events[-1].to_dict()["response"]
            done = [e.to_dict() for e in events if e.type == "response.output_item.done"]
            assert done[-1]["item"] == asked["output"][-1]
        else:
            asked = client.responses.create(model="payer", input="pay").to_dict()
        kept = client.responses.retrieve(asked["id"]).to_dict()
        answer: Any = [approval(question(asked))]
        told = client.responses.create(
            model="payer", input=answer, previous_response_id=asked["id"]
        )
    assert kept["output"] == asked["output"]
    assert told.output_text == "It is paid (True)."
    assert told.previous_response_id == asked["id"]


# -- something else beside the answer -------------------------------------------------------------


@pytest.mark.parametrize("reach", ["stateless", "previous response", "conversation"])
def test_a_message_behind_an_answer_is_refused_and_both_may_come_one_by_one(
    people: People, reach: str
) -> None:
    asked = people.ask("payer", "pay")
    answer, place_of = approval(question(asked)), REACH[reach]
    paid = people.gates.count("pay")

    given = [*sent(asked, answer, reach), user("and thanks")]
    error = people.refused("payer", given, **place_of(asked))
    assert people.gates.count("pay") == paid
    told = people.ask("payer", sent(asked, answer, reach), **place_of(asked))
    later = people.ask("payer", "and thanks", previous_response_id=told["id"])

    assert (error["status"], error["param"]) == (400, "input")
    assert (error["type"], error["code"]) == ("invalid_request_error", "message_beside_answer")
    assert text(told) == "It is paid (True)."
    assert text(later) == "Heard and thanks."
    assert people.runs(place(asked)) == 3


@pytest.mark.parametrize("reach", ["stateless", "previous response", "conversation"])
def test_the_result_of_a_clients_tool_may_come_along_with_an_answer(
    people: People, reach: str
) -> None:
    asked = people.ask("buyer", "tea", tools=[STOCK])
    assert [i["name"] for i in asked["output"] if i["type"] == "function_call"] == ["stock"]

    given = [*sent(asked, output("call_stock", "3 left"), reach), approval(question(asked))]
    told = people.ask("buyer", given, tools=[STOCK], **REACH[reach](asked))

    assert text(told) == "3 left; paid (True)"


# -- several questions ----------------------------------------------------------------------------


def test_questions_asked_at_once_are_answered_at_once(people: People) -> None:
    asked = people.ask("both", "go")
    left, right = questions(asked)

    told = people.ask("both", [approval(right, approve=False), approval(left)])

    assert text(told) == '{"answers":["left:True","right:False"]}'


def test_questions_left_open_are_asked_again(people: People) -> None:
    asked = people.ask("both", "go")
    left, right = questions(asked)

    half = people.ask("both", [output(right, "later")])
    again = question(half)
    told = people.ask("both", [output(again, "now")])

    assert again not in (left, right)
    assert text(told) == '{"answers":["left:now","right:later"]}'


def test_a_question_left_open_may_be_answered_by_its_first_name(people: People) -> None:
    asked = people.ask("both", "go")
    left, right = questions(asked)
    people.ask("both", [output(left, 1)])

    told = people.ask("both", [*asked["output"], output(left, 1), output(right, 2)])

    assert text(told) == '{"answers":["left:1","right:2"]}'


def test_questions_of_one_node_are_told_apart_although_langgraph_calls_them_the_same(
    people: People,
) -> None:
    first = people.ask("twice", "go")
    second = people.ask("twice", [approval(question(first))])
    history = [user("go"), *first["output"], approval(question(first)), *second["output"]]

    told = people.ask("twice", [*history, approval(question(second), approve=False)])

    assert question(first) != question(second)
    assert text(told) == '{"answers":["q1:True","q2:False"]}'


def test_an_old_answer_never_answers_the_next_question_of_the_same_node(people: People) -> None:
    first = people.ask("twice", "go")
    second = people.ask("twice", [approval(question(first))])

    again = people.ask("twice", [approval(question(first))], conversation=place(first))

    assert again["id"] == second["id"]
    assert people.runs(place(first)) == 2


# -- LangChain's middleware -----------------------------------------------------------------------


def edit(name: str, **args: Any) -> Body:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


def test_actions_are_asked_one_by_one_under_their_own_names(people: People) -> None:
    asked = people.ask("actions", "go")

    told = [item for item in asked["output"] if item["type"] == "mcp_approval_request"]

    assert [(item["name"], item["arguments"]) for item in told] == [
        ("send", '{"to":"ann"}'),
        ("wipe", '{"path":"/tmp"}'),
    ]
    assert {item["server_label"] for item in told} == {"langgraph"}


def test_every_action_gets_its_own_decision(people: People) -> None:
    asked = people.ask("actions", "go")
    send, wipe = questions(asked)

    told = people.ask("actions", [approval(wipe, approve=False, reason="never"), approval(send)])

    assert {"never", "sent to ann"} <= {part.rpartition(": ")[2] for part in text(told).split("; ")}
    assert "wiped" not in text(told)


def test_an_action_may_be_edited(people: People) -> None:
    asked = people.ask("actions", "go")
    send, wipe = questions(asked)

    told = people.ask("actions", [approval(send), output(wipe, edit("wipe", path="/var"))])

    assert "wiped /var" in text(told)
    assert "wiped /tmp" not in text(told)


def test_all_decisions_may_come_as_one(people: People) -> None:
    asked = people.ask("actions", "go", tools=[TOOL])

    decisions = [{"type": "reject", "message": "no"}, {"type": "approve"}]
    told = people.ask("actions", [output(question(asked), {"decisions": decisions})])

    assert "wiped /tmp" in text(told)
    assert "sent" not in text(told)


@pytest.mark.parametrize("given", [[0], [1]])
def test_an_action_without_a_decision_keeps_them_all_waiting(
    people: People, given: list[int]
) -> None:
    asked = people.ask("actions", "go")
    names = questions(asked)

    error = people.refused("actions", [approval(names[n]) for n in given])
    told = people.ask("actions", [approval(name) for name in names])

    assert (error["status"], error["code"]) == (400, "incomplete_answer")
    assert error["param"] == "input"
    assert "wiped /tmp" in text(told)


@pytest.mark.parametrize("guess", ["no", "yes", "1", "[]", "null", ""])
def test_a_decision_that_would_have_to_be_guessed_is_refused(people: People, guess: str) -> None:
    asked = people.ask("actions", "go")
    send, wipe = questions(asked)

    error = people.refused("actions", [approval(send), output(wipe, guess)])

    assert (error["status"], error["param"]) == (400, "input")


def test_a_decision_that_is_not_allowed_fails_and_may_be_given_again(people: People) -> None:
    asked = people.ask("actions", "go")
    send, wipe = questions(asked)

    failed = people.ask("actions", [approval(send), output(wipe, {"type": "postpone"})])
    told = people.ask("actions", [approval(send), approval(wipe)])

    assert failed["status"] == "failed"
    assert "wiped /tmp" in text(told)
