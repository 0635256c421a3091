"""What an agent server for this protocol has to do: one test, or several, for every line of it.

Most lines are shown elsewhere, where they belong: ``agent_server_lines`` says where.
"""

from __future__ import annotations

import ast
import time
from pathlib import Path

import httpx
import pytest

from tests.contract.agent_server_lines import LINES, MISTAKES
from tests.contract.people import Body, People, frames, user

TESTS = Path(__file__).parent.parent


@pytest.mark.parametrize("line", [*LINES, *MISTAKES])
def test_every_line_has_a_test(line: str) -> None:
    for node in {**LINES, **MISTAKES}[line]:
        path, _, name = node.partition("::")
        module = ast.parse((TESTS / path).read_text())
        found = {
            each.name
            for each in module.body
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        assert name in found, node


def test_no_line_is_left_out() -> None:
    assert [int(line.split()[0]) for line in LINES] == list(range(1, 26))


# -- 2 --------------------------------------------------------------------------------------------

IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,eA==", "detail": "auto"}


@pytest.mark.parametrize(
    "given",
    [
        "hi",
        [user("hi")],
        [{"type": "message", **user("hi")}],
        [{"role": "user", "content": [{"type": "input_text", "text": "hi"}, IMAGE]}],
        [
            user("hi"),
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "done"},
        ],
        [user("hi"), {"type": "reasoning", "id": "rs_1", "summary": []}, user("hi")],
    ],
    ids=["text", "a message", "a typed message", "an image", "a call and its result", "reasoning"],
)
def test_every_kind_of_input_is_taken(people: People, given: str | list[Body]) -> None:
    assert people.ask("chat", given)["status"] == "completed"


# -- 3, 4, 9 --------------------------------------------------------------------------------------


def begin(people: People, **more: object) -> Body:
    """A background response whose agent waits."""
    people.gates.shut("hear")
    made = people.ask("chat", "wait", background=True, **more)
    people.gates.reached("hear")
    return made


def test_a_background_response_is_whole_at_once(people: People) -> None:
    made = begin(people, metadata={"a": "b"})
    people.gates.open("hear")
    foreground = people.ask("chat", "hi")

    assert made["status"] in ("queued", "in_progress")
    assert made.keys() == foreground.keys()
    assert isinstance(made["created_at"], int)
    assert (made["model"], made["metadata"], made["output"]) == ("chat", {"a": "b"}, [])
    assert (made["background"], made["error"]) == (True, None)


def test_the_id_is_told_before_the_agent_has_said_anything(people: People) -> None:
    people.gates.shut("hear")
    body = {"model": "chat", "input": "wait", "stream": True}

    with people.http.stream("POST", "/responses", json=body) as told:
        lines = told.iter_lines()
        first, data = next(lines), next(lines)
        people.gates.reached("hear")
        people.gates.open("hear")
        for _ in lines:
            pass

    name = told.headers["x-response-id"]
    assert first == "event: response.created"
    assert f'"sequence_number":0,"response":{{"id":"{name}"' in data


def test_a_poll_has_one_shape_in_all_states(people: People) -> None:
    made = begin(people)
    one = f"/responses/{made['id']}"
    running = people.http.get(one).json()
    people.gates.open("hear")
    people.http.get(f"{one}?stream=true")
    completed = people.http.get(one).json()
    failed = people.ask("chat", "fail")

    assert running["status"] == "in_progress"
    assert [each["status"] for each in (completed, failed)] == ["completed", "failed"]
    assert made.keys() == running.keys() == completed.keys() == failed.keys()
    assert failed["error"].keys() == {"code", "message", "type", "param"}


# -- 6 --------------------------------------------------------------------------------------------


def test_a_cursor_means_what_it_says(people: People) -> None:
    made = people.ask("payer", "hello", background=True)
    one = f"/responses/{made['id']}?stream=true"
    whole = frames(people.http.get(one).content)

    def behind(cursor: int) -> list[Body]:
        return frames(people.http.get(f"{one}&starting_after={cursor}").content)

    assert [frame["sequence_number"] for frame in whole] == list(range(len(whole)))
    for cursor in range(len(whole) + 1):
        assert behind(cursor) == whole[cursor + 1 :]
        remembered = people.http.get(one, headers={"Last-Event-ID": str(cursor)})
        assert frames(remembered.content) == whole[cursor + 1 :]
    for nothing in ("", "-1", "x", "-"):
        remembered = people.http.get(one, headers={"Last-Event-ID": nothing})
        assert frames(remembered.content) == whole


# -- 7, 8 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "asked", "end"),
    [
        ("chat", "hi", "completed"),
        ("chat", "fail", "failed"),
        ("payer", "pay", "completed"),
        ("loop", "go", "incomplete"),
        ("chat", "wait", "incomplete"),
    ],
)
def test_every_stream_ends_with_the_end_of_its_run(
    people: People, model: str, asked: str, end: str
) -> None:
    if asked == "wait":
        made = begin(people)
        people.http.post(f"/responses/{made['id']}/cancel")
        people.gates.open("hear")
    else:
        made = people.ask(model, asked, background=True)

    told = frames(people.http.get(f"/responses/{made['id']}?stream=true").content)

    ends = {"response.completed", "response.failed", "response.incomplete"}
    assert [frame["type"] for frame in told if frame["type"] in ends] == [f"response.{end}"]
    assert told[-1]["response"] == people.http.get(f"/responses/{made['id']}").json()


def test_silence_is_filled_and_nothing_is_buffered(people: People) -> None:
    """aegra#323: proxies cut lines that were silent for a minute."""
    made = begin(people)

    with people.http.stream("GET", f"/responses/{made['id']}?stream=true") as told:
        lines = told.iter_lines()
        pinged = next(line for line in lines if line.startswith(":"))
        people.gates.open("hear")
        rest = list(lines)

    assert pinged == ": ping"
    assert rest[-2:] == ["data: [DONE]", ""]
    assert told.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert told.headers["x-accel-buffering"] == "no"
    assert told.headers["cache-control"] == "no-store"


def test_a_short_run_is_told_without_waiting_for_a_poll(people: People) -> None:
    body = {"model": "chat", "input": "hi", "background": True, "stream": True}
    took: list[float] = []
    for _ in range(5):
        began = time.monotonic()
        answer: httpx.Response = people.http.post("/responses", json=body)
        took.append(time.monotonic() - began)
        assert frames(answer.content)[-1]["type"] == "response.completed"

    assert min(took) < 0.5
