"""A response whose run sleeps: its questions are told at once, its words count when it wakes."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_durable.model import RunStatus
from langgraph_durable.serde import encode
from protocol_adapter.responses import objects

from .logs import Log, a_run, ai, kinds, told

QUESTION = {"id": "0" * 32, "value": "ok?"}
SECOND = {"id": "1" * 32, "value": "sure?"}


def asked(log: Log, *questions: dict[str, Any]) -> Log:
    return log.add("asked", {"interrupts": list(questions)})


def output(log: Log) -> list[str]:
    """The types of the items that count in the end, or their texts."""
    items = told(log)[-1]["response"]["output"]
    return [item["content"][0]["text"] if "content" in item else item["type"] for item in items]


def test_a_question_is_an_item_while_the_run_sleeps() -> None:
    frames = told(asked(Log().start(), QUESTION))
    assert kinds(frames)[-2:] == ["output_item.added", "output_item.done"]
    assert frames[-1]["item"]["type"] == "mcp_approval_request"


def test_a_question_is_told_once_however_often_its_run_wakes() -> None:
    log = asked(asked(asked(Log().start(), QUESTION), QUESTION), QUESTION, SECOND)
    log.end(interrupts=[QUESTION, SECOND])
    assert kinds(told(log)).count("output_item.added") == 2
    assert output(log) == ["mcp_approval_request", "mcp_approval_request"]


@pytest.mark.parametrize("woken", [False, True])
def test_a_crash_behind_the_waking_takes_back_what_was_said_since(woken: bool) -> None:
    """On a rotated conversation: what is not in the state that the run starts from."""
    log = Log().start().says("m1", "Waiting.").updates("model", ai("m1", "Waiting."))
    log.says("m2", "Aw", at="model:t2", last=False)
    log.recovered(
        3,
        strategy="event_log",
        values={"messages": [ai("m1", "Waiting.")]},
        **({"woken": True} if woken else {}),
    )
    log.says("m3", "Awake.", at="model:t2").updates("model", ai("m3", "Awake."), task="t2").end()
    assert output(log) == (["Waiting.", "Awake."] if woken else ["Awake."])


def test_a_question_is_told_again_behind_a_crash_that_took_it_back() -> None:
    log = asked(Log().start(), QUESTION)
    log.recovered(3, strategy="event_log", values={}, woken=True)
    log.end(interrupts=[QUESTION])
    assert kinds(told(log)).count("output_item.added") == 2
    assert output(log) == ["mcp_approval_request"]


def test_a_poll_shows_what_is_asked_and_nothing_of_what_is_not_whole() -> None:
    values = {"messages": [ai("m1", "Waiting.")], "__interrupt__": [QUESTION]}
    run = a_run(status=RunStatus.PENDING, output=encode(values), finished_at=None)
    shown = objects.unfinished(run)
    assert shown["status"] == "in_progress"
    [item] = shown["output"]
    whole = told(asked(Log().start(), QUESTION))[-1]["item"]
    assert item == whole
