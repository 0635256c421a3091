"""The generic protocol and every kind of bad input: one clear ``{"error"}``, and nothing breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.badness import (
    DEEP,
    NO_BODIES,
    bodies,
    check_alive,
    check_told,
    fuzz,
    texts,
    values,
)
from tests.servers import Server

CREATE = "/invocations"


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=30) as client:
        yield client


def refused(answer: httpx.Response, status: int, **about: Any) -> None:
    """``about`` are fields of the error: ``param``, ``code``."""
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"error"}
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    check_told(answer, error["message"])
    assert {key: error[key] for key in about} == about, answer.text


@pytest.mark.parametrize("content", NO_BODIES.values(), ids=NO_BODIES)
def test_a_body_that_is_no_json_object_is_refused(client: httpx.Client, content: bytes) -> None:
    refused(client.post(CREATE, content=content), 400)


def test_a_body_nested_too_deeply_is_refused(client: httpx.Client) -> None:
    refused(client.post(CREATE, content=DEEP), 422, code="invalid_request")


NAMES = (5, True, [], {}, "", "a/b", "a\nb", "x" * 513)
WRONG: dict[str, tuple[Any, ...]] = {
    "id": NAMES,
    "session_id": NAMES,
    "graph": (5, True, [], {}, "", "nope"),
    "agent": (5, True, [], {}, "", "nope"),
    "input": (None, {"resume": None}),
    "background": ("true", 1, [], {}),
    "stream": ("true", 1, [], {}),
}


@pytest.mark.parametrize("key", WRONG)
def test_a_key_with_a_wrong_value_is_named(client: httpx.Client, key: str) -> None:
    for value in WRONG[key]:
        graph = {} if key == "agent" else {"graph": "echo"}
        body = {**graph, "input": {"x": 1}, key: value}
        param = "graph" if value == "nope" else key
        refused(client.post(CREATE, json=body), 422, param=param)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"graph": "echo"}, "input"),
        ({"input": {"x": 1}}, "graph"),
        ({"graph": "echo", "agent": "chat", "input": {"x": 1}}, "agent"),
    ],
)
def test_what_cannot_be_done_is_named(client: httpx.Client, body: Any, param: str) -> None:
    refused(client.post(CREATE, json=body), 422, param=param)


NOWHERE = ["nope", "%00", "%FF", "a%20b", "9" * 5000, "0" * 32, "%2e%2e"]


@pytest.mark.parametrize("name", NOWHERE)
@pytest.mark.parametrize(("method", "tail"), [("GET", ""), ("GET", "/events"), ("POST", "/cancel")])
def test_an_invocation_that_is_not_there(
    client: httpx.Client, method: str, tail: str, name: str
) -> None:
    refused(client.request(method, f"{CREATE}/{name}{tail}"), 404)


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "", "9" * 30, "\u0661", "true"])
def test_a_cursor_that_is_no_number_is_refused(client: httpx.Client, after: str) -> None:
    answer = client.get(f"{CREATE}/nope/events", params={"after": after})
    refused(answer, 400, param="after")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", CREATE, 405),
        ("DELETE", CREATE, 405),
        ("DELETE", f"{CREATE}/a", 405),
        ("POST", f"{CREATE}/a/events", 405),
        ("GET", f"{CREATE}/a/cancel", 405),
        ("GET", f"{CREATE}/a/b", 404),
        ("POST", f"{CREATE}/", 404),
    ],
)
def test_what_is_not_served_is_told_in_the_same_shape(
    client: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = client.request(method, path)
    refused(answer, status)
    assert ("allow" in answer.headers) == (status == 405)


KNOWN: dict[str, st.SearchStrategy[Any]] = {
    "id": texts,
    "session_id": texts,
    "graph": st.just("echo"),
    "agent": st.sampled_from(["echo", "chat"]),
    "background": st.booleans(),
    "stream": st.booleans(),
    "model": st.just("chat"),
    "custom_inputs": st.dictionaries(texts, values, max_size=2),
}
INPUT = st.one_of(
    values,
    st.builds(lambda answer: {"resume": answer}, values),
    st.builds(lambda answer: {"decisions": answer}, values),
    st.builds(lambda text: [{"role": "user", "content": text}], texts),
)


@fuzz
@given(bodies(KNOWN, input=INPUT))
def test_no_body_breaks_anything(client: httpx.Client, body: bytes) -> None:
    answer = client.post(CREATE, content=body)
    assert answer.status_code in (200, 202, 400, 404, 409, 422), answer.text
    if answer.status_code >= 400:
        check_told(answer, answer.json()["error"]["message"])


@fuzz
@given(texts, texts)
def test_no_query_breaks_anything(client: httpx.Client, name: str, after: str) -> None:
    path = f"{CREATE}/{quote(name, safe='')}/events"
    answer = client.get(path, params={"after": after}, headers={"accept": "application/json"})
    assert answer.status_code in (200, 400, 404), answer.text


def test_it_is_still_alive(client: httpx.Client) -> None:
    check_alive(client)
