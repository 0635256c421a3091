"""Many messages, one open text: parallel nodes, tools' insides, subgraphs and odd messages."""

from __future__ import annotations

from typing import Any

from .logs import Log, a_run, ai, call, call_chunk, chunk, kinds, told, tool


def texts(log: Log, **run: Any) -> list[tuple[str, str]]:
    """The terminal output's texts, by item id."""
    items = told(log, a_run(**run))[-1]["response"]["output"]
    return [(item["id"], item["content"][0]["text"]) for item in items if "content" in item]


def interleaved(*words: tuple[str, str, bool]) -> Log:
    log = Log().start()
    for name, word, last in words:
        log.says(name, word, at=f"{name}:t_{name}", last=last)
    return log


def test_parallel_texts_are_told_one_after_the_other() -> None:
    log = interleaved(
        ("a", "a1", False), ("b", "b1", False), ("a", "a2", True), ("b", "b2", True)
    ).end()

    frames = told(log)

    deltas = [(f["item_id"], f["delta"]) for f in frames if f["type"].endswith("text.delta")]
    assert deltas == [("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]
    opened = [f["output_index"] for f in frames if f["type"].endswith("item.added")]
    assert opened == [0, 1]


def test_a_message_without_a_last_chunk_ends_with_its_node() -> None:
    log = interleaved(("a", "a1", False), ("b", "b1", False))
    log.updates("a", ai("a", "a1"), task="t_a")

    assert kinds(told(log))[-4:] == [
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
    ]


def test_a_text_that_waits_still_waits_when_its_node_has_finished() -> None:
    log = interleaved(("a", "a1", False), ("b", "b1", False))
    log.updates("b", ai("b", "b1"), task="t_b").says("a", "a2", at="a:t_a").end()

    assert texts(log) == [("a", "a1a2"), ("b", "b1")]


def test_the_result_of_a_call_that_waits_comes_behind_the_call() -> None:
    log = interleaved(("a", "a1", False), ("b", "let me add", False))
    log.message(call_chunk("b", "{}", call_id="c1", tool="add", last=True), at="b:t_b")
    log.message(tool("c1", "3"), at="tools:t2").says("a", "a2", at="a:t_a").end()

    items = told(log)[-1]["response"]["output"]

    assert [item["id"] for item in items] == ["a", "b", "mcp_c1"]
    assert items[2]["output"] == "3"


def test_text_behind_a_tool_call_is_an_item_of_its_own() -> None:
    log = Log().start().says("m1", "one", last=False)
    log.message(call_chunk("m1", "{}", call_id="c1", tool="add")).says("m1", "two").end()

    items = told(log)[-1]["response"]["output"]

    assert [item["id"] for item in items] == ["m1", "mcp_c1", "m1~2"]


def test_a_message_that_came_in_chunks_and_whole_is_told_once() -> None:
    log = Log().start().says("m1", "hallo").message(ai("m1", "hallo"))

    assert texts(log.updates("model", ai("m1", "hallo")).end()) == [("m1", "hallo")]


def test_a_whole_message_completes_what_the_chunks_left_out() -> None:
    log = Log().start().says("m1", "hal", last=False)
    log.updates("model", ai("m1", "hallo", tool_calls=[call("c1", a=1)])).end()

    items = told(log)[-1]["response"]["output"]

    assert items[0]["content"][0]["text"] == "hallo"
    assert items[1]["arguments"] == '{"a":1}'


def test_what_a_tool_says_inside_is_not_the_answer_but_is_paid_for() -> None:
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    log = Log().start().message(ai("m1", tool_calls=[call("c1")]))
    log.says("inner", "psst", at="tools:t2|model:t3")
    log.message(ai("inner2", "psst", usage_metadata=usage), at="tools:t2")
    log.message(tool("c9", "inner result"), at="tools:t2|tools:t4")
    log.message(tool("c1", "outer result"), at="tools:t2").end()

    last = told(log)[-1]["response"]

    assert [(item["id"], item["output"]) for item in last["output"]] == [("mcp_c1", "outer result")]
    assert last["usage"]["total_tokens"] == 2


def test_a_subgraph_speaks_with_the_same_voice() -> None:
    log = Log().start().says("m1", "deep", at="agent:t1|model:t2")
    log.add("updates|agent:t1", {"model": {"messages": [ai("m1", "deep")]}}, "t2")
    history = [{"type": "human", "id": "h", "content": "?"}, ai("m1", "deep")]
    log.add("updates", {"agent": {"messages": history}}, "t1")

    assert texts(log.end()) == [("m1", "deep")]


def test_a_node_that_returns_the_whole_history_adds_only_the_latest_turn() -> None:
    history = [
        ai("old", "earlier answer"),
        {"type": "human", "id": "h", "content": "?"},
        ai("m1", "new answer"),
    ]
    log = Log().start().add("updates", {"agent": {"messages": history}}, "t1").end()

    assert texts(log) == [("m1", "new answer")]


def test_a_run_whose_log_has_no_messages_is_told_from_its_updates() -> None:
    log = Log().start().updates("model", ai("m1", tool_calls=[call("c1")]))
    log.updates("tools", tool("c1", "3"), task="t2").updates("model", ai("m2", "3"), task="t3")

    items = told(log.end())[-1]["response"]["output"]

    assert [item["id"] for item in items] == ["mcp_c1", "m2"]


def test_messages_of_people_and_of_earlier_responses_are_not_told() -> None:
    log = Log().start().message({"type": "human", "id": "h", "content": "hi"})
    log.updates("model", ai("m1", "before the question")).says("m2", "after it").end()

    assert texts(log, door={"told": ["m1"]}) == [("m2", "after it")]


def test_the_result_of_a_call_of_an_earlier_response_brings_the_call_along() -> None:
    calls = {"c1": {"name": "refund", "arguments": '{"id":7}'}}
    log = Log().start().message(tool("c1", "done", name="refund"), at="tools:t2").end()

    plain = told(log, a_run(door={"calls": calls}))[-1]["response"]["output"]
    pairs = told(log, a_run(door={"calls": calls, "tool_items": "function_call"}))

    [item] = plain
    assert (item["type"], item["name"], item["arguments"]) == ("mcp_call", "refund", '{"id":7}')
    assert [i["type"] for i in pairs[-1]["response"]["output"]] == ["function_call_output"]


def test_a_tool_result_of_rich_content_is_json_text() -> None:
    image = [{"type": "image", "url": "https://example.org/a.png"}]
    log = Log().start().message(ai("m1", tool_calls=[call("c1"), call("c2")]))
    log.message(tool("c1", image), at="tools:t2")
    log.message(tool("c2", [{"type": "text", "text": "plain"}]), at="tools:t3").end()

    first, second = told(log)[-1]["response"]["output"]

    assert first["output"] == '[{"type":"image","url":"https://example.org/a.png"}]'
    assert second["output"] == "plain"


def test_questions_become_approval_requests_and_the_response_is_completed() -> None:
    log = Log().start().message(ai("m1", tool_calls=[call("c1")]))
    log.end(interrupts=[{"id": "i1", "value": {"q": "pay?"}}])

    frames = told(log)

    last = frames[-1]["response"]
    assert last["status"] == "completed"
    assert [item["status"] for item in last["output"] if "status" in item] == ["incomplete"]
    assert last["output"][1] == {
        "id": "mcpr_i1",
        "type": "mcp_approval_request",
        "server_label": "langgraph",
        "name": "interrupt",
        "arguments": '{"q":"pay?"}',
    }
    assert kinds(frames)[-3:] == ["output_item.added", "output_item.done", "completed"]


def test_a_graph_without_messages_answers_with_its_values() -> None:
    log = Log().start().add("updates", {"echo": {"y": 1}}, "t1").end()

    [item] = told(log, a_run(output='{"x":1,"y":1}'))[-1]["response"]["output"]

    assert item["content"][0]["text"] == '{"x":1,"y":1}'


def test_a_chat_graph_that_said_nothing_answers_nothing() -> None:
    log = Log().start().end()

    assert texts(log, output='{"messages":[]}') == []


def test_other_events_add_nothing() -> None:
    log = Log().start().add("custom", {"step": 1}).add("values", {"messages": []})
    log.add("checkpoint", "").add("updates", {"__interrupt__": []}).add("updates", {"n": None})

    assert kinds(told(log)) == ["created", "in_progress"]


def test_a_chunk_that_only_continues_an_unknown_call_is_left_out() -> None:
    log = Log().start().message(call_chunk("m1", "}", index=4)).message(chunk("m1", "hi"))

    assert texts(log.end()) == [("m1", "hi")]
