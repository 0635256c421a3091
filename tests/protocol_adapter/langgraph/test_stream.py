"""The projection of a log into frames, and the law that a cursor only ever drops a prefix."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_durable.model import BEGINNING, Cursor, Event, RunStatus
from langgraph_durable.serde import encode
from protocol_adapter.langgraph.stream import (
    Projection,
    View,
    cursor_of,
    finished,
    live_from,
    view_of,
)
from tests.contract.frames import Frame, read_frames
from tests.protocol_adapter.langgraph.samples import log, run

CREATED = ("created", {"run_id": "r1"})
STARTED = ("started", {"attempt": 1})
DONE: tuple[str, Any] = ("end", {"status": "success", "error": None, "interrupts": []})


def seen(events: list[Event], *modes: str, after: int = BEGINNING, **view: Any) -> list[Frame]:
    return read_frames(sent(events, View(modes=frozenset(modes), **view), after))


def sent(events: list[Event], view: View, after: int) -> bytes:
    projection = Projection(view, Cursor(after))
    read = [event for event in events if event.seq > projection.start]
    return b"".join(map(projection.frames, read))


def names(frames: list[Frame]) -> list[str]:
    return [frame.event for frame in frames]


def chunk(content: str, message_id: str = "m1", **more: Any) -> list[Any]:
    message = {"type": "AIMessageChunk", "content": content, "id": message_id, **more}
    return [message, {"langgraph_node": "model"}]


def test_a_stream_opens_with_metadata_and_closes_with_end() -> None:
    frames = seen(log(CREATED, STARTED, ("values", {"x": 1}), DONE), "values")
    assert [(f.event, f.data, f.id) for f in frames] == [
        ("metadata", {"run_id": "r1", "attempt": 1}, 0),
        ("values", {"x": 1}, 2),
        ("end", {"run_id": "r1", "status": "success"}, 3),
    ]


def test_data_goes_out_exactly_as_the_log_has_it() -> None:
    text = '{"b": 1,"a":"\\u2028"}'
    event = Event(run_id="r1", seq=7, attempt=1, name="values", data=text)
    assert sent([event], View(modes=frozenset({"values"})), BEGINNING) == (
        b'event: values\r\ndata: {"b": 1,"a":"\\u2028"}\r\nid: 7\r\n\r\n'
    )


def test_modes_nobody_asked_for_are_hidden() -> None:
    events = log(CREATED, ("values", 1), ("updates", 2), ("custom", 3), ("checkpoint", ""), DONE)
    assert names(seen(events, "custom")) == ["metadata", "custom", "end"]


def test_parts_of_subgraphs_appear_only_when_asked_for() -> None:
    events = log(("updates", 1), ("updates|child:1", 2), ("messages|child:1", chunk("a")))
    assert names(seen(events, "updates", "messages-tuple")) == ["updates"]
    assert names(seen(events, "updates", "messages-tuple", subgraphs=True)) == [
        "updates",
        "updates|child:1",
        "messages|child:1",
    ]


def test_messages_tuple_is_the_event_messages_with_chunk_and_metadata() -> None:
    [frame] = seen(log(("messages", chunk("Hel"))), "messages-tuple")
    assert frame.event == "messages"
    assert frame.data[0]["content"] == "Hel"
    assert frame.data[1] == {"langgraph_node": "model"}


def test_messages_grow_and_their_metadata_comes_once() -> None:
    events = log(("messages", chunk("Hel")), ("messages", chunk("lo")))
    frames = seen(events, "messages")
    assert [(f.event, f.id) for f in frames] == [
        ("messages/metadata", None),
        ("messages/partial", 0),
        ("messages/partial", 1),
    ]
    assert frames[0].data == {"m1": {"metadata": {"langgraph_node": "model"}}}
    assert [f.data[0]["content"] for f in frames[1:]] == ["Hel", "Hello"]
    assert {f.data[0]["type"] for f in frames[1:]} == {"ai"}


def test_tool_call_chunks_add_up_to_a_tool_call() -> None:
    head = {"name": "add", "args": '{"a": 2', "id": "c1", "index": 0, "type": "tool_call_chunk"}
    tail = {"name": None, "args": ', "b": 3}', "id": None, "index": 0, "type": "tool_call_chunk"}
    events = log(
        ("messages", chunk("", tool_call_chunks=[head])),
        ("messages", chunk("", tool_call_chunks=[tail])),
    )
    [call] = seen(events, "messages")[-1].data[0]["tool_calls"]
    assert call == {"name": "add", "args": {"a": 2, "b": 3}, "id": "c1", "type": "tool_call"}


def test_a_message_that_comes_whole_is_complete() -> None:
    tool = {"type": "tool", "content": "5", "id": "m2", "tool_call_id": "c1"}
    frames = seen(log(("messages", [tool, {}])), "messages")
    assert names(frames) == ["messages/metadata", "messages/complete"]
    assert frames[1].data == [tool]


def test_tuples_win_when_both_message_modes_are_asked_for() -> None:
    events = log(("messages", chunk("a")))
    assert names(seen(events, "messages", "messages-tuple")) == ["messages"]


def test_growing_messages_never_carry_a_namespace() -> None:
    events = log(("messages|child:1", chunk("a")))
    frames = seen(events, "messages", subgraphs=True)
    assert names(frames) == ["messages/metadata", "messages/partial"]
    assert seen(events, "messages") == []


def test_a_recovered_run_tells_its_attempt_and_then_fresh_values() -> None:
    recovered = {
        "attempt": 2,
        "strategy": "event_log",
        "reason": "crash",
        "conversation_id": "t1::attempt-2",
        "values": {"x": 1},
    }
    frames = seen(log(CREATED, ("recovered", recovered)), "updates", after=0)
    assert [(f.event, f.id) for f in frames] == [("metadata", None), ("values", 1)]
    assert frames[0].data == {
        "run_id": "r1",
        "attempt": 2,
        "strategy": "event_log",
        "reason": "crash",
        "conversation_id": "t1::attempt-2",
    }
    assert frames[1].data == {"x": 1}


def test_a_run_recovered_before_its_first_checkpoint_has_no_values_to_tell() -> None:
    frames = seen(log(CREATED, ("recovered", {"attempt": 2, "values": None})), "values", after=0)
    assert [(f.event, f.data["attempt"], f.id) for f in frames] == [("metadata", 2, 1)]


def test_a_failure_is_told_before_the_end() -> None:
    error = {"error": "ValueError", "message": "boom"}
    frames = seen(log(CREATED, ("end", {"status": "error", "error": error})), "values", after=0)
    assert [(f.event, f.id) for f in frames] == [("error", None), ("end", 1)]
    assert frames[0].data == error


def test_a_cancelled_run_ends_without_an_error() -> None:
    error = {"error": "Cancelled", "message": "by its client"}
    end = ("end", {"status": "interrupted", "error": error})
    [frame] = seen(log(CREATED, end), "values", after=0)
    assert frame.data == {"run_id": "r1", "status": "interrupted"}


def test_a_filter_named_by_the_follower_drops_the_first_metadata() -> None:
    events = log(CREATED, ("custom", 1), DONE)
    assert names(seen(events, "custom", narrowed=True)) == ["custom", "end"]


def test_the_projection_knows_when_it_saw_the_end() -> None:
    projection = Projection(View(modes=frozenset({"values"})))
    first, *rest = log(CREATED, DONE)
    projection.frames(first)
    assert not projection.ended
    projection.frames(rest[0])
    assert projection.ended


PARTS = st.one_of(
    st.sampled_from([("values", {"x": 1}), ("updates|c:1", {"n": 1}), ("custom", "c")]),
    st.sampled_from([("checkpoint", ""), ("recovered", {"attempt": 2, "values": {"x": 1}})]),
    st.builds(
        lambda content, message_id: ("messages", chunk(content, message_id)),
        st.text("ab", max_size=2),
        st.sampled_from(["m1", "m2"]),
    ),
)


@settings(deadline=None)
@given(
    parts=st.lists(PARTS, max_size=12),
    modes=st.sets(st.sampled_from(["values", "updates", "custom", "messages", "messages-tuple"])),
    subgraphs=st.booleans(),
    data=st.data(),
)
def test_what_follows_a_cursor_is_the_rest_of_the_whole(
    parts: list[tuple[str, Any]], modes: set[str], subgraphs: bool, data: st.DataObject
) -> None:
    view = View(modes=frozenset(modes), subgraphs=subgraphs)
    events = log(CREATED, *parts, DONE)
    whole = sent(events, view, BEGINNING)
    frames = read_frames(whole)
    cut = data.draw(st.integers(0, len(frames)))
    ids = [frame.id for frame in frames[:cut] if frame.id is not None]
    cursor = ids[-1] if ids else BEGINNING
    rest = sent(events, view, cursor)
    assert whole.endswith(rest)
    missed = [frame for frame in frames if frame.id is not None and frame.id > cursor]
    assert [frame for frame in read_frames(rest) if frame.id is not None] == missed


def test_a_late_comer_gets_the_last_values_and_the_end() -> None:
    frames = read_frames(finished(run(), view_of(run(), [], None)))
    assert [(f.event, f.data, f.id) for f in frames] == [
        ("values", {"x": 1}, None),
        ("end", {"run_id": "r1", "status": "success"}, 5),
    ]


def test_a_late_comer_to_a_failed_run_gets_its_error() -> None:
    failed = run(status=RunStatus.ERROR, output=None, error={"error": "E", "message": "m"})
    assert names(read_frames(finished(failed, view_of(failed, [], None)))) == ["error", "end"]


def test_a_late_comer_that_wants_other_modes_gets_the_end_only() -> None:
    assert names(read_frames(finished(run(), view_of(run(), ["custom"], None)))) == ["end"]


def test_a_follower_without_a_filter_sees_what_the_run_was_asked_for() -> None:
    asked = run(request={"stream_modes": ["updates", "custom"], "stream_subgraphs": True})
    view = view_of(asked, [], None)
    assert view == View(modes=frozenset({"updates", "custom"}), subgraphs=True)


@pytest.mark.parametrize(
    ("header", "cursor"),
    [
        (None, None),
        ("", None),
        ("-", BEGINNING),
        ("-1", BEGINNING),
        ("0", 0),
        ("3", 3),
        ("99", 5),
        ("9" * 40, BEGINNING),
        ("1700000000000-0", BEGINNING),
        ("garbage", BEGINNING),
    ],
)
def test_last_event_id_names_a_cursor(header: str | None, cursor: int | None) -> None:
    assert cursor_of(header, run(next_seq=6)) == cursor


def test_live_is_after_what_the_log_holds_and_all_of_a_run_not_started() -> None:
    assert live_from(run(status=RunStatus.RUNNING, next_seq=4)) == 3
    assert live_from(run(status=RunStatus.PENDING, next_seq=1, started_at=None)) == BEGINNING


def test_encoded_line_breaks_keep_a_frame_on_its_lines() -> None:
    events = log(("values", {"text": "a\nb\r\nc\u2028d"}))
    assert "\u2028" not in encode(events[0].data)
    [frame] = seen(events, "values")
    assert frame.data == {"text": "a\nb\r\nc\u2028d"}


def test_a_late_comer_who_wants_a_subgraph_is_not_shown_the_values_of_the_graph() -> None:
    late = [finished(run(), view_of(run(), [], None, spaces)) for spaces in (None, [""], ["sub"])]
    assert [names(read_frames(raw)) for raw in late] == [
        ["values", "end"],
        ["values", "end"],
        ["end"],
    ]
