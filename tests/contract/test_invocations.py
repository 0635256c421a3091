"""The generic protocol against a real server, with a plain HTTP client."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest

from tests.servers import Server

ENDED = ("completed", "failed", "cancelled", "requires_action")


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=30) as client:
        yield client


@pytest.fixture
def name() -> str:
    """An id that nobody has used."""
    return f"inv {uuid.uuid4()}"


def invoke(client: httpx.Client, graph: str, given: Any, **more: Any) -> dict[str, Any]:
    """The invocation when it has ended."""
    body = {"graph": graph, "input": given, "background": False, **more}
    answer = client.post("/invocations", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert found["status"] in ENDED
    return found


def events(client: httpx.Client, name: str, **query: Any) -> list[dict[str, Any]]:
    """Every event of an invocation to its end, as read from its stream."""
    with client.stream("GET", f"/invocations/{name}/events", params=query) as answer:
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        return frames(answer.read())


def frames(raw: bytes) -> list[dict[str, Any]]:
    found = []
    for block in raw.decode().split("\n\n")[:-1]:
        if not block.startswith(":"):
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            found.append({**fields, "id": int(fields["id"]), "data": orjson.loads(fields["data"])})
    return found


def test_in_the_background_it_answers_at_once_and_is_polled(
    client: httpx.Client, name: str
) -> None:
    body = {"id": name, "session_id": f"s {name}", "graph": "echo", "input": {"x": 1}}
    made = client.post("/invocations", json=body)
    assert made.status_code == 202
    assert (made.json()["id"], made.json()["session_id"]) == (name, f"s {name}")
    assert events(client, name)[-1]["event"] == "run.completed"
    found = client.get(made.headers["location"]).json()
    assert found == {
        "id": name,
        "session_id": f"s {name}",
        "graph": "echo",
        "status": "completed",
        "attempt": 1,
        "output": {"x": 1, "y": 1},
        "questions": [],
        "error": None,
        "created_at": found["created_at"],
        "completed_at": found["completed_at"],
    }
    assert found["created_at"] < found["completed_at"]


def test_in_the_foreground_it_answers_with_the_result(client: httpx.Client) -> None:
    found = invoke(client, "echo", {"x": 2})
    assert (found["status"], found["output"]) == ("completed", {"x": 2, "y": 2})


def test_a_stream_tells_the_run_from_its_beginning(client: httpx.Client, name: str) -> None:
    body = {"id": name, "graph": "steps", "input": {"items": []}, "stream": True}
    with client.stream("POST", "/invocations", json=body) as answer:
        told = frames(answer.read())
    assert [event["id"] for event in told] == list(range(len(told)))
    assert [event["event"] for event in told[:4]] == [
        *("run.queued", "run.started", "message", "updates"),
    ]
    assert told[2]["data"] == {"step": 0}
    last = told[-1]
    assert (last["event"], last["data"]["status"]) == ("run.completed", "completed")
    assert last["data"] == client.get(f"/invocations/{name}").json()
    assert told == events(client, name)


def test_models_are_heard_word_by_word(client: httpx.Client, name: str) -> None:
    given = {"messages": [{"role": "user", "content": "add"}]}
    invoke(client, "agent", given, id=name)
    heard = [event["data"][0] for event in events(client, name) if event["event"] == "messages"]
    assert "".join(m["content"] for m in heard if m["type"] == "AIMessageChunk") == (
        "The answer is 5"
    )


def test_every_cursor_gives_the_rest(client: httpx.Client, name: str) -> None:
    invoke(client, "steps", {"items": []}, id=name)
    whole = events(client, name)
    for after in (-1, 0, 3, len(whole) - 1, len(whole) + 5):
        rest = [event for event in whole if event["id"] > after]
        query = {} if after < 0 else {"after": after}
        assert events(client, name, **query) == rest
        path, accept = f"/invocations/{name}/events", {"accept": "application/json"}
        page = client.get(path, params=query, headers=accept).json()
        assert page["events"] == rest
        assert page["next"] == max(after, len(whole) - 1)


def test_what_an_event_source_remembers_is_newer_than_its_address(
    client: httpx.Client, name: str
) -> None:
    invoke(client, "echo", {"x": 1}, id=name)
    whole = events(client, name)
    path = f"/invocations/{name}/events"
    for remembered, rest in (("2", whole[3:]), ("foreign", whole[1:])):
        answer = client.get(path, params={"after": 0}, headers={"last-event-id": remembered})
        assert frames(answer.content) == rest


def test_a_page_of_a_running_invocation_does_not_wait(client: httpx.Client, name: str) -> None:
    body = {"id": name, "graph": "slow", "input": {"delay": 30}}
    client.post("/invocations", json=body)
    accept = {"accept": "application/json"}
    after, seen = -1, []
    while "message" not in seen:
        query = {"after": after} if after >= 0 else {}
        page = client.get(f"/invocations/{name}/events", params=query, headers=accept).json()
        after, seen = page["next"], seen + [event["event"] for event in page["events"]]
    assert seen == ["run.queued", "run.started", "message"]
    page = client.get(f"/invocations/{name}/events", params={"after": 2}, headers=accept).json()
    assert page == {"events": [], "next": 2}
    client.post(f"/invocations/{name}/cancel")


# -- the same id ----------------------------------------------------------------------------------


def test_the_same_request_is_carried_out_once(client: httpx.Client, name: str) -> None:
    body = {"id": name, "graph": "echo", "input": {"x": 1, "y": 0}}
    first = client.post("/invocations", json={**body, "background": False}).json()
    again = client.post("/invocations", json={**body, "input": {"y": 0, "x": 1}})
    assert (again.status_code, again.json()) == (200, first)
    streamed = client.post("/invocations", json={**body, "stream": True})
    assert frames(streamed.content) == events(client, name)
    assert len(client.get(f"/threads/{name}/runs").json()) == 1


def test_another_request_under_a_used_id_is_refused(client: httpx.Client, name: str) -> None:
    invoke(client, "echo", {"x": 1}, id=name)
    other = {"id": name, "graph": "echo", "input": {"x": 2}}
    refused = client.post("/invocations", json=other)
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "id_reused"
    run_id = client.post("/runs", json={"assistant_id": "echo", "input": {"x": 1}}).json()["run_id"]
    taken = client.post("/invocations", json={"id": run_id, "graph": "echo", "input": {"x": 1}})
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "id_reused")


async def test_a_request_that_comes_many_times_at_once_makes_one_run(
    http: httpx.AsyncClient, name: str
) -> None:
    body = {"id": name, "graph": "echo", "input": {"x": 1}, "background": False}
    answers = await asyncio.gather(*(http.post("/invocations", json=body) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert len((await http.get(f"/threads/{name}/runs")).json()) == 1


# -- sessions and people --------------------------------------------------------------------------


def test_a_session_remembers_and_needs_no_graph_again(client: httpx.Client, name: str) -> None:
    invoke(client, "slow", {"tag": "a"}, session_id=name)
    body = {"session_id": name, "input": {"tag": "b"}, "background": False}
    second = client.post("/invocations", json=body).json()
    assert second["graph"] == "slow"
    assert [step[0] for step in second["output"]["steps"]] == ["a"] * 5 + ["b"] * 5


def test_a_question_ends_one_invocation_and_its_answer_is_another(
    client: httpx.Client, name: str
) -> None:
    asked = invoke(client, "approval", {"request": "pay"}, id=name)
    assert asked["status"] == "requires_action"
    [question] = asked["questions"]
    assert question["value"] == {"question": "approve?", "request": "pay"}
    assert asked["output"] == {"request": "pay", "log": ["prepared"]}
    assert events(client, name)[-1]["event"] == "run.requires_action"

    answer = {"id": f"{name} 2", "session_id": name, "input": {"resume": "yes"}}
    done = client.post("/invocations", json={**answer, "background": False}).json()
    assert (done["status"], done["graph"]) == ("completed", "approval")
    assert done["output"]["log"] == ["prepared", "decided:yes", "finished"]

    again = client.post("/invocations", json={**answer, "background": False})
    assert (again.status_code, again.json()) == (200, done)
    stale = client.post("/invocations", json={**answer, "id": f"{name} 3"})
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "nothing_to_answer")
    assert client.get(f"/invocations/{name}").json() == asked


def test_of_several_questions_each_answer_names_its_own(client: httpx.Client, name: str) -> None:
    asked = invoke(client, "two_questions", {"answers": []}, session_id=name)
    by_value = {question["value"]: question["id"] for question in asked["questions"]}
    assert by_value.keys() == {"left", "right"}
    vague = invoke(client, "two_questions", {"resume": "?"}, session_id=name)
    assert (vague["status"], vague["questions"]) == ("failed", asked["questions"])
    answers = {by_value["left"]: "L", by_value["right"]: "R"}
    done = invoke(client, "two_questions", {"resume": answers}, session_id=name)
    assert sorted(done["output"]["answers"]) == ["left:L", "right:R"]


def test_an_answer_to_a_session_that_asks_nothing_starts_nothing(
    client: httpx.Client, name: str
) -> None:
    body = {"session_id": name, "graph": "echo", "input": {"decisions": [{"type": "approve"}]}}
    refused = client.post("/invocations", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "nothing_to_answer")
    assert client.get(f"/threads/{name}").status_code == 404


# -- ends -----------------------------------------------------------------------------------------


def test_a_failure_is_told_and_ends_the_stream(client: httpx.Client, name: str) -> None:
    failed = invoke(client, "boom", {"x": 1}, id=name)
    assert failed["status"] == "failed"
    assert failed["error"] == {"type": "ValueError", "message": "boom"}
    last = events(client, name)[-1]
    assert (last["event"], last["data"]) == ("run.failed", failed)


def test_cancelling_ends_it_for_good_and_twice_is_once(client: httpx.Client, name: str) -> None:
    client.post("/invocations", json={"id": name, "graph": "slow", "input": {"delay": 30}})
    cancelled = client.post(f"/invocations/{name}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert client.post(f"/invocations/{name}/cancel").json() == cancelled.json()
    last = events(client, name)[-1]
    assert (last["event"], last["data"]) == ("run.cancelled", cancelled.json())


def test_what_has_ended_otherwise_cannot_be_cancelled(client: httpx.Client, name: str) -> None:
    invoke(client, "echo", {"x": 1}, id=name)
    refused = client.post(f"/invocations/{name}/cancel")
    assert (refused.status_code, refused.json()["error"]["code"]) == (
        409,
        "invocation_not_cancellable",
    )


# -- one run, every door --------------------------------------------------------------------------


def test_a_run_of_any_door_is_an_invocation(client: httpx.Client) -> None:
    made = client.post("/threads", json={}).json()["thread_id"]
    path = f"/threads/{made}/runs"
    run = client.post(path, json={"assistant_id": "steps", "input": {"items": []}}).json()
    told = events(client, run["run_id"])
    assert told[-1]["event"] == "run.completed"
    found = client.get(f"/invocations/{run['run_id']}").json()
    assert (found["session_id"], found["output"]["items"][0]) == (made, "s0")


def test_an_invocation_is_a_run_and_a_response(client: httpx.Client) -> None:
    name = str(uuid.uuid4())
    given = {"messages": [{"role": "user", "content": "hi"}]}
    invoke(client, "chat", given, id=name, session_id=f"s-{name}")
    run = client.get(f"/threads/s-{name}/runs/{name}").json()
    assert run["status"] == "success"
    response = client.get(f"/responses/resp_{name.replace('-', '')}").json()
    assert response["output"][0]["content"][0]["text"] == "You said something."


@pytest.mark.parametrize("given", ["hi", [{"role": "user", "content": "hi"}]])
def test_a_body_of_the_responses_protocol_gets_a_response(
    client: httpx.Client, given: Any, name: str
) -> None:
    body = {"model": "chat", "input": given, "custom_inputs": {"thread_id": name}}
    answer = client.post("/invocations", json=body)
    assert answer.json()["object"] == "response"
    assert answer.headers["x-response-id"] == answer.json()["id"]
    streamed = client.post("/invocations", json={**body, "stream": True})
    assert streamed.text.startswith("event: response.created\n")
    assert streamed.text.endswith("data: [DONE]\n\n")


def test_it_says_that_it_is_healthy_and_what_it_is(client: httpx.Client) -> None:
    assert client.get("/health").json() == {"status": "healthy"}
    about = client.get("/agent/info").json()
    assert (about["use_case"], about["agent_api"]) == ("agent", "responses")
    assert about["name"]
