"""Columns, state keys and paths that clients ask for."""

from __future__ import annotations

from typing import Any

import pytest

from protocol_adapter.langgraph.fields import Unprocessable
from protocol_adapter.langgraph.selection import (
    RUN_COLUMNS,
    RUN_FIELDS,
    THREAD_COLUMNS,
    check_columns,
    check_state_keys,
    extract,
    select,
    select_state,
)

STATE = {"values": {"messages": [1], "x": 2}, "next": ["a"], "metadata": None}


def test_select_keeps_the_asked_columns() -> None:
    assert select({"a": 1, "b": 2}, ["b", "missing"]) == {"b": 2, "missing": None}
    assert select({"a": 1}, None) == {"a": 1}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("values.messages[-1].content", "last"),
        ("values.messages[0].content", "first"),
        ("values.messages[9].content", None),
        ("values.nothing.here", None),
        ("status", "idle"),
    ],
)
def test_extract_follows_a_path_or_finds_nothing(path: str, value: Any) -> None:
    row = {
        "status": "idle",
        "values": {"messages": [{"content": "first"}, {"content": "last"}]},
    }
    assert extract(row, {"it": path}) == {"it": value}


def test_one_key_of_a_state_may_be_asked_for() -> None:
    assert select_state(STATE, ["values.messages", "next"]) == {
        "values": {"messages": [1]},
        "next": ["a"],
    }
    assert select_state(STATE, ["values.nothing"]) == {"values": {}}
    assert select_state(STATE, []) == STATE


def test_a_column_nobody_has_is_refused() -> None:
    check_columns([*RUN_FIELDS, "cancel_reason"], RUN_COLUMNS)
    with pytest.raises(Unprocessable, match="nope"):
        check_columns(["nope"], RUN_COLUMNS)
    for columns, strange in ((RUN_COLUMNS, "context"), (THREAD_COLUMNS, "now")):
        with pytest.raises(Unprocessable, match=strange):
            check_columns([strange], columns)
    check_state_keys(["values.anything", "tasks"])
    with pytest.raises(Unprocessable, match=r"tasks\.0"):
        check_state_keys(["tasks.0"])
