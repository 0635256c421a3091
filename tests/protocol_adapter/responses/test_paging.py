"""Pages of a list, in both directions, from any place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol_adapter.responses.paging import page
from protocol_adapter.responses.refusal import Refusal


def numbered(count: int) -> list[dict[str, str]]:
    return [{"id": f"i{number}"} for number in range(count)]


def names(answer: dict[str, Any]) -> list[str]:
    return [item["id"] for item in answer["data"]]


@given(st.integers(0, 60), st.integers(1, 100), st.sampled_from(["asc", "desc", None]))
def test_pages_one_behind_the_other_are_the_whole_list(
    count: int, limit: int, order: str | None
) -> None:
    query = {"limit": str(limit), **({"order": order} if order else {})}
    seen: list[str] = []
    answer = page(numbered(count), query)
    while True:
        seen += names(answer)
        if not answer["has_more"]:
            break
        assert len(answer["data"]) == limit
        answer = page(numbered(count), {**query, "after": answer["last_id"]})

    whole = [item["id"] for item in numbered(count)]
    assert seen == (whole if order == "asc" else whole[::-1])


def test_the_newest_twenty_come_first() -> None:
    answer = page(numbered(25), {})

    assert names(answer) == [f"i{number}" for number in range(24, 4, -1)]
    assert (answer["object"], answer["has_more"]) == ("list", True)
    assert (answer["first_id"], answer["last_id"]) == ("i24", "i5")


def test_an_empty_page_has_no_ends() -> None:
    assert page([], {}) == {
        "object": "list",
        "data": [],
        "first_id": None,
        "last_id": None,
        "has_more": False,
    }
    assert page(numbered(2), {"after": "i0"})["data"] == []


WRONG = ("0", "101", "-1", "x", "", "1.5", "\u00b2", "9999")


@pytest.mark.parametrize(
    ("query", "param"),
    [
        *[
            ({"limit": text}, "limit")
            for text in ("0", "101", "-1", "x", "", "1.5", "\u00b2", "9999")
        ],
        *[({"order": text}, "order") for text in ("up", "", "ASC")],
        ({"after": "nobody"}, "after"),
    ],
)
def test_a_page_that_cannot_be_is_refused(query: dict[str, str], param: str) -> None:
    with pytest.raises(Refusal) as refused:
        page(numbered(3), query)

    assert (refused.value.status, refused.value.param) == (400, param)
