"""What a crash takes back and what goes on behind it, in the stream and in the end."""

from __future__ import annotations

from typing import Any

from protocol_adapter.responses.stream import Frame

from .logs import Log, a_run, ai, call, call_chunk, chunk, kinds, told, tool

PAIRS = a_run(door={"tool_items": "function_call"})


def output(frames: list[Frame]) -> list[dict[str, Any]]:
    found = frames[-1]["response"]["output"]
    assert isinstance(found, list)
    return found


def shown(items: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(item["id"], item["status"]) for item in items]


def snapshot(frames: list[Frame]) -> list[dict[str, Any]]:
    """The items of the snapshot in front of the last ``response.resumed``."""
    at = max(i for i, f in enumerate(frames) if f["type"] == "response.resumed")
    found = frames[at - 1]["response"]["output"]
    assert isinstance(found, list)
    return found


def called(name: str = "m1", *ids: str) -> Log:
    calls = [call(each) for each in ids or ("c1",)]
    log = Log().start().message(ai(name, tool_calls=calls))
    return log.updates("model", ai(name, tool_calls=calls))


def test_a_tool_that_was_running_completes_in_the_item_it_was_announced_in() -> None:
    log = called().recovered(open_tool_call_ids=["c1"])
    log.message(tool("c1", "3"), at="tools:t2").says("m2", "3", at="model:t3").end()

    frames = told(log)

    assert kinds(frames)[2:8] == [
        "output_item.added",
        "mcp_call.in_progress",
        "mcp_call_arguments.delta",
        "mcp_call_arguments.done",
        "in_progress",
        "resumed",
    ]
    assert shown(snapshot(frames)) == [("mcp_c1", "in_progress")]
    assert shown(output(frames)) == [("mcp_c1", "completed"), ("m2", "completed")]


def test_in_the_other_dialect_only_the_output_of_that_tool_follows() -> None:
    log = called().recovered(open_tool_call_ids=["c1"])
    log.message(tool("c1", "3"), at="tools:t2").end()

    frames = told(log, PAIRS)

    assert [item["type"] for item in output(frames)] == ["function_call", "function_call_output"]


def test_of_several_calls_only_those_still_pending_stay_open() -> None:
    log = called("m1", "c1", "c2", "c3").message(tool("c1", "1"), at="tools:t2")
    log.recovered(open_tool_call_ids=["c2"]).message(tool("c2", "2"), at="tools:t3").end()

    frames = told(log)

    assert shown(snapshot(frames)) == [
        ("mcp_c1", "completed"),
        ("mcp_c2", "in_progress"),
        ("mcp_c3", "incomplete"),
    ]
    assert [item["status"] for item in output(frames)] == ["completed", "completed", "incomplete"]


def test_a_message_that_no_checkpoint_holds_is_void_with_its_calls() -> None:
    log = Log().start().message(ai("m1", "Let me add.", tool_calls=[call("c1")]))
    log.recovered(open_tool_call_ids=["c1"])
    log.message(ai("m2", tool_calls=[call("c9")])).message(tool("c9", "3"), at="tools:t2").end()

    frames = told(log)

    assert shown(snapshot(frames)) == [("m1", "completed"), ("mcp_c1", "incomplete")]
    assert shown(output(frames)) == [("mcp_c9", "completed")]


def test_a_message_in_the_checkpoint_stays_even_when_its_update_was_not_logged() -> None:
    log = Log().start().says("m1", "first")
    log.recovered(values={"messages": [ai("m1", "first")]}).says("m2", "second", at="b:t2").end()

    assert [item["id"] for item in output(told(log))] == ["m1", "m2"]


def test_a_finished_branch_of_an_unfinished_step_stays() -> None:
    log = Log().start().says("m1", "left", at="left:t1").updates("left", ai("m1", "left"))
    log.says("m2", "ri", at="right:t2", last=False).recovered(values={"messages": []})
    log.says("m3", "right", at="right:t2").end()

    assert [item["id"] for item in output(told(log))] == ["m1", "m3"]


def test_a_node_confirms_its_message_by_its_task_when_it_returns_something_else() -> None:
    log = Log().start().says("m1", "thinking", at="plan:t1")
    log.add("updates", {"plan": {"plan": "a"}}, "t1").recovered()

    assert [item["id"] for item in output(told(log.end()))] == ["m1"]


