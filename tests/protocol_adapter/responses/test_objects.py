"""The Response object: every key, every time."""

from __future__ import annotations

import pytest
from openresponses_types import ResponseResource

from langgraph_durable.model import RunStatus
from protocol_adapter.responses import ids
from protocol_adapter.responses.objects import head_of, snapshot, unfinished, usage

from .logs import RESPONSE_ID, RUN_ID, a_run

UNFINISHED = {"status": RunStatus.PENDING, "attempt": 0, "finished_at": None}


def test_a_snapshot_is_an_open_responses_response() -> None:
    ResponseResource.model_validate(snapshot(head_of(a_run()), "in_progress"))


def test_a_wanted_schema_is_echoed_with_every_key() -> None:
    schema = {"type": "json_schema", "name": "n", "schema": {"type": "object"}}

    echo = head_of(a_run(door={"echo": {"text": {"format": schema}}})).echo

    assert echo["text"]["format"] == {**schema, "description": None, "strict": False}


def test_all_snapshots_have_the_same_keys() -> None:
    head = head_of(a_run())

    ended = snapshot(head, "failed", error={"message": "x"}, usage=None, completed_at=1)

    assert ended.keys() == snapshot(head, "queued").keys() == unfinished(a_run()).keys()


@pytest.mark.parametrize(
    ("status", "attempt", "background", "told"),
    [
        (RunStatus.PENDING, 0, True, "queued"),
        (RunStatus.PENDING, 0, False, "in_progress"),
        (RunStatus.RUNNING, 1, True, "in_progress"),
        (RunStatus.PENDING, 1, True, "in_progress"),
    ],
)
def test_a_run_that_has_not_ended_is_queued_until_it_first_starts(
    status: RunStatus, attempt: int, background: bool, told: str
) -> None:
    run = a_run(status=status, attempt=attempt, door={"background": background})

    assert unfinished(run)["status"] == told


def test_a_recovered_run_tells_its_attempt_and_its_rotated_conversation() -> None:
    run = a_run(attempt=2, conversation_id="x::attempt-2", status=RunStatus.RUNNING)

    told = unfinished(run)

    assert told["metadata"] == {"attempt": "2"}
    assert told["conversation"] == {"id": "x::attempt-2"}


def test_the_conversation_is_echoed_as_it_was_named() -> None:
    run = a_run(thread_id="x", door={"conversation": "x::attempt-2"}, **UNFINISHED)

    assert unfinished(run)["conversation"] == {"id": "x::attempt-2"}


def test_tools_are_echoed_with_every_key() -> None:
    given = [{"type": "function", "name": "f"}, {"type": "mcp", "server_label": "langgraph"}]

    told = snapshot(head_of(a_run(door={"echo": {"tools": given}})), "queued")["tools"]

    assert told == [
        {"type": "function", "name": "f", "description": None, "parameters": None, "strict": None},
        given[1],
    ]


def test_usage_is_null_when_no_model_told_it() -> None:
    assert usage([]) is None


def test_ids_of_responses_and_runs_are_the_same_number() -> None:
    assert ids.response_id(RUN_ID) == RESPONSE_ID
    assert ids.run_id(RESPONSE_ID) == RUN_ID


@pytest.mark.parametrize("name", ["", "resp_", "resp_xyz", RESPONSE_ID + "0", RUN_ID, "RESP_" * 8])
def test_other_ids_name_no_run(name: str) -> None:
    assert ids.run_id(name) is None
