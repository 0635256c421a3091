"""What bad requests have in common at every door: bodies that are none, bodies made at random."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import httpx
import orjson
from hypothesis import settings
from hypothesis import strategies as st

from tests.property.laws import law

NO_BODIES = {
    "empty": b"",
    "cut off": b'{"input": ',
    "not JSON": b"input=hi",
    "not UTF-8": b'{"input": "\xff"}',
    "half a character": rb'{"input": "\ud800"}',
    "NaN": b'{"input": NaN}',
    "larger than any number": b'{"input": 1e999}',
    "with a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": "{}".encode("utf-16"),
    "two of them": b"{}{}",
    "a form": b"input=%7B%7D",
    "endless nesting": b"[" * 100_000,
    "a list": b"[]",
    "a text": b'"text"',
    "nothing": b"null",
}
"""None of these is a JSON object."""

ODD = {
    "duplicate keys": b'{"metadata": 5, "metadata": {"a": 1}}',
    "a number of 300 digits": b'{"metadata": {"n": %s}}' % (b"7" * 300),
    "a tiny number": b'{"metadata": {"n": 1e-999}}',
    "minus nothing": b'{"metadata": {"n": -0, "m": -0.0}}',
    "NUL everywhere": rb'{"metadata": {"\u0000": "\u0000"}, "\u0000": "\u0000"}',
    "a key of 10,000 letters": b'{"metadata": {"%s": 1}}' % (b"k" * 10_000),
    "deep, but not too deep": b'{"metadata": {"a": %s%s}}' % (b"[" * 150, b"]" * 150),
    "a pair of surrogates": rb'{"metadata": {"a": "\ud83d\ude00"}}',
    "keys of our own": b'{"metadata": {"__proto__": {}, "$ref": "#", "graph_id": [1]}}',
}
"""JSON objects that few people write."""

DEEP = b'{"input": %s%s}' % (b"[" * 300, b"]" * 300)
"""JSON that could be read, and never be written again."""

TOLD_TO_NOBODY = (
    *("Traceback", "psycopg", "langgraph_durable.", ".py"),
    *("SELECT ", "INSERT ", "dbname=", "postgresql:", "SQLSTATE"),
)


def examples(few: int) -> int:
    """How many bodies are made at random; ``BAD_BODY_EXAMPLES`` of them where a person says so."""
    return int(os.environ.get("BAD_BODY_EXAMPLES", few))


fuzz = settings(law, max_examples=examples(100))

texts = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["", "\x00", "a\x00b", "😀", "\u2028", "../..", "%s", "-1", "1e400", "null"]),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def bodies(
    known: Mapping[str, st.SearchStrategy[Any]], **needed: st.SearchStrategy[Any]
) -> st.SearchStrategy[bytes]:
    """Objects with what an endpoint needs and some of what it knows, one key bad, and others."""
    return st.builds(
        lambda others, good, bad: orjson.dumps({**others, **good, **bad}),
        st.dictionaries(texts, values, max_size=2),
        st.fixed_dictionaries(needed, optional=dict(known)),
        st.dictionaries(st.sampled_from(sorted({*known, *needed})), values, max_size=1),
    )


def check_told(answer: httpx.Response, message: Any) -> None:
    """One clear message, as JSON, and nothing of what is behind it."""
    assert answer.headers["content-type"] == "application/json", answer.text
    assert isinstance(message, str), answer.text
    assert 0 < len(message) <= 400, message
    assert not any(word in answer.text for word in TOLD_TO_NOBODY), answer.text


def check_alive(client: httpx.Client) -> None:
    assert client.get("/ok", params={"check_db": 1}).json() == {"ok": True}