def test_a_task_that_speaks_again_after_a_crash_voids_what_it_said_before() -> None:
    log = Log().start().says("m1", "one").updates("model", ai("m1", "one")).recovered()

    frames = told(log.says("m2", "two").end())

    assert [item["id"] for item in output(frames)] == ["m2"]


def test_repeated_ids_get_names_of_their_own() -> None:
    """Scripted models and nodes that choose ids say the same ones in every attempt."""
    log = Log().start().message(ai("m1", "x", tool_calls=[call("c1")])).recovered()
    log.message(ai("m1", "x", tool_calls=[call("c1")])).message(tool("c1", "3"), at="tools:t2")

    frames = told(log.end(), PAIRS)

    assert [item["id"] for item in output(frames)] == ["m1~2", "fc_c1~2", "tm_c1"]
    assert [item.get("call_id") for item in output(frames)] == [None, "c1~2", "c1~2"]


def test_a_rotated_attempt_starts_from_nothing() -> None:
    log = called().message(tool("c1", "3"), at="tools:t2").updates("tools", tool("c1", "3"))
    log.says("m2", "hal", at="model:t3", last=False)
    log.recovered(strategy="event_log", conversation_id="x::attempt-2")
    log.says("m3", "It was 3.", at="model:u1").end()

    frames = told(log, PAIRS)

    assert len(snapshot(frames)) == 3
    assert shown(output(frames)) == [("m3", "completed")]


def test_a_deploy_takes_nothing_back_even_where_crashes_rotate() -> None:
    log = called().recovered(strategy="event_log", reason="deploy", open_tool_call_ids=["c1"])
    log.message(tool("c1", "3"), at="tools:t2").end()

    frames = told(log)

    assert "resumed" in kinds(frames)
    assert shown(output(frames)) == [("mcp_c1", "completed")]


def test_a_call_whose_arguments_were_cut_off_is_closed() -> None:
    log = Log().start().message(call_chunk("m1", '{"a"', call_id="c1", tool="add")).recovered()

    frames = told(log.says("m2", "hi").end(), PAIRS)

    [cut] = snapshot(frames)
    assert (cut["arguments"], cut["status"]) == ('{"a"', "incomplete")
    assert [item["id"] for item in output(frames)] == ["m2"]


def test_a_waiting_message_is_told_if_its_node_had_finished_and_dropped_otherwise() -> None:
    log = Log().start().says("m1", "open", at="a:t1", last=False)
    log.says("m2", "kept", at="b:t2").updates("b", ai("m2", "kept"), task="t2")
    log.says("m3", "lost", at="c:t3").recovered()

    frames = told(log.says("m4", "again", at="a:t1").says("m5", "new", at="c:t3").end())

    assert shown(snapshot(frames)) == [("m1", "incomplete"), ("m2", "completed")]
    assert [item["id"] for item in output(frames)] == ["m2", "m4", "m5"]


def test_tokens_of_abandoned_attempts_are_counted() -> None:
    spent = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    log = Log().start().message(ai("m1", "a", usage_metadata=spent)).recovered()

    frames = told(log.message(ai("m2", "b", usage_metadata=spent)).end())

    assert frames[-1]["response"]["usage"]["total_tokens"] == 14


def test_usage_of_chunks_is_summed_and_not_counted_again_from_the_whole_message() -> None:
    first = {"input_tokens": 5, "output_tokens": 0, "total_tokens": 5}
    first["input_token_details"] = {"cache_read": 3}  # type: ignore[assignment]
    then = {"input_tokens": 0, "output_tokens": 2, "total_tokens": 2}
    then["output_token_details"] = {"reasoning": 1}  # type: ignore[assignment]
    whole = {**first, **then, "input_tokens": 5, "total_tokens": 7}
    log = Log().start().message(chunk("m1", "a", usage_metadata=first))
    log.message(chunk("m1", "b", usage_metadata=then, chunk_position="last"))

    frames = told(log.updates("model", ai("m1", "ab", usage_metadata=whole)).end())

    assert frames[-1]["response"]["usage"] == {
        "input_tokens": 5,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 1},
        "total_tokens": 7,
    }
