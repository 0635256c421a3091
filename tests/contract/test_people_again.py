"""Answers that come again, too late, or elsewhere: what was approved once is done once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contract.people import (
    REACH,
    People,
    approval,
    place,
    question,
    sent,
    text,
    user,
)

AGAIN = ["stateless", "previous response", "conversation"]


@pytest.mark.parametrize("reach", AGAIN)
def test_an_answer_that_comes_again_does_nothing_again(people: People, reach: str) -> None:
    asked = people.ask("payer", "pay")
    answer = approval(question(asked))
    told = people.ask("payer", sent(asked, answer, reach), **REACH[reach](asked))
    paid = people.gates.count("pay")

    again = people.ask("payer", sent(asked, answer, reach), **REACH[reach](asked))

    assert again == told
    assert people.gates.count("pay") == paid
    assert people.runs(place(asked)) == 2


@pytest.mark.parametrize("reach", AGAIN)
def test_an_answer_that_comes_again_as_another_one_is_refused(people: People, reach: str) -> None:
    asked = people.ask("payer", "pay")
    people.ask("payer", [approval(question(asked))])

    other = approval(question(asked), approve=False)
    error = people.refused("payer", sent(asked, other, reach), **REACH[reach](asked))

    assert (error["status"], error["code"]) == (400, "interrupt_already_resolved")
    assert (error["type"], error["param"]) == ("invalid_request_error", "input")


def test_an_old_answer_in_a_history_is_part_of_the_history(people: People) -> None:
    asked = people.ask("payer", "pay")
    told = people.ask("payer", [approval(question(asked))])
    history = [user("pay"), *asked["output"], approval(question(asked)), *told["output"]]
    paid = people.gates.count("pay")

    later = people.ask("payer", [*history, user("thanks")])

    assert text(later) == "Heard thanks."
    assert people.gates.count("pay") == paid


def test_answers_that_come_at_the_same_time_are_one(people: People) -> None:
    asked = people.ask("payer", "pay")
    answer = [approval(question(asked))]
    paid = people.gates.count("pay")
    bodies = [REACH[reach](asked) for reach in ("stateless", "previous response", "conversation")]

    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(lambda body: people.ask("payer", answer, **body), bodies * 2))

    assert len({one["id"] for one in told}) == 1
    assert people.gates.count("pay") == paid + 1


def test_an_answer_given_at_the_other_door_settles_the_question(people: People) -> None:
    asked = people.ask("payer", "pay")
    answered = people.http.post(
        f"/threads/{place(asked)}/runs/wait",
        json={"assistant_id": "payer", "command": {"resume": True}},
    )
    assert answered.status_code == 200
    paid = people.gates.count("pay")

    again = people.ask("payer", [approval(question(asked))])
    error = people.refused("payer", [approval(question(asked), approve=False)])

    assert text(again) == "It is paid (True)."
    assert error["code"] == "interrupt_already_resolved"
    assert people.gates.count("pay") == paid


def test_an_answer_whose_run_failed_may_be_given_anew(people: People) -> None:
    asked = people.ask("payer", "pay")
    answer = [approval(question(asked))]
    with people.broken():
        failed = people.ask("payer", answer)

    told = people.ask("payer", answer)
    again = people.ask("payer", answer)

    assert (failed["status"], failed["error"]["message"]) == ("failed", "the bank is closed")
    assert text(told) == "It is paid (True)."
    assert again["id"] == told["id"] != failed["id"]


def test_another_answer_may_be_given_where_the_first_one_failed(people: People) -> None:
    asked = people.ask("payer", "pay")
    with people.broken():
        people.ask("payer", [approval(question(asked))])

    told = people.ask("payer", [approval(question(asked), approve=False)])

    assert text(told) == "It is not paid."


def test_an_answer_to_a_question_that_was_passed_over_is_refused(people: People) -> None:
    asked = people.ask("payer", "pay")
    people.ask("payer", "never mind", previous_response_id=asked["id"])

    error = people.refused("payer", [approval(question(asked))], conversation=place(asked))

    assert (error["status"], error["code"]) == (400, "nothing_to_answer")


def test_a_response_that_is_not_stored_can_be_answered(people: People) -> None:
    asked = people.ask("payer", "pay", store=False)
    assert people.http.get(f"/responses/{asked['id']}").status_code == 404

    told = people.ask("payer", sent(asked, approval(question(asked)), "stateless"), store=False)
    again = people.ask("payer", sent(asked, approval(question(asked)), "stateless"), store=False)

    assert text(told) == "It is paid (True)."
    assert again["id"] == told["id"]
    assert people.http.get(f"/responses/{told['id']}").status_code == 404


def test_a_deleted_question_can_still_be_answered_but_not_continued(people: People) -> None:
    asked = people.ask("payer", "pay")
    assert people.http.delete(f"/responses/{asked['id']}").json()["deleted"] is True

    error = people.refused("payer", "go on", previous_response_id=asked["id"])
    told = people.ask("payer", [approval(question(asked))])

    assert (error["status"], error["code"]) == (404, "previous_response_not_found")
    assert text(told) == "It is paid (True)."
