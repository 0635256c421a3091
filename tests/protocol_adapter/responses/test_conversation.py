"""The one resolver of conversation keys, as a table."""

from __future__ import annotations

from typing import Any

import pytest

from protocol_adapter.responses.conversation import Conversation, resolve
from protocol_adapter.responses.refusal import Refusal

NEW = "resp_new"
EVERYTHING: dict[str, Any] = {
    "custom_inputs": {"thread_id": "thread", "session_id": "session"},
    "context": {"conversation_id": "context", "user_id": "u"},
}


@pytest.mark.parametrize(
    ("body", "found", "thread", "source"),
    [
        ({}, {}, NEW, "new"),
        ({"conversation": "c"}, {}, "c", "conversation"),
        ({"conversation": {"id": "c"}}, {}, "c", "conversation"),
        ({"conversation": "c", **EVERYTHING}, {"asking": "q"}, "c", "conversation"),
        ({"previous_response_id": "r"}, {"previous": "p"}, "p", "previous_response_id"),
        (
            {"previous_response_id": "r", **EVERYTHING},
            {"previous": "p", "asking": "q"},
            "p",
            "previous_response_id",
        ),
        (EVERYTHING, {"asking": "q"}, "q", "interrupt"),
        (EVERYTHING, {}, "thread", "custom_inputs.thread_id"),
        (
            {**EVERYTHING, "custom_inputs": {"session_id": "session"}},
            {},
            "session",
            "custom_inputs.session_id",
        ),
        ({**EVERYTHING, "custom_inputs": {}}, {}, "context", "context.conversation_id"),
        ({"custom_inputs": {}, "context": {}}, {}, NEW, "new"),
        ({"custom_inputs": {"thread_id": None}}, {}, NEW, "new"),
        ({"conversation": "x::attempt-2"}, {}, "x::attempt-2", "conversation"),
    ],
)
def test_the_first_key_that_is_there_decides(
    body: dict[str, Any], found: dict[str, str], thread: str, source: str
) -> None:
    assert resolve(body, response_id=NEW, **found) == Conversation(thread, source)


def test_a_conversation_and_a_previous_response_exclude_each_other() -> None:
    with pytest.raises(Refusal) as refused:
        resolve({"conversation": "c", "previous_response_id": "r"}, response_id=NEW)

    assert refused.value.status == 400
    assert refused.value.code == "mutually_exclusive_parameters"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"conversation": ""}, "conversation"),
        ({"conversation": {}}, "conversation.id"),
        ({"conversation": {"id": 7}}, "conversation.id"),
        ({"conversation": "a\x00b"}, "conversation"),
        ({"conversation": "x" * 513}, "conversation"),
        ({"custom_inputs": {"thread_id": 7}}, "custom_inputs.thread_id"),
        ({"context": {"conversation_id": ["x"]}}, "context.conversation_id"),
    ],
)
def test_an_id_that_cannot_be_one_is_refused(body: dict[str, Any], param: str) -> None:
    with pytest.raises(Refusal) as refused:
        resolve(body, response_id=NEW)

    assert refused.value.param == param
