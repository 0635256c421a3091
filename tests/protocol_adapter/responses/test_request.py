"""A body becomes a run request: what acts, what is echoed, what is refused."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from langchain_core.messages import AIMessage, RemoveMessage, ToolMessage, convert_to_messages

from langgraph_durable.model import RunRequest
from protocol_adapter.responses import request
from protocol_adapter.responses.config import Defaults
from protocol_adapter.responses.conversation import Conversation
from protocol_adapter.responses.history import NOTHING, Held, held
from protocol_adapter.responses.refusal import Refusal

from .logs import ai, call, tool

IMAGE = "data:image/png;base64,aGk="


def asked_for(body: dict[str, Any], thread: Held = NOTHING) -> RunRequest:
    return request.run_request(
        request.read(body),
        run_id="r",
        graph="agent",
        conversation=Conversation("t", "conversation"),
        thread=thread,
        defaults=Defaults(),
    )


def messages(given: Any, thread: Held = NOTHING, **body: Any) -> list[dict[str, Any]]:
    found = asked_for({"input": given, **body}, thread).input["messages"]
    convert_to_messages(found)
    assert isinstance(found, list)
    return found


USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("hi", [USER]),
        ([], []),
        ([USER], [USER]),
        ([{"type": "message", **USER, "id": "u1"}], [{**USER, "id": "u1"}]),
        ([{"role": "developer", "content": "hi"}], [{"role": "system", "content": "hi"}]),
        ([{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}], [USER]),
        (
            [
                {
                    "type": "message",
                    "role": "assistant",
                    "id": "m1~2",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "ho", "annotations": []}],
                }
            ],
            [{"role": "assistant", "content": "ho", "id": "m1"}],
        ),
        (
            [{"role": "user", "content": [{"type": "input_text", "text": "a"}, "b"]}],
            [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                }
            ],
        ),
        (
            [{"role": "user", "content": [{"type": "input_image", "image_url": IMAGE}]}],
            [
                {
                    "role": "user",
                    "content": [{"type": "image", "base64": "aGk=", "mime_type": "image/png"}],
                }
            ],
        ),
        (
            [{"role": "user", "content": [{"type": "input_image", "image_url": "https://x/y"}]}],
            [{"role": "user", "content": [{"type": "image", "url": "https://x/y"}]}],
        ),
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "input_file", "file_id": "f", "filename": "n"}],
                }
            ],
            [{"role": "user", "content": [{"type": "file", "filename": "n", "file_id": "f"}]}],
        ),
        (
            [{"role": "user", "content": [{"type": "input_file", "file_data": "aGk="}]}],
            [{"role": "user", "content": [{"type": "file", "base64": "aGk="}]}],
        ),
        (
            [{"role": "user", "content": [{"type": "audio", "data": "x"}]}],
            [{"role": "user", "content": [{"type": "audio", "data": "x"}]}],
        ),
    ],
)
def test_input_becomes_messages(given: Any, told: list[dict[str, Any]]) -> None:
    assert messages(given) == told


def test_calls_belong_to_the_assistants_message_before_them() -> None:
    given = [
        USER,
        {"role": "assistant", "content": "Let me see.", "id": "m1"},
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a":1}'},
        {"type": "function_call", "call_id": "c2", "name": "add", "arguments": "oops"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
        {"type": "function_call_output", "call_id": "c2", "output": "2"},
    ]

    _, said, first, second = convert_to_messages(messages(given))

    assert isinstance(said, AIMessage)
    assert (said.id, said.content) == ("m1", "Let me see.")
    assert [(each["id"], each["args"]) for each in said.tool_calls] == [
        ("c1", {"a": 1}),
        ("c2", {"arguments": "oops"}),
    ]
    assert [m.tool_call_id for m in (first, second) if isinstance(m, ToolMessage)] == ["c1", "c2"]


def test_tools_that_the_graph_ran_come_back_as_calls_with_results() -> None:
    error = {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "no"}]}
    given = [
        {"type": "mcp_call", "id": "mcp_c1", "name": "add", "arguments": "{}", "output": "3"},
        {"type": "mcp_call", "id": "mcp_c2", "name": "add", "arguments": "{}", "error": error},
    ]

    told = convert_to_messages(messages(given))

    assert [m.type for m in told] == ["ai", "tool", "ai", "tool"]
    assert [m.content for m in told if isinstance(m, ToolMessage)] == ["3", "no"]


@pytest.mark.parametrize(
    ("unanswered", "told_again"),
    [
        (
            {"type": "mcp_call", "id": "mcp_c", "name": "pay", "output": None},
            [{"type": "mcp_call", "id": "mcp_c~2", "name": "pay", "output": "paid"}],
        ),
        (
            {"type": "function_call", "call_id": "c", "name": "pay"},
            [
                {"type": "function_call", "call_id": "c~2", "name": "pay"},
                {"type": "function_call_output", "call_id": "c~2", "output": "paid"},
            ],
        ),
    ],
)
def test_a_call_that_was_told_twice_is_one_call_with_its_result(
    unanswered: dict[str, Any], told_again: list[dict[str, Any]]
) -> None:
    question = {"type": "mcp_approval_request", "id": "mcpr_1"}
    given = messages([USER, unanswered, question, *told_again])

    assert [message["role"] for message in given] == ["user", "assistant", "tool"]
    assert [call["id"] for call in given[1]["tool_calls"]] == ["c"]
    assert (given[2]["tool_call_id"], given[2]["content"]) == ("c", "paid")


def test_a_call_of_the_graph_that_never_had_a_result_gets_an_error_as_one() -> None:
    cut = {"type": "mcp_call", "id": "mcp_c", "name": "pay", "output": None, "error": None}

    *_, result = messages([USER, cut])

    assert (result["status"], result["tool_call_id"]) == ("error", "c")
    assert result["content"] == "This call was interrupted and has no result."


def test_outputs_answer_calls_by_their_original_ids() -> None:
    thread = held([ai("m1", tool_calls=[call("c1"), call("c2")])], {}, busy=False)
    given = [
        {"type": "function_call_output", "call_id": "c1", "output": "3"},
        {"type": "function_call_output", "call_id": "c2~2", "output": [], "id": "o1"},
    ]

    assert messages(given, thread) == [
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {"role": "tool", "tool_call_id": "c2", "content": "", "id": "o1"},
    ]


APPROVAL = {"type": "mcp_approval_response", "approval_request_id": "mcpr_i9", "approve": True}
OUTPUT = {"type": "function_call_output", "call_id": "c9", "output": "3"}


@pytest.mark.parametrize("answer", [APPROVAL, OUTPUT])
def test_an_answer_that_nothing_waits_for_is_left_out_of_a_turn_and_refused_alone(
    answer: dict[str, Any],
) -> None:
    assert messages([answer, USER]) == [USER]
    with pytest.raises(Refusal) as refused:
        messages([answer])
    assert (refused.value.status, refused.value.code) == (400, "nothing_to_answer")


@pytest.mark.parametrize(
    "item",
    [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "item_reference", "id": "m1"},
        {"id": "m1"},
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "n", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {"type": "something_new", "x": 1},
    ],
)
def test_items_without_a_message_are_tolerated(item: dict[str, Any]) -> None:
    assert messages([item, USER]) == [USER]


def test_instructions_are_a_system_message_that_the_next_turn_replaces_or_removes() -> None:
    first = messages("hi", instructions="Be brief.")
    assert first[0] == {"role": "system", "content": "Be brief.", "id": "instructions"}

    thread = held([{"type": "system", "id": "instructions", "content": "x"}], {}, busy=False)
    assert messages("hi", thread, instructions="Be long.")[0]["id"] == "instructions"
    put, removed = convert_to_messages(messages("hi", thread))[:2]
    assert isinstance(removed, RemoveMessage)
    assert put.id == removed.id
    assert removed.id == "instructions"


def test_the_request_asks_for_messages_on_a_thread_that_may_be_new() -> None:
    run = asked_for({"input": "hi", "metadata": {"k": "v"}, "temperature": 0.5, "model": "m"})

    assert (run.assistant, run.thread_id, run.run_id) == ("agent", "t", "r")
    assert (run.door, run.if_not_exists, run.keep_thread) == ("responses", "create", True)
    assert tuple(run.stream_modes) == ("messages-tuple", "updates", "custom")
    assert run.metadata == {"k": "v"}
    assert run.config["configurable"]["responses"] == {
        "metadata": {"k": "v"},
        "temperature": 0.5,
        "model": "m",
    }


@pytest.mark.parametrize(
    ("body", "dialect", "tool_items"),
    [
        ({}, "openai", "mcp_call"),
        ({"tool_items": "function_call"}, "openai", "function_call"),
        ({"custom_inputs": {}}, "mlflow", "function_call"),
        ({"context": {"user_id": "u"}}, "mlflow", "function_call"),
        ({"context": {}, "tool_items": "mcp_call"}, "mlflow", "mcp_call"),
        ({"custom_inputs": None}, "openai", "mcp_call"),
    ],
)
def test_the_dialect_follows_from_the_request(
    body: dict[str, Any], dialect: str, tool_items: str
) -> None:
    data = asked_for({"input": "hi", **body}).door_data

    assert (data["dialect"], data["tool_items"]) == (dialect, tool_items)


def test_what_was_asked_is_stored_for_the_fold() -> None:
    body = {
        "input": "hi",
        "background": True,
        "reasoning": {"effort": "low"},
        "text": {"verbosity": "low"},
        "tools": [{"type": "function", "name": "f"}],
        "unknown": 1,
    }

    data = asked_for(body).door_data

    assert (data["background"], data["stream"], data["model"]) == (True, False, "agent")
    assert data["projection_version"] == 1
    assert data["echo"] == {
        "reasoning": {"effort": "low", "summary": None},
        "text": {"format": {"type": "text"}, "verbosity": "low"},
        "tools": [{"type": "function", "name": "f"}],
    }


def test_null_inside_of_an_object_means_its_default() -> None:
    echo = asked_for({"input": "hi", "text": {"format": None}}).door_data["echo"]

    assert echo["text"] == {"format": {"type": "text"}}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": None}, "input"),
        ({"input": 7}, "input"),
        ({"input": {"role": "user"}}, "input"),
        ({"input": ["hi"]}, "input[0]"),
        ({"input": [USER, {"role": "robot", "content": "x"}]}, "input[1].role"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [7]}]}, "input"),
        ({"input": [{"type": "function_call", "call_id": "c"}]}, "input[0].name"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        (
            {"input": [{"type": "mcp_approval_response"}]},
            "input[0].approval_request_id",
        ),
        ({"input": "hi", "background": "yes"}, "background"),
        ({"input": "hi", "stream": 1}, "stream"),
        ({"input": "hi", "max_output_tokens": True}, "max_output_tokens"),
        ({"input": "hi", "temperature": "hot"}, "temperature"),
        ({"input": "hi", "metadata": []}, "metadata"),
        ({"input": "hi", "metadata": {"k": 1}}, "metadata.k"),
        ({"input": "hi", "metadata": {str(i): "" for i in range(17)}}, "metadata"),
        ({"input": "hi", "tools": {}}, "tools"),
        ({"input": "hi", "tools": ["f"]}, "tools[0]"),
        ({"input": "hi", "conversation": 7}, "conversation"),
        ({"input": "hi", "previous_response_id": 7}, "previous_response_id"),
        ({"input": "hi", "custom_inputs": "x"}, "custom_inputs"),
        ({"input": "hi", "tool_items": "none"}, "tool_items"),
        ({"input": "hi", "text": {"format": "json"}}, "text.format"),
        ({"input": "hi", "background": True, "store": False}, "store"),
    ],
)
def test_a_known_key_that_cannot_act_is_refused_by_name(body: dict[str, Any], param: str) -> None:
    with pytest.raises(Refusal) as refused:
        asked_for(body)

    assert (refused.value.status, refused.value.param) == (400, param)


@pytest.mark.parametrize(
    ("model", "served", "graph"),
    [
        (None, ["a"], "a"),
        (None, ["a", "b"], "a"),
        ("b", ["a", "b"], "b"),
        ("gpt-5", ["a"], "a"),
    ],
)
def test_the_model_selects_the_graph(model: str | None, served: list[str], graph: str) -> None:
    assert request.graph_of(model, served) == graph


# -- threads that hold something ----------------------------------------------------------------

TURN = [
    {"type": "human", "id": "u1", "content": "add"},
    ai("m1", "Sure.", tool_calls=[call("c1", a=1), call("c2")]),
    tool("c1", "1"),
]


def test_an_echoed_history_adds_only_what_the_thread_does_not_hold() -> None:
    echo = [
        {"role": "user", "content": "add"},
        {"type": "message", "role": "assistant", "id": "m1", "content": "Sure."},
        {"type": "mcp_call", "id": "mcp_c1", "name": "add", "output": "1"},
        {"type": "function_call_output", "call_id": "c2", "output": "2"},
        {"role": "user", "content": "and?"},
    ]

    added = messages(echo, held(TURN, {}, busy=False))

    assert added == [
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
        {"role": "user", "content": "and?"},
    ]


@pytest.mark.parametrize(
    "known",
    [
        {"type": "function_call", "call_id": "c2", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1~2", "output": "1"},
        {"type": "mcp_call", "id": "mcp_c2", "name": "add"},
        {"type": "message", "role": "assistant", "id": "m1~2", "content": "x"},
        {"type": "item_reference", "id": "u1"},
    ],
)
def test_items_are_recognised_by_their_ids(known: dict[str, Any]) -> None:
    thread = held(TURN, {}, busy=True)

    assert messages([{"role": "user", "content": "old"}, known, USER], thread) == [USER]


def test_dangling_calls_are_answered_before_the_turn_unless_the_input_or_a_run_does() -> None:
    assert [m.get("tool_call_id") for m in messages("hi", held(TURN, {}, busy=False))] == [
        "c2",
        None,
    ]
    assert messages("hi", held(TURN, {}, busy=True)) == [USER]
    answer = {"type": "function_call_output", "call_id": "c2", "output": "2"}
    [only] = messages([answer], held(TURN, {}, busy=False))
    assert only["content"] == "2"


@pytest.mark.parametrize("channel", [None, "text", [("human", "hi")], {}])
def test_a_channel_without_message_objects_holds_nothing(channel: Any) -> None:
    assert held(channel, {}, busy=False) == NOTHING


def test_calls_of_an_earlier_message_are_left_alone() -> None:
    thread = held([*TURN, {"type": "human", "id": "u2", "content": "?"}], {}, busy=False)

    assert messages("hi", thread) == [USER]


def test_an_answer_takes_along_what_earlier_responses_told() -> None:
    thread = held(TURN, {"i1": "sure?"}, busy=False)
    answer = {"type": "mcp_approval_response", "approval_request_id": "mcpr_i1", "approve": True}

    run = asked_for({"input": [answer]}, thread)

    assert (run.command, run.input) == ({"resume": {"i1": True}}, None)
    assert tuple(run.door_data["told"]) == ("m1", "tm_c1")
    assert run.door_data["calls"] == {"c2": {"name": "add", "arguments": "{}"}}


# -- beside an answer -----------------------------------------------------------------------------

ANSWER = {"type": "mcp_approval_response", "approval_request_id": "mcpr_i1", "approve": True}
ASKED = {
    "type": "mcp_approval_request",
    "id": "mcpr_i1",
    "server_label": "langgraph",
    "name": "interrupt",
    "arguments": '"sure?"',
}
CALLED = {"type": "function_call_output", "call_id": "c2", "output": "5"}
RESULT = {"role": "tool", "tool_call_id": "c2", "content": "5"}


def asking() -> Held:
    return held(TURN, {"i1": "sure?"}, busy=False)


@pytest.mark.parametrize(
    "given",
    [
        [ANSWER, USER],
        [USER, ANSWER],
        [USER, ASKED, ANSWER, USER],
        [USER, ASKED, USER, ANSWER],
        [ASKED, ANSWER, {"role": "system", "content": "be brief"}],
    ],
)
def test_a_message_beside_an_answer_is_refused_rather_than_lost(given: list[Any]) -> None:
    with pytest.raises(Refusal, match="in the request behind it") as refused:
        asked_for({"input": given}, asking())
    assert (refused.value.status, refused.value.param) == (400, "input")
    assert refused.value.code == "message_beside_answer"


@pytest.mark.parametrize(
    "given",
    [
        [USER, ASKED, ANSWER],
        [USER, {"role": "assistant", "content": "hm"}, ASKED, ANSWER],
        [{**USER, "id": "u1"}, ANSWER],
    ],
)
def test_a_history_in_front_of_an_answer_is_none(given: list[Any]) -> None:
    assert asked_for({"input": given}, asking()).command == {"resume": {"i1": True}}


@pytest.mark.parametrize(
    "given", [[CALLED, ANSWER], [ANSWER, CALLED], [USER, ASKED, ANSWER, CALLED]]
)
def test_a_result_beside_an_answer_comes_along(given: list[Any]) -> None:
    run = asked_for({"input": given}, asking())
    assert run.command == {"resume": {"i1": True}, "update": {"messages": [RESULT]}}


@pytest.mark.parametrize("written", [[USER], USER])
def test_a_result_stands_in_front_of_what_the_answer_itself_writes(written: Any) -> None:
    output = orjson.dumps({"resume": 1, "update": {"messages": written, "note": "n"}}).decode()
    answer = {"type": "function_call_output", "call_id": "i1", "output": output}
    run = asked_for({"input": [answer, CALLED]}, asking())
    assert run.command == {
        "resume": {"i1": 1},
        "update": {"messages": [RESULT, USER], "note": "n"},
    }
