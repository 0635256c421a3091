"""The dialect of MLflow's agent servers: its own types take everything that is said in it."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given

from langgraph_durable.model import Run, RunStatus
from langgraph_durable.serde import decode, encode
from protocol_adapter.responses.objects import head_of, snapshot, traced, unfinished
from protocol_adapter.responses.stream import Frame

from .fake import FakeEngine, client
from .logs import RESPONSE_ID, Log, a_run, ai, call, call_chunk, chunk, told, tool
from .mlflow_types import (
    ResponsesAgentRequest,
    ResponsesAgentResponse,
    ResponsesAgentStreamEvent,
)
from .random_logs import logs

DIALECT = {"dialect": "mlflow", "tool_items": "function_call"}
USAGE = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
REASONS = {"type": "reasoning", "reasoning": "let me see"}
QUESTION = {"id": "q1", "value": {"question": "May I?"}}
ERROR = {"error": "ValueError", "message": "boom"}

CALLED = (
    Log()
    .start()
    .message(call_chunk("m1", '{"a":', call_id="c1", tool="add"))
    .message(call_chunk("m1", " 1}", last=True))
    .updates("model", ai("m1", tool_calls=[call("c1", a=1)]))
)
KINDS: dict[str, tuple[Log, dict[str, Any]]] = {
    "text": (Log().start().says("m1", "hal", "lo").updates("model", ai("m1", "hallo")).end(), {}),
    "tools": (
        Log()
        .start()
        .message(call_chunk("m1", '{"a": 1}', call_id="c1", tool="add", last=True))
        .message(tool("c1", "2"), at="tools:t2")
        .says("m2", "two", at="model:t3")
        .end(),
        {},
    ),
    "reasoning": (
        Log()
        .start()
        .message(chunk("m1", [REASONS]))
        .message(chunk("m1", "yes", chunk_position="last", usage_metadata=USAGE))
        .end(),
        {},
    ),
    "refusal": (
        Log().start().message(chunk("m1", [{"type": "refusal", "refusal": "no"}])).end(),
        {},
    ),
    "interrupt": (Log().start().says("m1", "well").end(interrupts=[QUESTION]), {}),
    "interrupt as a call": (
        Log().start().end(interrupts=[QUESTION]),
        {"door": {"interrupts": "function_call"}},
    ),
    "failure": (
        Log().start().says("m1", "wel", last=False).end("error", error=ERROR),
        {"status": RunStatus.ERROR},
    ),
    "cancel": (
        Log().start().says("m1", "wel", last=False).end("interrupted"),
        {"status": RunStatus.INTERRUPTED},
    ),
    "recursion limit": (
        Log().start().end("error", error={"error": "GraphRecursionError", "message": "25"}),
        {"status": RunStatus.ERROR},
    ),
    "recovery": (
        Log()
        .start()
        .says("m1", "wel", last=False)
        .recovered(void_message_ids=["m1"])
        .says("m2", "well")
        .end(),
        {"attempt": 2},
    ),
    "values": (
        Log().start().end(),
        {"output": encode({"answer": 42, "custom_outputs": {"cost": 1}})},
    ),
    "another door's": (Log().start().says("m1", "hi").end(), {"request": {}}),
}


def in_dialect(**changes: Any) -> Run:
    door = {**DIALECT, "background": True, **changes.pop("door", {})}
    return a_run(door=door, **changes)


def check(frames: list[Frame]) -> None:
    """Raises what MLflow's types raise for frames and the objects in them."""
    with warnings.catch_warnings():
        # They warn at ``queued`` and ``cancelled``, which OpenAI has and MLflow does not know.
        warnings.filterwarnings("ignore", "Invalid status: (queued|cancelled)")
        warnings.filterwarnings("ignore", "Invalid reason: recursion_limit")
        for frame in frames:
            ResponsesAgentStreamEvent(**decode(encode(frame)))
            if "response" in frame:
                ResponsesAgentResponse(**decode(encode(frame["response"])))


