"""kill -9 between a question and its answer, and in the middle of what was approved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import MakeServer
from tests.contract.people import (
    STOCK,
    Body,
    People,
    approval,
    frames,
    output,
    place,
    question,
    questions,
    text,
)
from tests.crash.gates import Gates

Serve = Callable[..., People]


@pytest.fixture
def serve(database_url: str, gates: Gates, make_server: MakeServer) -> Iterator[Serve]:
    """Starts servers of ``tests/apps/people`` on the test's database."""
    made: list[People] = []

    def start(**env: str) -> People:
        server = make_server("people", database_url=database_url, env={**gates.env, **env})
        made.append(People(server.start(), gates))
        return made[-1]

    yield start
    for one in made:
        one.close()


def test_an_approval_survives_a_crash_between_question_and_answer(serve: Serve) -> None:
    people = serve()
    asked = people.ask("payer", "pay")
    people.server.kill()
    people.server.start()

    told = people.ask("payer", [approval(question(asked))])
    people.server.kill()
    people.server.start()
    again = people.ask("payer", [approval(question(asked))])

    assert text(told) == "It is paid (True)."
    assert again == told
    assert people.gates.count("pay") == 1


def test_half_an_answer_survives_a_crash(serve: Serve) -> None:
    people = serve()
    left, right = questions(people.ask("both", "go"))
    people.ask("both", [output(left, 1)])
    people.server.kill()
    people.server.start()

    told = people.ask("both", [output(left, 1), output(right, 2)])

    assert text(told) == '{"answers":["left:1","right:2"]}'


def test_an_approved_tool_that_was_killed_goes_on_and_the_answer_is_still_one(
    serve: Serve,
) -> None:
    people = serve()
    asked = people.ask("payer", "pay")
    (people.gates.folder / "hold").touch()
    answer = [approval(question(asked))]
    working = people.ask("payer", answer, background=True)
    people.gates.reached("pay")
    people.server.kill()
    people.server.start()
    people.gates.open("pay")

    told = people.ask("payer", answer)

    assert told["id"] == working["id"]
    assert (text(told), told["metadata"]) == ("It is paid (True).", {"attempt": "2"})
    assert people.runs(place(asked)) == 2


@pytest.mark.parametrize("strategy", ["agent_session", "event_log"])
def test_a_result_beside_an_approval_is_heard_once_although_its_run_was_killed(
    serve: Serve, strategy: str
) -> None:
    people = serve(LANGGRAPH_DURABLE_RECOVERY_BY_GRAPH=f"buyer={strategy}")
    asked = people.ask("buyer", "tea", tools=[STOCK])
    (people.gates.folder / "hold").touch()
    answer = [output("call_stock", "3 left"), approval(question(asked))]
    working = people.ask("buyer", answer, background=True, previous_response_id=asked["id"])
    people.gates.reached("pay")
    people.server.kill()
    people.server.start()
    people.gates.open("pay")

    stream = people.http.get(f"/responses/{working['id']}?stream=true").content

    told = frames(stream)[-1]["response"]
    assert (told["status"], told["metadata"]) == ("completed", {"attempt": "2"})
    assert text(told) == "3 left; paid (True)"


@pytest.mark.parametrize("strategy", ["agent_session", "event_log"])
def test_a_response_in_front_of_a_rotation_is_forked(serve: Serve, strategy: str) -> None:
    people = serve(LANGGRAPH_DURABLE_RECOVERY_BY_GRAPH=f"chat={strategy}")
    first = people.ask("chat", "one")
    crashed = people.ask("chat", "wait", previous_response_id=first["id"], background=True)
    people.gates.reached("hear")
    people.server.kill()
    people.server.start()
    people.gates.open("hear")
    on = people.ask("chat", "on", previous_response_id=crashed["id"])

    fork = people.ask("chat", "fork", previous_response_id=first["id"])
    later = people.ask("chat", "later", previous_response_id=crashed["id"])

    rotated = f"{place(first)}::attempt-2" if strategy == "event_log" else place(first)
    assert people.http.get(f"/responses/{crashed['id']}").json()["conversation"]["id"] == rotated
    assert text(on).endswith("on")
    assert text(fork) == "one | fork"
    assert text(later).endswith("| later")
    assert "on" not in text(later).split(" | ")
    assert people.ask("chat", "x", conversation=rotated)["status"] == "completed"


def test_a_key_is_remembered_behind_a_crash(serve: Serve) -> None:
    people = serve()
    body: Body = {"model": "chat", "input": "wait", "stream": True}
    headers = {"Idempotency-Key": "k"}
    with people.http.stream("POST", "/responses", json=body, headers=headers) as cut:
        people.gates.reached("hear")
        people.server.kill()
        with pytest.raises(httpx.TransportError):
            cut.read()
    people.server.start()
    people.gates.open("hear")

    whole = people.http.post("/responses", json=body, headers=headers).content
    other = people.post(key="k", **{**body, "input": "other"})

    told = frames(whole)
    assert [frame["sequence_number"] for frame in told] == list(range(len(told)))
    kinds = [frame["type"] for frame in told]
    assert kinds.count("response.created") == kinds.count("response.resumed") == 1
    assert kinds[-1] == "response.completed"
    assert other.status_code == 409


def test_by_item_a_text_cut_off_by_a_crash_is_never_shown(crash_server: Any, gates: Gates) -> None:
    server = crash_server().start()
    body = {
        "model": "speech",
        "input": "go",
        "background": True,
        "stream_granularity": "item",
    }
    with httpx.Client(base_url=server.url, timeout=30) as http:
        made = http.post("/responses", json=body).json()
        gates.reached("speak")
        server.kill()
        server.start()
        gates.open("speak")
        told = frames(http.get(f"/responses/{made['id']}?stream=true").content)

    deltas = [frame["delta"] for frame in told if frame["type"] == "response.output_text.delta"]
    done = [frame["item"] for frame in told if frame["type"] == "response.output_item.done"]
    assert deltas == ["Once upon a time"]
    assert [item["status"] for item in done] == ["completed"]
    assert "response.resumed" in [frame["type"] for frame in told]
