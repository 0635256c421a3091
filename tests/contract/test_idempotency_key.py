"""``Idempotency-Key``: a request that comes twice is one response."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contract.people import People, frames, place, text


@pytest.fixture
def key() -> str:
    return uuid.uuid4().hex


def test_the_same_key_and_body_are_the_same_response(people: People, key: str) -> None:
    first = people.ask("chat", "hi", key=key)
    again = people.ask("chat", "hi", key=key)

    assert again == first
    assert people.runs(place(first)) == 1


def test_without_a_key_nothing_changes(people: People) -> None:
    assert people.ask("chat", "hi")["id"] != people.ask("chat", "hi")["id"]


def test_the_order_of_keys_in_the_body_does_not_matter(people: People, key: str) -> None:
    first = people.ask("chat", "hi", key=key, user="u", store=True)
    again = people.ask("chat", "hi", key=key, store=True, user="u")

    assert again["id"] == first["id"]


def test_another_body_under_the_same_key_is_refused(people: People, key: str) -> None:
    people.ask("chat", "hi", key=key)

    answer = people.post(key=key, model="chat", input="ho")

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "idempotency_key_reused"
    assert answer.headers["x-should-retry"] == "false"


def test_requests_at_the_same_time_are_one_response(people: People, key: str) -> None:
    first = people.ask("chat", "zero")
    with ThreadPoolExecutor(6) as pool:
        told = list(
            pool.map(
                lambda _: people.ask("chat", "hi", key=key, previous_response_id=first["id"]),
                range(6),
            )
        )

    assert len({one["id"] for one in told}) == 1
    assert people.runs(place(first)) == 2


def test_requests_that_fork_at_the_same_time_leave_one_copy(people: People, key: str) -> None:
    first = people.ask("chat", "zero")
    people.ask("chat", "one", previous_response_id=first["id"])
    threads = people.threads()

    with ThreadPoolExecutor(6) as pool:
        told = list(
            pool.map(
                lambda _: people.ask("chat", "two", key=key, previous_response_id=first["id"]),
                range(6),
            )
        )

    assert {text(one) for one in told} == {"zero | two"}
    assert len({one["id"] for one in told}) == 1
    assert people.threads() == threads + 1


def streamed(people: People, key: str, body: dict[str, object]) -> bytes:
    headers = {"Idempotency-Key": key}
    answer = people.http.post("/responses", json=body, headers=headers)
    assert answer.status_code == 200
    return answer.content


def test_a_stream_is_told_again_from_its_beginning(people: People, key: str) -> None:
    body = {"model": "chat", "input": "hi", "stream": True}

    first = streamed(people, key, body)

    assert streamed(people, key, body) == first
    assert frames(first)[0]["type"] == "response.created"


def test_a_stream_cut_off_is_told_whole_to_whoever_comes_again(people: People, key: str) -> None:
    people.gates.shut("hear")
    body = {"model": "chat", "input": "wait", "stream": True}
    with people.http.stream(
        "POST", "/responses", json=body, headers={"Idempotency-Key": key}
    ) as cut:
        begun = next(cut.iter_lines())
    people.gates.reached("hear")
    people.gates.open("hear")

    whole = streamed(people, key, body)

    assert begun == "event: response.created"
    told = frames(whole)
    assert [frame["sequence_number"] for frame in told] == list(range(len(told)))
    assert told[-1]["type"] == "response.completed"
    assert people.runs(place(told[0]["response"])) == 1


def test_a_request_that_was_refused_leaves_its_key_free(people: People, key: str) -> None:
    people.refused("chat", "hi", key=key, previous_response_id="resp_x")

    assert people.ask("chat", "hi", key=key)["status"] == "completed"


def test_a_response_deleted_meanwhile_is_not_made_again(people: People, key: str) -> None:
    first = people.ask("chat", "hi", key=key)
    people.http.delete(f"/responses/{first['id']}")

    again = people.ask("chat", "hi", key=key)

    assert again["id"] == first["id"]
    assert people.http.get(f"/responses/{first['id']}").status_code == 404


@pytest.mark.parametrize("bad", ["", "x" * 256, "a\tb"])
def test_a_key_that_could_not_be_kept_is_refused(people: People, bad: str) -> None:
    answer = people.http.post(
        "/responses", json={"model": "chat", "input": "hi"}, headers={"Idempotency-Key": bad}
    )

    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_the_stock_client_passes_the_key_on(people: People, key: str) -> None:
    with people.stock() as client:
        made = [
            client.responses.create(
                model="chat", input="hi", extra_headers={"Idempotency-Key": key}
            ).id
            for _ in range(2)
        ]

    assert made[0] == made[1]