@pytest.mark.parametrize("kind", KINDS)
def test_mlflow_takes_every_event_and_object_of_every_kind_of_run(kind: str) -> None:
    log, changes = KINDS[kind]
    run = in_dialect(**changes)

    frames = told(log, run)

    check(frames)
    assert {frame.get("response_id") for frame in frames} == (
        {RESPONSE_ID} if "request" not in changes else {None}
    )
    check([{"type": "response.created", "response": unfinished(run)}])


@given(logs())
def test_mlflow_takes_whatever_a_log_holds(log: Log) -> None:
    frames = told(log, in_dialect())

    check(frames)
    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))


def test_a_recovery_is_told_with_its_response() -> None:
    log, changes = KINDS["recovery"]
    (resumed,) = [f for f in told(log, in_dialect(**changes)) if f["type"] == "response.resumed"]

    number = resumed["sequence_number"]
    assert resumed == {
        "type": "response.resumed",
        "sequence_number": number,
        "response_id": RESPONSE_ID,
        "attempt": 2,
        "from_seq": number,
        "conversation_id": RESPONSE_ID,
    }


@pytest.mark.parametrize(
    ("output", "custom"),
    [
        ({"messages": [], "custom_outputs": {"cost": 1}}, {"cost": 1}),
        ({"messages": []}, None),
        ({"messages": [], "custom_outputs": "no object"}, None),
        ("just text", None),
    ],
)
def test_what_a_graph_leaves_under_custom_outputs_ends_its_response(
    output: Any, custom: Any
) -> None:
    log = Log().start().says("m1", "hi").end()
    *_, last = told(log, in_dialect(output=encode(output)))

    assert last["custom_outputs"] == last["response"]["custom_outputs"] == custom
    for frame in told(log, a_run(output=encode(output))):
        assert "custom_outputs" not in {**frame, **frame.get("response", {})}


def test_custom_outputs_are_no_part_of_what_a_graph_without_messages_answers() -> None:
    log, changes = KINDS["values"]
    *_, last = told(log, in_dialect(**changes))

    assert last["response"]["output"][0]["content"][0]["text"] == '{"answer":42}'
    assert last["custom_outputs"] == {"cost": 1}


@pytest.mark.parametrize("key", ["custom_inputs", "context"])
async def test_the_dialect_is_chosen_by_its_fields_which_reach_the_graph(key: str) -> None:
    engine = FakeEngine()
    engine.script = CALLED.message(tool("c1", "2"), at="tools:t2").end()
    given = {"session_id": "s-1"} if key == "custom_inputs" else {"user_id": "ada"}
    async with client(engine) as http:
        answer = await http.post("/responses", json={"input": "hi", key: given})

    (asked,) = engine.requests
    assert asked.config["configurable"]["responses"][key] == given
    kinds = [item["type"] for item in answer.json()["output"]]
    assert kinds == ["function_call", "function_call_output"]
    ResponsesAgentResponse(**answer.json())


async def test_a_request_is_taken_as_mlflow_writes_it_with_nulls() -> None:
    given = ResponsesAgentRequest(
        input=[
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "reasoning", "id": "rs_1", "summary": []},
        ],
        context={"conversation_id": "c-1", "user_id": "ada"},
        custom_inputs={"depth": 2},
    )
    engine = FakeEngine()
    async with client(engine) as http:
        answer = await http.post("/responses", json=given.model_dump())

    assert answer.status_code == 200, answer.text
    (asked,) = engine.requests
    assert asked.thread_id == "c-1"
    assert asked.input["messages"][0]["content"] == "hi"


def test_a_trace_is_named_without_touching_the_rest() -> None:
    response = snapshot(head_of(in_dialect(door={"echo": {"metadata": {"a": "b"}}})), "completed")

    assert traced(response, None) == response
    named = traced(response, "tr-1")
    assert named == {**response, "metadata": {"a": "b", "trace_id": "tr-1"}}
    assert response["metadata"] == {"a": "b"}
