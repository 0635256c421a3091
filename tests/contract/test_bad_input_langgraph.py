"""The LangGraph door and every kind of bad input: one clear ``{"detail"}``, and nothing breaks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.badness import DEEP, NO_BODIES, check_alive, fuzz, texts
from tests.contract.frames import read_frames
from tests.contract.langgraph_bodies.chance import ANY_BODY, BODIES
from tests.contract.langgraph_bodies.endpoints import (
    OF_RUNS,
    STATELESS,
    TAKES_ANY,
    TAKES_LISTS,
    WITH_BODY,
)
from tests.contract.langgraph_bodies.known import NOBODY, Known, make_known, refused, survive
from tests.contract.langgraph_bodies.wrong import GOOD, LONG, RUN, WRONG
from tests.servers import Server


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def known(client: httpx.Client) -> Known:
    return make_known(client)


def endless(value: Any) -> Any:
    """``value`` in a test's name, where thousands of digits or characters would not help."""
    return value if len(str(value)) < 80 else f"{str(value)[:12]}..."


# -- bodies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_a_body_that_is_no_json_object_is_refused(
    client: httpx.Client, known: Known, method: str, path: str
) -> None:
    for what, content in NO_BODIES.items():
        if not (what == "a list" and path in TAKES_LISTS) and not _is_taken(path, content):
            refused(client.request(method, known.path(path), content=content), 422)
    refused(client.request(method, known.path(path), content=DEEP), 400, "200 levels")


def _is_taken(path: str, content: bytes) -> bool:
    """Any JSON is good enough there, and nothing at all."""
    if path not in TAKES_ANY:
        return False
    with suppress(ValueError):
        orjson.loads(content or b"null")
        return True
    return False


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_a_key_with_a_wrong_value_is_named(
    client: httpx.Client, known: Known, method: str, path: str
) -> None:
    for key, wrong in WRONG.get((method, path), {}).items():
        for value in wrong:
            body = {**GOOD.get(path, RUN), key: value}
            content = orjson.dumps([body] if path in TAKES_LISTS else body)
            answer = client.request(method, known.path(path), content=content)
            assert answer.status_code == 422, (key, endless(value), answer.text)
            refused(answer, 422, _innermost(key, value))


def _innermost(key: str, value: Any) -> str:
    """The key that is wrong: of ``{"goto": {"input": 1}}`` the message names ``goto``."""
    inside = value if isinstance(value, dict) else {}
    known = ("configurable", "metadata", "tags", "recursion_limit", "goto", "update", "graph")
    places = ("checkpoint_id", "checkpoint_ns", "checkpoint_map")
    for name, inner in inside.items():
        if name in (*known, *places):
            if name == "checkpoint_map" and isinstance(inner, dict):
                return ""
            return _innermost(name, inner)
    return key


def test_what_a_graph_does_not_take_is_told(client: httpx.Client, known: Known) -> None:
    state = known.path("/threads/{thread}/state")
    refused(client.post(state, json={"values": 5}), 400, "Expected dict, got 5")
    refused(client.post(state, json={"values": {}, "as_node": "nope"}), 400, "nope")
    chat = client.post("/threads", json={"metadata": {"graph_id": "chat"}}).json()["thread_id"]
    for messages in (5, [5], [{"role": "nope", "content": ""}], [{"type": "remove", "id": "x"}]):
        answer = client.post(f"/threads/{chat}/state", json={"values": {"messages": messages}})
        refused(answer, 400)


def test_a_contradiction_is_told(client: httpx.Client, known: Known) -> None:
    both = {"context": {"a": 1}, "config": {"configurable": {"a": 1}}}
    for path in map(known.path, (*OF_RUNS, *STATELESS)):
        refused(client.post(path, json={"assistant_id": "echo", **both}), 400, "not both")
    for path in STATELESS:
        answer = client.post(path, json={"assistant_id": "echo", "command": {"resume": 1}})
        refused(answer, 400, "thread_id")


# -- what does not exist --------------------------------------------------------------------------

NOWHERE = ["nope", NOBODY, "%00", "%FF", "a%20b", quote(LONG)]


