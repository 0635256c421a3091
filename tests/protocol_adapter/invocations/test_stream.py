"""Runs and their logs in the words of the generic protocol."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from langgraph_durable.model import RunStatus
from protocol_adapter.invocations.objects import invocation
from protocol_adapter.invocations.stream import told
from tests.protocol_adapter.langgraph.samples import log, run

QUESTION = '{"x":1,"__interrupt__":[{"value":"sure?","id":"q1","response_schema":null}]}'


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"status": RunStatus.PENDING, "attempt": 0}, "queued"),
        ({"status": RunStatus.RUNNING}, "in_progress"),
        ({"status": RunStatus.PENDING, "attempt": 1}, "in_progress"),
        ({"status": RunStatus.SUCCESS}, "completed"),
        ({"status": RunStatus.SUCCESS, "output": QUESTION}, "requires_action"),
        ({"status": RunStatus.ERROR}, "failed"),
        ({"status": RunStatus.TIMEOUT}, "failed"),
        ({"status": RunStatus.INTERRUPTED}, "cancelled"),
    ],
)
def test_every_state_of_a_run_has_its_word(changed: dict[str, Any], status: str) -> None:
    assert invocation(run(**changed))["status"] == status


def test_a_run_that_sleeps_shows_what_it_asks_and_no_output_yet() -> None:
    found = invocation(run(status=RunStatus.PENDING, attempt=1, output=QUESTION))
    assert (found["status"], found["output"]) == ("in_progress", None)
    assert found["questions"] == [{"id": "q1", "value": "sure?"}]


def test_a_question_is_told_beside_the_output() -> None:
    found = invocation(run(output=QUESTION))
    assert found["output"] == {"x": 1}
    assert found["questions"] == [{"id": "q1", "value": "sure?"}]


def test_its_names_are_the_clients() -> None:
    found = invocation(run(request={"door_data": {"invocation": "order-7"}}))
    assert (found["id"], found["session_id"], found["graph"]) == ("order-7", "t1", "echo")
    assert invocation(run())["id"] == "r1"


def test_a_failure_is_told_in_type_and_message() -> None:
    failed = run(status=RunStatus.ERROR, error={"error": "ValueError", "message": "boom"})
    assert invocation(failed)["error"] == {"type": "ValueError", "message": "boom"}


def test_each_event_of_the_log_is_one_event() -> None:
    events = log(
        ("created", {"run_id": "r1"}),
        ("started", {"attempt": 1}),
        ("messages", [{"type": "ai"}, {}]),
        ("updates|sub:1", {"node": 1}),
        ("custom", {"type": "progress", "percent": 5}),
        ("recovered", {"attempt": 2}),
        ("end", {"status": "success"}),
    )
    ended = run()
    names, texts = zip(*(told(event, ended) for event in events), strict=True)
    assert names == (
        *("run.queued", "run.started", "messages", "updates|sub:1", "progress"),
        *("run.recovered", "run.completed"),
    )
    assert orjson.loads(texts[0]) == {"id": "r1", "session_id": "t1", "graph": "echo"}
    assert list(texts[1:-1]) == [event.data for event in events[1:-1]]
    assert orjson.loads(texts[-1])["output"] == {"x": 1}


@pytest.mark.parametrize(
    "value",
    [
        *(
            {"type": name}
            for name in ("run.completed", "updates", "messages", "a b", "a\nb", "", 5)
        ),
        {"percent": 5},
        "text",
        None,
    ],
)
def test_nothing_that_code_writes_passes_for_somebody_elses_event(value: Any) -> None:
    [event] = log(("custom", value))
    assert told(event, run())[0] == "message"
