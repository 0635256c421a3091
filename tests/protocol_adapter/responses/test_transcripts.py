"""The event sequences that clients rely on, one for each kind of ending and item."""

from __future__ import annotations

from itertools import pairwise

import pytest

from langgraph_durable.model import RunStatus

from .logs import (
    CREATED_AT,
    FINISHED_AT,
    RESPONSE_ID,
    Log,
    a_run,
    ai,
    call,
    call_chunk,
    chunk,
    kinds,
    told,
    tool,
)

TEXT_ITEM = [
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
]
BACKGROUND = a_run(door={"background": True})


def test_text_is_told_with_its_whole_life() -> None:
    frames = told(Log().start().says("m1", "hal", "lo").updates("model", ai("m1", "hallo")).end())

    assert kinds(frames) == ["created", "in_progress", *TEXT_ITEM, "completed"]
    assert [f["sequence_number"] for f in frames] == list(range(len(frames)))
    assert [f["delta"] for f in frames if f["type"] == "response.output_text.delta"] == [
        "hal",
        "lo",
    ]
    item = {
        "id": "m1",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [
            {"type": "output_text", "text": "hallo", "annotations": [], "logprobs": []},
        ],
    }
    added, done = (f for f in frames if "item" in f)
    assert added["item"] == {**item, "status": "in_progress", "content": []}
    assert done["item"] == item
    last = frames[-1]["response"]
    assert (last["status"], last["output"]) == ("completed", [item])
    assert (last["created_at"], last["completed_at"]) == (CREATED_AT, FINISHED_AT)


def test_a_foreground_response_is_in_progress_at_once() -> None:
    frames = told(Log())

    assert kinds(frames) == ["created", "in_progress"]
    assert {f["response"]["status"] for f in frames} == {"in_progress"}
    assert frames[0]["response"]["id"] == RESPONSE_ID


def test_a_background_response_is_queued_until_its_run_starts() -> None:
    log = Log()
    assert kinds(told(log, BACKGROUND)) == ["created", "queued"]

    frames = told(log.start().says("m1", "hi").end(), BACKGROUND)

    assert kinds(frames) == ["created", "queued", "in_progress", *TEXT_ITEM, "completed"]
    statuses = [f["response"]["status"] for f in frames if "response" in f]
    assert statuses == ["queued", "queued", "in_progress", "completed"]


def test_a_call_of_a_client_tool_is_a_function_call() -> None:
    run = a_run(door={"echo": {"tools": [{"type": "function", "name": "weather"}]}})
    log = Log().start()
    log.message(call_chunk("m1", '{"city"', call_id="c1", tool="weather"))
    log.message(call_chunk("m1", ': "Graz"}', last=True))
    log.updates("model", ai("m1", tool_calls=[call("c1", "weather", city="Graz")])).end()

    frames = told(log, run)

    assert kinds(frames) == [
        "created",
        "in_progress",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert frames[-1]["response"]["output"] == [
        {
            "id": "fc_c1",
            "type": "function_call",
            "status": "completed",
            "call_id": "c1",
            "name": "weather",
            "arguments": '{"city": "Graz"}',
        }
    ]
    done = next(f for f in frames if f["type"].endswith("arguments.done"))
    assert (done["name"], done["arguments"]) == ("weather", '{"city": "Graz"}')
    assert frames[-1]["response"]["tools"][0]["strict"] is None


def a_turn_with_a_tool() -> Log:
    log = Log().start()
    log.message(call_chunk("m1", '{"a": 1}', call_id="c1", tool="add", last=True))
    log.updates("model", ai("m1", tool_calls=[call("c1", a=1)]))
    log.message(tool("c1", "3"), at="tools:t2").updates("tools", tool("c1", "3"), task="t2")
    return log.says("m2", "it is ", "3", at="model:t3").end()


def test_a_tool_that_the_graph_runs_is_an_mcp_call() -> None:
    frames = told(a_turn_with_a_tool())

    assert kinds(frames) == [
        "created",
        "in_progress",
        "output_item.added",
        "mcp_call.in_progress",
        "mcp_call_arguments.delta",
        "mcp_call_arguments.done",
        "mcp_call.completed",
        "output_item.done",
        *TEXT_ITEM,
        "completed",
    ]
    called, text = frames[-1]["response"]["output"]
    assert called == {
        "id": "mcp_c1",
        "type": "mcp_call",
        "status": "completed",
        "server_label": "langgraph",
        "approval_request_id": None,
        "name": "add",
        "arguments": '{"a": 1}',
        "output": "3",
        "error": None,
    }
    assert text["content"][0]["text"] == "it is 3"


def test_a_tool_that_failed_is_a_failed_mcp_call() -> None:
    log = Log().start().message(ai("m1", tool_calls=[call("c1")]))
    log.message(tool("c1", "no such city", status="error"), at="tools:t2").end()

    frames = told(log)

    assert "mcp_call.failed" in kinds(frames)
    [item] = frames[-1]["response"]["output"]
    assert (item["status"], item["output"]) == ("failed", None)
    assert item["error"] == {
        "type": "mcp_tool_execution_error",
        "content": [{"type": "text", "text": "no such city"}],
    }


def test_in_the_other_dialect_a_tool_is_a_function_call_and_its_output() -> None:
    run = a_run(door={"dialect": "mlflow", "tool_items": "function_call"})

    frames = told(a_turn_with_a_tool(), run)

    called, output, _ = frames[-1]["response"]["output"]
    assert (called["type"], called["call_id"]) == ("function_call", "c1")
    assert output == {
        "id": "tm_c1",
        "type": "function_call_output",
        "call_id": "c1",
        "output": "3",
        "status": "completed",
    }
    assert {f["response_id"] for f in frames} == {RESPONSE_ID}


def test_frames_of_the_plain_dialect_do_not_repeat_the_response_id() -> None:
    assert not any("response_id" in frame for frame in told(a_turn_with_a_tool()))


def test_reasoning_is_told_as_a_summary_in_front_of_the_text() -> None:
    log = Log().start()
    log.message(chunk("m1", [{"type": "reasoning", "reasoning": "three"}]))
    log.message(chunk("m1", [{"type": "reasoning", "reasoning": "!"}]))
    log.says("m1", "3").end()

    frames = told(log)

    assert kinds(frames) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        *TEXT_ITEM,
        "completed",
    ]
    assert frames[-1]["response"]["output"][0] == {
        "id": "rs_m1",
        "type": "reasoning",
        "status": "completed",
        "summary": [{"type": "summary_text", "text": "three!"}],
    }


