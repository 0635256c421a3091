"""What users reported about the Responses protocol of other servers: a test is a report."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from tests.contract.people import Body, People, frames, place

ENDS = {"response.completed", "response.failed", "response.incomplete"}


@pytest.fixture
def response_id(people: People) -> str:
    """A background response that has ended."""
    made = people.ask("payer", "hello", background=True)
    frames(people.http.get(f"/responses/{made['id']}?stream=true").content)
    return str(made["id"])


def test_a_cursor_of_zero_is_a_cursor_and_comes_from_the_address_only(people: People) -> None:
    """BerriAI/litellm#26671, #26762, databricks-ai-bridge#467: cursors taken from the body."""
    body = {"model": "payer", "input": "hello", "background": True, "stream": True}
    with people.http.stream("POST", "/responses", json=body) as stream:
        lines = stream.iter_lines()
        seen = [next(line for line in lines if line.startswith("data:")) for _ in range(3)]
        name = stream.headers["x-response-id"]

    one = f"/responses/{name}?stream=true"
    rest = frames(people.http.get(f"{one}&starting_after=0").content)
    whole = frames(people.http.request("GET", one, json={"starting_after": 5}).content)

    assert '"sequence_number":2' in seen[2]
    assert [frame["sequence_number"] for frame in rest] == list(range(1, len(rest) + 1))
    assert [frame["sequence_number"] for frame in whole] == list(range(len(rest) + 1))


def test_the_helper_rebuilds_everything_and_the_raw_call_gets_the_rest(
    people: People, response_id: str
) -> None:
    """openai-node#1983, #1984, openai-ruby#548: only some clients send their cursor."""
    with people.stock() as client:
        with client.responses.stream(response_id=response_id, starting_after=4) as stream:
            seen = [event.sequence_number for event in stream]  # type: ignore[union-attr]
            final = stream.get_final_response()
        raw = client.responses.retrieve(response_id, stream=True, starting_after=4)
        later = [event.sequence_number for event in raw]
        kept = client.responses.retrieve(response_id)

    assert seen == later
    assert later[0] == 5
    assert final.output_text == kept.output_text == "Heard hello."


def test_a_client_that_hangs_up_stops_no_response(people: People) -> None:
    """aegra#323, hermes-agent#85016, #96507: a proxy that cut a silent line ended the run."""
    people.gates.shut("hear")
    names = []
    for background in (True, False):
        body = {"model": "chat", "input": "wait", "stream": True, "background": background}
        with people.http.stream("POST", "/responses", json=body) as stream:
            people.gates.reached("hear")
            people.gates.close("hear")
            names.append(stream.headers["x-response-id"])
    people.gates.open("hear")

    for name in names:
        run = str(uuid.UUID(name.removeprefix("resp_")))
        thread = people.http.get(f"/responses/{name}").json()["conversation"]["id"]
        people.http.get(f"/threads/{thread}/runs/{run}/join")
        assert people.http.get(f"/responses/{name}").json()["status"] == "completed"


def test_a_create_that_is_tried_again_makes_one_run(people: People) -> None:
    """aegra#501, #506, dify#39685, hermes-agent#88400: a lost answer made a second run."""
    key = uuid.uuid4().hex

    def create(text: str) -> Any:
        return people.post(key=key, model="chat", input=text)

    with ThreadPoolExecutor(4) as pool:
        told = [answer.json() for answer in pool.map(create, ["hi"] * 4)]
    other = create("ho")

    assert len({one["id"] for one in told}) == 1
    assert people.runs(place(told[0])) == 1
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_key_reused")
    assert people.ask("chat", "hi")["id"] != told[0]["id"]


@pytest.mark.parametrize("input_", ["hello", "pay"])
def test_numbers_are_counted_and_not_written_down(people: People, input_: str) -> None:
    """BerriAI/litellm#28899: every event had a number of its kind."""
    told = frames(people.post(model="payer", input=input_, stream=True).content)

    assert [frame["sequence_number"] for frame in told] == list(range(len(told)))


@pytest.mark.parametrize(
    ("model", "asked", "end"),
    [("chat", "hi", "completed"), ("chat", "fail", "failed"), ("loop", "go", "incomplete")],
)
def test_a_stream_has_one_end_and_a_failure_is_none_of_success(
    people: People, model: str, asked: str, end: str
) -> None:
    """openai-agents-python#3106, mlflow#16427: streams without an end, failures taken for one.

    what-iff#132: whatever had ended was expected to be completed.
    """
    told = frames(people.post(model=model, input=asked, stream=True).content)

    assert [frame["type"] for frame in told if frame["type"] in ENDS] == [f"response.{end}"]
    final: Body = told[-1]["response"]
    assert (final["status"], final["error"] is not None) == (end, end == "failed")
    with people.stock() as client, client.responses.stream(model=model, input=asked) as stream:
        types = [event.type for event in stream]
        if end == "completed":
            assert stream.get_final_response().status == end
        else:
            with pytest.raises(RuntimeError):
                stream.get_final_response()
    assert types[-1] == f"response.{end}"


def test_an_error_has_all_its_parts(people: People) -> None:
    """mlflow#16427: an error was one text, and clients found no type in it."""
    with people.stock() as client, pytest.raises(openai.BadRequestError) as wrong:
        client.responses.create(model="nobody", input="hi")

    assert (wrong.value.type, wrong.value.code) == ("invalid_request_error", "model_not_found")