@pytest.mark.parametrize("name", NOWHERE, ids=endless)
def test_a_thread_that_does_not_exist_is_not_found(
    client: httpx.Client, known: Known, name: str
) -> None:
    run = {"assistant_id": "echo"}
    for method, path, body in (
        ("GET", "", None),
        ("PATCH", "", {}),
        ("DELETE", "", None),
        ("GET", "/state", None),
        ("GET", "/state/x", None),
        ("POST", "/state", {"values": {}}),
        ("POST", "/state/checkpoint", {}),
        ("GET", "/history", None),
        ("POST", "/history", {}),
        ("GET", "/runs", None),
        ("POST", "/runs", run),
        ("POST", "/runs/stream", run),
        ("POST", "/runs/wait", run),
        ("GET", f"/runs/{known.run}", None),
        ("DELETE", f"/runs/{known.run}", None),
        ("POST", f"/runs/{known.run}/cancel", None),
        ("GET", f"/runs/{known.run}/join", None),
        ("GET", f"/runs/{known.run}/stream", None),
    ):
        refused(client.request(method, f"/threads/{name}{path}", json=body), 404, "not found")


@pytest.mark.parametrize("name", [*NOWHERE, f"urn:uuid:{NOBODY}", f"{{{NOBODY}}}"], ids=endless)
def test_a_run_that_does_not_exist_is_not_found(
    client: httpx.Client, known: Known, name: str
) -> None:
    for runs in (known.path("/threads/{thread}/runs"), "/runs"):
        for tail in ("", "/join", "/stream"):
            refused(client.get(f"{runs}/{name}{tail}"), 404, "Run not found")
    one = f"/threads/{known.thread}/runs/{name}"
    refused(client.delete(one), 404, "Run not found")
    refused(client.post(f"{one}/cancel"), 404, "Run not found")


def test_a_known_run_in_another_spelling_is_not_found(client: httpx.Client, known: Known) -> None:
    for name in (f"urn:uuid:{known.run}", f"{{{known.run}}}", known.run.replace("-", "")):
        refused(client.get(f"/threads/{known.thread}/runs/{name}"), 404, "Run not found")


@pytest.mark.parametrize(
    ("name", "status"),
    [(NOBODY, 404), ("nope", 422), ("%00", 422), ("%FF", 422), (quote(LONG), 422)],
    ids=endless,
)
def test_an_assistant_that_does_not_exist_is_told(
    client: httpx.Client, known: Known, name: str, status: int
) -> None:
    for tail in ("", "/schemas", "/graph", "/subgraphs", "/subgraphs/x"):
        answer = client.get(f"/assistants/{name}{tail}")
        assert answer.status_code == status, answer.text
        assert answer.json()["detail"]
    for path in map(known.path, (*OF_RUNS, *STATELESS)):
        answer = client.post(path, json={"assistant_id": name})
        assert answer.status_code == status, answer.text
        assert answer.json()["detail"]


@pytest.mark.parametrize("name", ["nope", NOBODY, "a\x00b"])
def test_a_checkpoint_that_does_not_exist_is_not_found_or_empty(
    client: httpx.Client, known: Known, name: str
) -> None:
    place = {"checkpoint": {"checkpoint_id": name}}
    for path in map(known.path, OF_RUNS):
        refused(client.post(path, json={"assistant_id": "echo", **place}), 404)
    state = known.path("/threads/{thread}/state")
    refused(client.post(state, json={"values": {"x": 1}, **place}), 404)
    read = client.post(f"{state}/checkpoint", json=place)
    assert (read.status_code, read.json()["values"]) == (200, {})
    read = client.get(f"{state}/{quote(name)}")
    assert (read.status_code, read.json()["values"]) == (200, {})


def test_a_thread_is_not_created_under_a_name_no_path_can_hold(client: httpx.Client) -> None:
    body = {"assistant_id": "echo", "if_not_exists": "create"}
    for tail in ("", "/stream", "/wait"):
        refused(client.post(f"/threads/{quote(LONG)}/runs{tail}", json=body), 422, "thread_id")


# -- queries, headers, methods ------------------------------------------------------------------

DIGITS = "9" * 5000


