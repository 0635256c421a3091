"""What clients send, at the one place where it is read."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_durable.errors import InvalidRequest
from langgraph_durable.serde import DEEPEST, encode, received

WRAPPED = 50
"""More levels than any answer wraps around what it repeats."""


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def test_what_is_just_not_too_deep_can_be_written_inside_any_answer() -> None:
    value: Any = received(nested(DEEPEST))
    for _ in range(WRAPPED):
        value = {"inside": value}
    assert encode(value).count("[") == DEEPEST


@pytest.mark.parametrize("text", [nested(DEEPEST + 1), b'{"a":' * 500 + b"1" + b"}" * 500])
def test_what_is_too_deep_is_refused_with_the_limit(text: bytes) -> None:
    with pytest.raises(InvalidRequest, match=f"more than {DEEPEST} levels"):
        received(text)


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert received(b"[" + b"[]," * 5000 + b"{}]") == [[]] * 5000 + [{}]


@pytest.mark.parametrize("text", [b"", b"{", b"NaN", b'"\\ud800"', b'"\xff"', b"[" * 100_000])
def test_what_is_no_json_is_a_value_error(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"line 1|UTF-8|zero-length|JSON"):
        received(text)


def test_nul_characters_are_replaced_in_keys_and_values() -> None:
    assert received(rb'{"a\u0000": ["\u0000b", 1]}') == {"a\ufffd": ["\ufffdb", 1]}
    assert received(rb'"a\\u0000"') == "a\\u0000"