def test_a_refusal_is_told_as_one() -> None:
    refused = ai("m1", additional_kwargs={"refusal": "I may not."})

    frames = told(Log().start().message(refused).end())

    names = kinds(frames)
    assert names[3:7] == [
        "content_part.added",
        "refusal.delta",
        "refusal.done",
        "content_part.done",
    ]
    [item] = frames[-1]["response"]["output"]
    assert item["content"] == [{"type": "refusal", "refusal": "I may not."}]


def test_a_failed_run_closes_its_text_and_tells_the_error() -> None:
    log = Log().start().says("m1", "hal", last=False)
    log.end("error", error={"error": "ValueError", "message": "boom"})

    frames = told(log, a_run(status=RunStatus.ERROR))

    assert kinds(frames) == ["created", "in_progress", *TEXT_ITEM, "failed"]
    last = frames[-1]["response"]
    assert last["status"] == "failed"
    assert last["error"] == {
        "code": "server_error",
        "message": "boom",
        "type": "server_error",
        "param": None,
    }
    assert [item["status"] for item in last["output"]] == ["incomplete"]


@pytest.mark.parametrize(
    ("reason", "details"),
    [("length", "max_output_tokens"), ("content_filter", "content_filter")],
)
def test_a_text_that_was_cut_short_makes_the_response_incomplete(reason: str, details: str) -> None:
    log = Log().start().says("m1", "hal", last=False)
    log.message(chunk("m1", chunk_position="last", response_metadata={"finish_reason": reason}))

    frames = told(log.end())

    assert frames[-1]["type"] == "response.incomplete"
    last = frames[-1]["response"]
    assert (last["status"], last["incomplete_details"]) == ("incomplete", {"reason": details})


def test_only_the_last_message_decides_whether_the_response_is_cut_short() -> None:
    log = Log().start().message(ai("m1", "a", response_metadata={"finish_reason": "length"}))

    frames = told(log.message(ai("m2", "b")).end())

    assert frames[-1]["type"] == "response.completed"


def test_a_cancelled_run_ends_incomplete_with_status_cancelled() -> None:
    log = Log().start().says("m1", "hal", last=False).end("interrupted")

    frames = told(log, a_run(status=RunStatus.INTERRUPTED))

    assert kinds(frames) == ["created", "in_progress", *TEXT_ITEM, "incomplete"]
    last = frames[-1]["response"]
    assert (last["status"], last["incomplete_details"]) == ("cancelled", None)
    assert last["error"] is None


def test_a_run_cancelled_before_it_started_has_just_its_end() -> None:
    frames = told(Log().end("interrupted"), BACKGROUND)

    assert kinds(frames) == ["created", "queued", "incomplete"]


def test_a_crash_closes_the_text_shows_what_was_told_and_goes_on_behind_it() -> None:
    log = Log().start().says("m1", "hal", last=False)
    log.recovered().says("m2", "hallo").updates("model", ai("m2", "hallo")).end()

    frames = told(log, a_run(door={"echo": {"metadata": {"k": "v"}}}))

    assert kinds(frames) == [
        "created",
        "in_progress",
        *TEXT_ITEM,
        "in_progress",
        "resumed",
        *TEXT_ITEM,
        "completed",
    ]
    again = next(f for f in frames[2:] if f["type"] == "response.in_progress")
    resumed = frames[again["sequence_number"] + 1]
    assert [item["status"] for item in again["response"]["output"]] == ["incomplete"]
    assert again["response"]["metadata"] == {"k": "v", "attempt": "2"}
    assert resumed == {
        "type": "response.resumed",
        "sequence_number": resumed["sequence_number"],
        "attempt": 2,
        "from_seq": resumed["sequence_number"],
        "conversation_id": RESPONSE_ID,
    }
    assert [item["id"] for item in frames[-1]["response"]["output"]] == ["m2"]
    assert [f["output_index"] for f in frames if f["type"].endswith("item.added")] == [0, 1]


def test_a_rotated_conversation_is_named_in_every_later_snapshot() -> None:
    rotated = f"{RESPONSE_ID}::attempt-2"
    log = Log().start().says("m1", "hal", last=False)
    log.recovered(strategy="event_log", conversation_id=rotated).says("m2", "hallo").end()

    frames = told(log)

    named = [f["response"]["conversation"]["id"] for f in frames if "response" in f]
    assert named == [RESPONSE_ID, RESPONSE_ID, rotated, rotated]


def test_there_is_one_created_and_one_terminal_event_over_many_attempts() -> None:
    log = Log().start().recovered(2).recovered(3).says("m1", "hi").end()

    names = kinds(told(log))

    assert names.count("created") == 1
    assert [name for name in names if name in ("completed", "failed", "incomplete")] == [
        "completed"
    ]
    assert names.count("resumed") == 2
    assert all(one != "created" for _, one in pairwise(names))
