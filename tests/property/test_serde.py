"""The one encoder: whatever a graph emits, every reader can read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings

from langgraph_durable.serde import decode, encode
from tests.property.laws import law
from tests.property.random_values import json_values, values

BREAKS = frozenset("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")


@pytest.fixture(scope="module")
def postgres(module_database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(module_database, autocommit=True) as conn:
        yield conn


def _refused(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


@settings(law, max_examples=400)
@given(values)
def test_every_value_becomes_strict_json_on_one_line(value: Any) -> None:
    text = encode(value)

    json.loads(text, parse_constant=_refused)
    assert BREAKS.isdisjoint(text)
    assert text.encode().decode() == text


@settings(law, max_examples=200)
@given(values)
def test_postgres_takes_every_value_as_text_and_as_jsonb(
    postgres: psycopg.Connection[Any], value: Any
) -> None:
    text = encode(value)

    row = postgres.execute("SELECT %s::text, %s::jsonb::text", (text, text)).fetchone()

    assert row is not None
    assert row[0] == text
    assert json.loads(row[1], parse_int=float) == json.loads(text, parse_int=float)


@settings(law, max_examples=200)
@given(values)
def test_what_was_encoded_once_is_never_changed_again(value: Any) -> None:
    text = encode(value)

    assert encode(decode(text)) == text


@settings(law, max_examples=200)
@given(json_values)
def test_json_comes_back_as_it_was(value: Any) -> None:
    assert decode(encode(value)) == value


@settings(law, max_examples=200)
@given(values)
def test_an_unsafe_neighbour_changes_nothing_about_a_value(value: Any) -> None:
    assert decode(encode([value, "\ud800", 2**70]))[0] == decode(encode(value))
