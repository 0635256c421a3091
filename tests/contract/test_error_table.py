"""Every error of the Responses door: status, type, code and param, and may a client try again."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from tests.contract.people import People, approval, output, place, question, questions

NOBODY = "resp_" + "0" * 32

Error = tuple[int, str | None, str | None]
"""Status, code, param."""

BODIES: dict[str, tuple[Any, Error]] = {
    "no input": ({}, (400, "missing_required_parameter", "input")),
    "a wrong type": ({"input": "x", "stream": "yes"}, (400, "invalid_type", "stream")),
    "an unknown model": ({"input": "x", "model": "gpt"}, (400, "model_not_found", "model")),
    "an unknown previous response": (
        {"input": "x", "previous_response_id": NOBODY},
        (404, "previous_response_not_found", "previous_response_id"),
    ),
    "two conversations": (
        {"input": "x", "previous_response_id": NOBODY, "conversation": "c"},
        (400, "mutually_exclusive_parameters", "previous_response_id"),
    ),
    "a background response that is not stored": (
        {"input": "x", "background": True, "store": False},
        (400, None, "store"),
    ),
    "too much metadata": (
        {"input": "x", "metadata": {str(n): "" for n in range(17)}},
        (400, None, "metadata"),
    ),
    "an answer to nothing": (
        {"input": [approval("mcpr_nobody")]},
        (400, "nothing_to_answer", "input"),
    ),
    "an output of no call": (
        {"input": [output("call_nobody", "x")]},
        (400, "nothing_to_answer", "input"),
    ),
    "an approval that is neither yes nor no": (
        {"input": [approval("mcpr_x") | {"approve": "no"}]},
        (400, None, "input[0].approve"),
    ),
    "a reason that is no text": (
        {"input": [approval("mcpr_x", reason=5)]},
        (400, None, "input[0].reason"),
    ),
    "an unknown granularity": (
        {"input": "x", "stream_granularity": "word"},
        (400, None, "stream_granularity"),
    ),
}


def told(answer: Any) -> Error:
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert answer.headers["x-request-id"]
    return answer.status_code, error["code"], error["param"]


@pytest.mark.parametrize("name", BODIES)
def test_a_request_that_cannot_be_is_told_why(people: People, name: str) -> None:
    body, error = BODIES[name]

    assert told(people.post(**{"model": "chat", **body})) == error


def test_a_response_that_does_not_exist_is_told_everywhere(people: People) -> None:
    one = f"/responses/{NOBODY}"
    for method, path in (
        ("GET", one),
        ("GET", f"{one}?stream=true"),
        ("DELETE", one),
        ("POST", f"{one}/cancel"),
        ("GET", f"{one}/input_items"),
    ):
        assert told(people.http.request(method, path)) == (404, "response_not_found", None)


def test_what_a_foreground_response_cannot_do(people: People) -> None:
    one = f"/responses/{people.ask('chat', 'hi')['id']}"

    stream, cancel = people.http.get(f"{one}?stream=true"), people.http.post(f"{one}/cancel")

    assert (told(stream), told(cancel)) == ((400, None, "stream"), (400, None, None))
    assert "background=true" in stream.json()["error"]["message"]
    assert cancel.json()["error"]["message"] == "Cannot cancel a synchronous response."


@pytest.mark.parametrize(("asked", "word"), [("hi", "completed"), ("fail", "failed")])
def test_what_has_ended_is_not_cancelled(people: People, asked: str, word: str) -> None:
    made = people.ask("chat", asked, background=True)
    people.http.get(f"/responses/{made['id']}?stream=true")

    cancel = people.http.post(f"/responses/{made['id']}/cancel")

    assert told(cancel) == (400, None, None)
    assert cancel.json()["error"]["message"] == f"Cannot cancel a {word} response."


def test_a_response_that_has_not_ended_is_not_deleted(people: People) -> None:
    people.gates.shut("hear")
    made = people.ask("chat", "wait", background=True)
    people.gates.reached("hear")

    deleted = people.http.delete(f"/responses/{made['id']}")
    people.gates.open("hear")

    assert told(deleted) == (400, None, None)


def test_answers_that_do_not_fit_are_told(people: People) -> None:
    asked = people.ask("actions", "go")
    send, wipe = questions(asked)
    paid = people.ask("payer", "pay")
    people.ask("payer", [approval(question(paid))])

    half = people.post(model="actions", input=[approval(send)])
    other = people.post(model="payer", input=[approval(question(paid), approve=False)])

    assert told(half) == (400, "incomplete_answer", "input")
    assert told(other) == (400, "interrupt_already_resolved", "input")
    assert people.ask("actions", [approval(send), approval(wipe)])["status"] == "completed"


def test_an_answer_nested_too_deeply_is_told(people: People) -> None:
    asked = people.ask("payer", "pay")
    deep = "[" * 300 + "]" * 300
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": deep}

    answer = people.post(model="payer", input=[output(question(asked), deep)])
    history = people.post(model="chat", input=[call, output("c", "x")])

    assert told(answer) == told(history) == (400, "invalid_request", None)


def test_a_key_used_for_something_else_is_told_once_and_for_all(people: People) -> None:
    people.ask("chat", "hi", key="table")

    answer = people.post(key="table", model="chat", input="ho")

    assert told(answer) == (409, "idempotency_key_reused", None)
    assert answer.headers["x-should-retry"] == "false"


def test_the_stock_client_reads_every_part_of_an_error(people: People) -> None:
    with people.stock() as client, pytest.raises(openai.NotFoundError) as wrong:
        client.responses.create(model="chat", input="x", previous_response_id=NOBODY)

    assert wrong.value.code == "previous_response_not_found"
    assert wrong.value.param == "previous_response_id"
    assert wrong.value.type == "invalid_request_error"
    assert wrong.value.request_id


def test_no_error_behind_the_commit_makes_a_client_come_again(people: People) -> None:
    with openai.OpenAI(base_url=f"{people.server.url}/v1", api_key="-", max_retries=2) as client:
        told = client.responses.create(model="chat", input="fail")

    assert told.status == "failed"
    assert people.runs(place(told.to_dict())) == 1
