"""The LangGraph door and what is around bodies: queries, headers, content types, odd JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import httpx
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.badness import ODD, check_alive, examples, fuzz, texts
from tests.contract.langgraph_bodies.endpoints import (
    EVERY_ONE,
    TAKES_LISTS,
    WITH_BODY,
    WITH_QUERY,
)
from tests.contract.langgraph_bodies.known import Known, make_known, survive
from tests.contract.langgraph_bodies.wrong import GOOD, RUN
from tests.servers import Server

few = settings(fuzz, max_examples=examples(25))
UNHARMED = [(method, path) for method, path in EVERY_ONE if method != "DELETE"]
"""What leaves the known ids alone."""


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def known(client: httpx.Client) -> Known:
    return make_known(client)


def good(path: str) -> dict[str, Any]:
    return GOOD.get(path, RUN)


# -- bodies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_json_breaks_nothing(
    client: httpx.Client, known: Known, method: str, path: str, odd: bytes
) -> None:
    body = orjson.dumps(good(path)).rstrip(b"}") + b"," * bool(good(path)) + odd.lstrip(b"{")
    content = b"[%s]" % body if path in TAKES_LISTS else body
    survive(client, known, method, path, content=content)


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
@pytest.mark.parametrize(
    "content_type",
    [
        *("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "nonsense"),
        *("application/json; charset=latin-1", "application/json, text/html", ""),
    ],
)
def test_the_content_type_of_a_body_says_nothing(
    client: httpx.Client, known: Known, method: str, path: str, content_type: str
) -> None:
    body = [{}] if path in TAKES_LISTS else {}
    plain = client.request(method, known.path(path), json=body)
    headers = {"content-type": content_type}
    answer = client.request(method, known.path(path), content=orjson.dumps(body), headers=headers)
    assert answer.status_code == plain.status_code


# -- queries ------------------------------------------------------------------------------------

spelt = st.one_of(
    texts,
    st.integers(-5, 10**25).map(str),
    st.sampled_from(["true", "FALSE", "1", "[", "[[]]", '["values"]', "[1]", "{}", "null", ","]),
)


def queries(known_keys: Mapping[str, Any]) -> st.SearchStrategy[str]:
    names = st.one_of(st.sampled_from(sorted(known_keys)), texts)
    return st.lists(st.tuples(names, spelt), max_size=4).map(lambda pairs: f"?{urlencode(pairs)}")


@pytest.mark.parametrize(("method", "path"), WITH_QUERY)
def test_no_query_at_random_breaks_anything(
    client: httpx.Client, known: Known, method: str, path: str
) -> None:
    content = orjson.dumps(good(path)) if (method, path) in WITH_BODY else b""

    @few
    @given(queries(WITH_QUERY[method, path]))
    def send(query: str) -> None:
        survive(client, known, method, path, query=query, content=content)

    send()
    check_alive(client)


@pytest.mark.parametrize("raw", ["?%", "?%zz=%ff", "?=&==&&", "?limit=%00", "?" + "a=b&" * 2000])
@pytest.mark.parametrize(("method", "path"), WITH_QUERY)
def test_a_query_that_is_none_breaks_nothing(
    client: httpx.Client, known: Known, method: str, path: str, raw: str
) -> None:
    content = orjson.dumps(good(path)) if (method, path) in WITH_BODY else b""
    survive(client, known, method, path, query=raw, content=content)


# -- headers ------------------------------------------------------------------------------------

NAMES = (
    *("Last-Event-ID", "Prefer", "Accept", "Accept-Encoding", "Content-Type", "Origin", "Cookie"),
    *("Authorization", "Range", "If-None-Match", "X-Api-Key", "X-Forwarded-Host", "X-HTTP-Method"),
)
said = st.one_of(
    st.binary(max_size=12).map(lambda raw: bytes(byte for byte in raw if 31 < byte != 127)),
    st.sampled_from([b"-1", b"0", b"9" * 40, b"1-1", b"return=minimal", b"*/*", b"gzip;q=-1"]),
)
headers_at_random = st.dictionaries(st.sampled_from(NAMES), said.map(bytes.strip), max_size=4)


@pytest.mark.parametrize(("method", "path"), UNHARMED)
def test_no_header_at_random_breaks_anything(
    client: httpx.Client, known: Known, method: str, path: str
) -> None:
    body = [good(path)] if path in TAKES_LISTS else good(path)
    content = orjson.dumps(body) if (method, path) in WITH_BODY else b""

    @few
    @given(headers_at_random)
    def send(headers: dict[str, bytes]) -> None:
        pairs = [(name.encode(), value) for name, value in headers.items()]
        survive(client, known, method, path, content=content, headers=pairs)

    send()
    check_alive(client)
