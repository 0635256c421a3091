"""Reading queries and naming runs."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.requests import Request

from protocol_adapter.langgraph.fields import Unprocessable
from protocol_adapter.langgraph.http import answer_page, many, query, run_headers, switch


def asked(query_string: str) -> Request:
    return Request({"type": "http", "query_string": query_string.encode(), "headers": []})


@pytest.mark.parametrize(
    ("query_string", "value"),
    [
        ("", None),
        ("wait=", False),
        ("wait=0", False),
        ("wait=false", False),
        ("wait=1", True),
        ("wait=True", True),
    ],
)
def test_flags_come_in_the_spellings_of_both_clients(query_string: str, value: Any) -> None:
    assert switch(asked(query_string), "wait") is value


def test_a_flag_that_is_neither_is_refused() -> None:
    with pytest.raises(Unprocessable, match="wait"):
        switch(asked("wait=maybe"), "wait")


@pytest.mark.parametrize(
    ("query_string", "items"),
    [
        ("", []),
        ("m=", []),
        ("m=a&m=b", ["a", "b"]),
        ("m=a,b", ["a", "b"]),
        ('m=["a","b"]', ["a", "b"]),
    ],
)
def test_lists_come_repeated_joined_or_as_json(query_string: str, items: list[str]) -> None:
    assert many(asked(query_string), "m") == items


def test_a_list_that_is_no_json_is_refused() -> None:
    with pytest.raises(Unprocessable):
        many(asked("m=[a"), "m")


def test_a_query_reads_like_a_body() -> None:
    assert query(asked("limit=3&before=c1&offset=")) == {"limit": 3, "before": "c1"}


@pytest.mark.parametrize(
    ("thread_id", "name", "path"),
    [
        (None, "/runs/r1", "/runs/r1/join"),
        ("t1", "/threads/t1/runs/r1", "/threads/t1/runs/r1/join"),
        (
            "t1::attempt-2",
            "/threads/t1::attempt-2/runs/r1",
            "/threads/t1::attempt-2/runs/r1/join",
        ),
        ("a b%?", "/threads/a b%?/runs/r1", "/threads/a%20b%25%3F/runs/r1/join"),
        ("ü", "/threads/%C3%BC/runs/r1", "/threads/%C3%BC/runs/r1/join"),
    ],
)
def test_clients_take_a_thread_id_verbatim_from_one_header_and_a_path_from_the_other(
    thread_id: str | None, name: str, path: str
) -> None:
    assert run_headers(thread_id, "r1", "join") == {"Content-Location": name, "Location": path}


def test_a_view_survives_a_reconnect_in_the_location() -> None:
    view = {"stream_mode": ["updates", "values"], "stream_subgraphs": "true"}
    location = run_headers("t1", "r1", "stream", view)["Location"]
    assert location == (
        "/threads/t1/runs/r1/stream?stream_mode=updates&stream_mode=values&stream_subgraphs=true"
    )


def test_a_page_tells_where_the_next_begins_until_there_is_none() -> None:
    first = answer_page([1, 2], total=3, offset=0)
    last = answer_page([3], total=3, offset=2)
    assert first.headers["x-pagination-next"] == "2"
    assert "x-pagination-next" not in last.headers
    assert last.headers["x-pagination-total"] == "3"