@pytest.mark.parametrize(
    "path",
    [
        "/assistants/echo/graph?xray=nope",
        "/assistants/echo/graph?xray=-1",
        f"/assistants/echo/graph?xray={DIGITS}",
        "/threads/{thread}/state?subgraphs=nope",
        "/threads/{thread}/state?select=nope",
        "/threads/{thread}/history?limit=nope",
        "/threads/{thread}/history?limit=0",
        "/threads/{thread}/history?limit=-1",
        f"/threads/{{thread}}/history?limit={DIGITS}",
        "/threads/{thread}/history?metadata=nope",
        "/threads/{thread}/history?select=nope",
        "/threads/{thread}/runs?limit=nope",
        "/threads/{thread}/runs?limit=1001",
        f"/threads/{{thread}}/runs?limit={DIGITS}",
        "/threads/{thread}/runs?offset=-1",
        "/threads/{thread}/runs?status=nope",
        "/threads/{thread}/runs?status=%00",
        "/threads/{thread}/runs?select=nope",
        "/threads/{thread}/runs?select=[nope",
        "/threads/{thread}/runs/{run}/join?cancel_on_disconnect=nope",
        "/threads/{thread}/runs/{run}/stream?cancel_on_disconnect=nope",
        "/threads/{thread}/runs/{run}/stream?stream_mode=nope",
        '/threads/{thread}/runs/{run}/stream?stream_mode=["values"',
        "/threads/{thread}/runs/{run}/stream?stream_subgraphs=nope",
        "POST /threads/{thread}/runs/{run}/cancel?action=nope",
    ],
    ids=endless,
)
def test_a_query_that_makes_no_sense_is_refused(
    client: httpx.Client, known: Known, path: str
) -> None:
    method, _, target = path.rpartition(" ")
    refused(client.request(method or "GET", known.path(target)), 422)


@pytest.mark.parametrize("cursor", ["garbage", "-5", "1.5", "a-b", "\xe9", DIGITS], ids=endless)
def test_a_foreign_cursor_is_the_start_of_the_run(
    client: httpx.Client, known: Known, cursor: str
) -> None:
    path = known.path("/threads/{thread}/runs/{run}/stream")
    answer = client.get(path, headers=[(b"Last-Event-ID", cursor.encode("latin-1"))])
    frames = read_frames(answer.content)
    assert [frame.event for frame in frames] == ["metadata", "updates", "end"]


def test_a_cursor_behind_the_end_of_a_finished_run_gets_nothing_more(
    client: httpx.Client, known: Known
) -> None:
    path = known.path("/threads/{thread}/runs/{run}/stream")
    answer = client.get(path, headers={"Last-Event-ID": "999999999999"})
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nope", 404),
        ("GET", "/threads/a/nope", 404),
        ("GET", "/threads//state", 404),
        ("PUT", "/threads", 405),
        ("GET", "/threads/search", 404),  # a thread of that name
        ("DELETE", "/threads/{thread}/runs", 405),
        ("GET", "/threads/{thread}/runs/{run}/cancel", 405),
        ("DELETE", "/assistants/echo", 409),
    ],
)
def test_what_is_not_there_is_told_in_the_same_shape(
    client: httpx.Client, known: Known, method: str, path: str, status: int
) -> None:
    refused(client.request(method, known.path(path)), status)


def test_a_finished_run_cannot_be_cancelled(client: httpx.Client, known: Known) -> None:
    path = known.path("/threads/{thread}/runs/{run}/cancel")
    refused(client.post(path), 404, "already ended")


def test_a_name_that_is_taken_is_told(client: httpx.Client, known: Known) -> None:
    answer = client.post("/threads", json={"thread_id": known.thread})
    refused(answer, 409, "already exists")


# -- at random ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_no_body_at_random_breaks_anything(
    client: httpx.Client, known: Known, method: str, path: str
) -> None:
    made = client.post("/threads", json={"metadata": {"graph_id": "echo"}}).json()
    fresh = replace(known, thread=made["thread_id"])

    @fuzz
    @given(BODIES.get((method, path), ANY_BODY))
    def send(content: bytes) -> None:
        survive(client, fresh, method, path, content=content)

    send()
    check_alive(client)


@fuzz
@given(
    st.sampled_from(["GET", "POST", "DELETE"]),
    st.sampled_from(
        [
            *("/threads/{}", "/threads/{}/state", "/threads/{}/runs", "/threads/t/runs/{}/join"),
            *("/threads/t/state/{}", "/runs/{}/stream", "/assistants/{}/schemas"),
        ]
    ),
    texts.filter(lambda name: name not in ("", ".", "..")),
)
def test_no_path_at_random_breaks_anything(
    client: httpx.Client, method: str, path: str, name: str
) -> None:
    answer = client.request(method, path.format(quote(name, safe="")))
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        refused(answer, answer.status_code)
