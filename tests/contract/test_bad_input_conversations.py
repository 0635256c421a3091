"""``/conversations`` and every kind of bad input: one clear ``{"error"}``, and nothing breaks."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.badness import DEEP, NO_BODIES, bodies, check_alive, check_told, examples, texts
from tests.contract.people import People
from tests.contract.test_bad_input_responses import given_input, items
from tests.property.laws import law

CONVERSATIONS = "/conversations"
NOBODY = ["conv_nobody", "nope", "%00", "%FF", "a%20b", "9" * 2000]


@pytest.fixture(scope="module")
def conversation(people: People) -> str:
    return str(people.post(CONVERSATIONS).json()["id"])


def refused(answer: httpx.Response, status: int, **about: Any) -> None:
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"error"}
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    check_told(answer, error["message"])
    assert {key: error[key] for key in about} == about, answer.text


@pytest.mark.parametrize("tail", ["", "/items"])
@pytest.mark.parametrize(
    "content",
    [body for name, body in NO_BODIES.items() if name not in ("empty", "nothing")],
    ids=[name for name in NO_BODIES if name not in ("empty", "nothing")],
)
def test_a_body_that_is_no_json_object_is_refused(
    people: People, conversation: str, tail: str, content: bytes
) -> None:
    path = f"{CONVERSATIONS}/{conversation}{tail}" if tail else CONVERSATIONS
    refused(people.http.post(path, content=content), 400)


def test_a_body_nested_too_deeply_is_refused(people: People) -> None:
    refused(people.http.post(CONVERSATIONS, content=DEEP), 400, code="invalid_request")


USER = {"role": "user", "content": "x"}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        *[({"metadata": wrong}, "metadata") for wrong in (5, "x", [], True)],
        ({"metadata": {"a": 1}}, "metadata.a"),
        ({"metadata": {str(n): "x" for n in range(17)}}, "metadata"),
        *[({"items": wrong}, "items") for wrong in (5, "x", {}, True, [USER] * 21)],
        ({"items": [5]}, "items[0]"),
        ({"items": [{"role": "nobody", "content": "x"}]}, "items[0].role"),
        ({"items": [USER, {"role": "user"}]}, "items[1].content"),
        ({"items": [{"type": "function_call", "name": "f"}]}, "items[0].call_id"),
    ],
)
def test_what_cannot_be_done_is_named(people: People, body: Any, param: str) -> None:
    before = people.threads()
    refused(people.post(CONVERSATIONS, **body), 400, param=param)
    assert people.threads() == before


@pytest.mark.parametrize("body", [{}, {"items": None}, {"items": []}])
def test_items_are_needed_where_items_are_added(
    people: People, conversation: str, body: dict[str, Any]
) -> None:
    answer = people.post(f"{CONVERSATIONS}/{conversation}/items", **body)
    refused(answer, 400, param="items")


def test_metadata_are_needed_where_they_are_changed(people: People, conversation: str) -> None:
    refused(people.post(f"{CONVERSATIONS}/{conversation}"), 400, param="metadata")


@pytest.mark.parametrize("prefix", ["", "/v1"])
@pytest.mark.parametrize("name", NOBODY, ids=lambda name: name[:12])
def test_a_conversation_that_does_not_exist_is_not_found(
    people: People, prefix: str, name: str
) -> None:
    one = f"{prefix}{CONVERSATIONS}/{name}"
    bodies: list[tuple[str, str, Any]] = [
        ("GET", one, None),
        ("POST", one, {"metadata": {}}),
        ("DELETE", one, None),
        ("GET", f"{one}/items", None),
        ("POST", f"{one}/items", {"items": [USER]}),
        ("GET", f"{one}/items/x", None),
        ("DELETE", f"{one}/items/x", None),
    ]
    for method, path, body in bodies:
        answer = people.http.request(method, path, json=body)
        refused(answer, 404, code="conversation_not_found")


@pytest.mark.parametrize("name", ["nope", "%00", "a%20b", "9" * 2000], ids=lambda name: name[:12])
def test_an_item_that_does_not_exist_is_not_found(
    people: People, conversation: str, name: str
) -> None:
    for method in ("GET", "DELETE"):
        answer = people.http.request(method, f"{CONVERSATIONS}/{conversation}/items/{name}")
        refused(answer, 404, code="item_not_found")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", CONVERSATIONS, 405),
        ("DELETE", CONVERSATIONS, 405),
        ("PUT", f"{CONVERSATIONS}/x", 405),
        ("DELETE", f"{CONVERSATIONS}/x/items", 405),
        ("POST", f"{CONVERSATIONS}/x/items/y", 405),
        ("GET", f"{CONVERSATIONS}/x/nope", 404),
        ("POST", "/models", 405),
        ("DELETE", "/models/chat", 405),
    ],
)
def test_what_is_not_there_is_told_in_the_same_shape(
    people: People, method: str, path: str, status: int
) -> None:
    code = "unknown_url" if status == 404 else "method_not_allowed"
    refused(people.http.request(method, path), status, code=code)


# -- at random ------------------------------------------------------------------------------------

PLACES = ["", "/{id}", "/{id}/items"]
known = {
    "metadata": st.dictionaries(texts, texts, max_size=3),
    "items": st.lists(items, max_size=3),
}


def test_no_body_at_random_breaks_a_conversation(people: People, conversation: str) -> None:
    @settings(law, max_examples=examples(400))
    @given(bodies(known), st.sampled_from(PLACES))
    def send(content: bytes, place: str) -> None:
        path = CONVERSATIONS + place.format(id=conversation)
        answer = people.http.post(path, content=content)
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            refused(answer, answer.status_code)

    send()
    listed = people.http.get(f"{CONVERSATIONS}/{conversation}/items", params={"limit": 100})
    assert listed.status_code == 200
    told = people.ask("chat", "still there?", conversation=conversation)
    assert told["status"] == "completed"
    check_alive(people.http)


def test_no_turn_at_random_breaks_a_conversation(people: People, conversation: str) -> None:
    @settings(law, max_examples=examples(100))
    @given(given_input)
    def send(given: Any) -> None:
        answer = people.post(model="payer", input=given, conversation=conversation)
        assert answer.status_code < 500, answer.text

    send()
    check_alive(people.http)


@settings(law, max_examples=examples(100))
@given(
    st.sampled_from(["GET", "POST", "DELETE"]),
    st.sampled_from(["", "/items", "/items/x", "/items?limit=5&after=x"]),
    texts.filter(lambda name: name not in (".", "..", "") and "\n" not in name),
)
def test_no_path_at_random_breaks_anything(
    people: People, method: str, tail: str, name: str
) -> None:
    answer = people.http.request(method, f"{CONVERSATIONS}/{quote(name, safe='')}{tail}")
    refused(answer, answer.status_code)
