"""Which headers graphs may read, and how they are kept out of configs that are shown."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_durable.headers import HeaderRule, hidden_in, read_rule
from langgraph_durable.http_config import unknown_keys
from langgraph_durable.model import RunRequest
from langgraph_durable.request import run_config

GIVEN = {"X-Tenant": "blue", "X-Api-Key": "k", "Accept": "*/*", "my-[a]?": "odd"}


@pytest.mark.parametrize(
    ("raw", "allowed"),
    [
        (None, []),
        ({}, []),
        ({"includes": ["x-*"]}, ["x-tenant", "x-api-key"]),
        ({"includes": ["X-*"], "excludes": ["x-API-key"]}, ["x-tenant"]),
        ({"include": ["x-*"], "exclude": ["*key"]}, ["x-tenant"]),
        ({"includes": ["*"], "excludes": ["*"]}, []),
        ({"includes": ["tenant", "x-tenan?"]}, []),
        ({"includes": ["MY-[a]?"]}, ["my-[a]?"]),
    ],
)
def test_names_are_included_and_excluded_with_stars(raw: Any, allowed: list[str]) -> None:
    problems: list[str] = []
    assert list(read_rule(raw, problems).allowed(GIVEN)) == allowed
    assert problems == []


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (["x-*"], 'http.configurable_headers: must be {"includes": [...], "excludes": [...]}'),
        ({"includes": "x"}, "http.configurable_headers.includes: must be a list of header names"),
        ({"excludes": [1]}, "http.configurable_headers.excludes: must be a list of header names"),
        ({"allow": ["x"]}, "http.configurable_headers.allow: unknown"),
    ],
)
def test_what_makes_no_sense_is_told(raw: Any, problem: str) -> None:
    problems: list[str] = []
    assert read_rule(raw, problems) == HeaderRule()
    assert problems == [problem]
    assert unknown_keys({"configurable_headers": raw, "cors": {}}) == ["cors"]


def test_a_header_counts_more_than_the_body_and_less_than_the_server() -> None:
    headers = {"x-tenant": "blue", "thread_id": "stolen", "__pregel_read": "stolen"}
    asked = RunRequest(
        assistant="agent",
        config={"configurable": {"x-tenant": "red", "own": 1}},
        headers=headers,
    )
    ids = {"run_id": "r", "graph_id": "g", "assistant_id": "a"}
    config = run_config(asked, thread_id="t", conversation_id="c", **ids)
    expected = {"x-tenant": "blue", "own": 1, "thread_id": "t", "conversation_id": "c"}
    assert config["configurable"] == expected | ids
    assert "blue" not in repr(asked)


def test_configs_in_stream_parts_lose_their_headers() -> None:
    config = {"configurable": {"x-tenant": "blue", "thread_id": "t"}, "tags": []}
    shown = {"configurable": {"thread_id": "t"}, "tags": []}
    part = {"config": config, "parent_config": None, "values": {"config": "x-tenant"}}
    expected = {"config": shown, "parent_config": None, "values": {"config": "x-tenant"}}

    assert hidden_in(part, ["x-tenant"]) == expected
    assert hidden_in({"type": "checkpoint", "payload": part}, ["x-tenant"]) == {
        "type": "checkpoint",
        "payload": expected,
    }
    assert part["config"] == config
    assert hidden_in(part, ()) is part
