"""What holds for every log, however odd."""

from __future__ import annotations

from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_durable.serde import encode
from protocol_adapter.responses.objects import head_of
from protocol_adapter.responses.stream import PROJECTION_VERSION, Fold, Frame
from tests.contract.openresponses import check_frame

from .logs import Log, a_run, told
from .random_logs import logs

DIALECTS: tuple[dict[str, Any], ...] = ({}, {"tool_items": "function_call"})
dialects = st.sampled_from(DIALECTS)
TERMINAL = {"response.completed", "response.failed", "response.incomplete"}


def test_the_version_moves_only_with_the_frames() -> None:
    assert PROJECTION_VERSION == 1


@given(logs(), dialects)
def test_numbers_are_dense_and_one_terminal_event_comes_last(
    log: Log, door: dict[str, Any]
) -> None:
    frames = told(log, a_run(door=door))

    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))
    assert [frame["type"] in TERMINAL for frame in frames] == [False] * (len(frames) - 1) + [True]
    assert [frame["type"] for frame in frames].count("response.created") == 1


@given(logs(), dialects, st.data())
def test_what_is_told_after_a_cursor_is_the_rest_of_what_is_told_from_the_start(
    log: Log, door: dict[str, Any], data: st.DataObject
) -> None:
    run = a_run(door=door)
    whole = [encode(frame) for frame in told(log, run)]
    cursor = data.draw(st.integers(-1, len(whole)))
    seen = data.draw(st.integers(0, len(log.events)))

    first, second = Fold(head_of(run)), Fold(head_of(run))
    live = [f for event in log.events[:seen] for f in first.feed(event, run)]
    again = [f for event in log.events for f in second.feed(event, run)]

    assert [encode(frame) for frame in live] == whole[: len(live)]
    after = [encode(frame) for frame in again if frame["sequence_number"] > cursor]
    assert after == whole[cursor + 1 :]


@given(logs(), dialects)
def test_every_item_is_opened_once_and_closed_once_at_its_own_index(
    log: Log, door: dict[str, Any]
) -> None:
    opened: dict[int, str] = {}
    closed: set[int] = set()
    for frame in told(log, a_run(door=door)):
        index = frame.get("output_index", -1)
        if frame["type"] == "response.output_item.added":
            assert index == len(opened)
            assert frame["item"]["id"] not in opened.values()
            opened[index] = frame["item"]["id"]
        elif index >= 0:
            assert index in opened
            assert index not in closed
            assert frame.get("item_id", opened[index]) == opened[index]
        if frame["type"] == "response.output_item.done":
            assert frame["item"]["id"] == opened[index]
            closed.add(index)
        if frame["type"] == "response.in_progress":
            assert [item["id"] for item in frame["response"]["output"]] == list(opened.values())
    assert closed == set(opened)


@given(logs(), dialects)
def test_one_text_is_open_at_a_time_and_its_deltas_are_its_text(
    log: Log, door: dict[str, Any]
) -> None:
    speaking: str | None = None
    text = ""
    for frame in told(log, a_run(door=door)):
        match frame["type"]:
            case "response.content_part.added":
                assert speaking is None
                speaking, text = frame["item_id"], ""
            case "response.output_text.delta":
                assert frame["item_id"] == speaking
                text += frame["delta"]
            case "response.output_text.done":
                assert (frame["item_id"], frame["text"]) == (speaking, text)
                speaking = None


@given(logs(), dialects)
def test_the_terminal_output_was_announced_in_that_order(log: Log, door: dict[str, Any]) -> None:
    frames = told(log, a_run(door=door))
    done = [f["item"] for f in frames if f["type"] == "response.output_item.done"]
    by_index = {f["item"]["id"]: f["output_index"] for f in frames if "item" in f}

    output = frames[-1]["response"]["output"]

    assert all(item in done for item in output)
    indexes = [by_index[item["id"]] for item in output]
    assert indexes == sorted(indexes)


@given(logs(), dialects)
def test_plain_events_are_open_responses_events(log: Log, door: dict[str, Any]) -> None:
    for frame in told(log, a_run(door=door)):
        check_frame(frame)


def sse(frames: list[Frame]) -> bytes:
    lines = [f"event: {f['type']}\ndata: {encode(f)}\n\n" for f in frames]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def stock_client(body: bytes) -> openai.OpenAI:
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, content=body))
    return openai.OpenAI(
        base_url="http://server.test",
        api_key="-",
        max_retries=0,
        http_client=httpx2.Client(transport=transport),
    )


@settings(max_examples=60, deadline=None)
@given(logs(st.just("success")), dialects)
def test_the_stock_stream_helper_follows_every_log(log: Log, door: dict[str, Any]) -> None:
    frames = told(log, a_run(door=door))

    with (
        stock_client(sse(frames)) as client,
        client.responses.stream(model="agent", input="hi") as stream,
    ):
        assert [event.type for event in stream] == [frame["type"] for frame in frames]
        final = stream.get_final_response()

    told_ids = [item["id"] for item in frames[-1]["response"]["output"]]
    assert [item.to_dict()["id"] for item in final.output] == told_ids


@settings(max_examples=20, deadline=None)
@given(logs(st.sampled_from(["error", "interrupted"])))
def test_the_stock_stream_helper_never_takes_a_failure_for_a_success(log: Log) -> None:
    with (
        stock_client(sse(told(log))) as client,
        client.responses.stream(model="agent", input="hi") as stream,
        pytest.raises(RuntimeError, match="Didn't receive"),
    ):
        stream.get_final_response()
