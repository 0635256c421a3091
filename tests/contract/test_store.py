"""The store through the stock clients, and as the nodes of graphs see it."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import psycopg
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import BadRequestError

from langgraph_durable.postgres import Database
from langgraph_durable.settings import Settings
from tests.conftest import APPS
from tests.servers import Databases, Server, until


@pytest.fixture(scope="module")
def server(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server whose store has an index and times to live."""
    log = tmp_path_factory.mktemp("memory") / "log"
    config = APPS / "memory" / "langgraph.json"
    running = Server(config, database_url=databases.create(), log=log)
    yield running.start()
    running.close()


@pytest.fixture
def root() -> str:
    return f"root-{uuid.uuid4()}"


def sql(server: Server, statement: str, *parameters: Any) -> list[Any]:
    url = Database(Settings(database_url=server.database_url), "test").conninfo()
    with psycopg.connect(url, autocommit=True) as conn:
        cursor = conn.execute(statement.encode(), parameters)
        return cursor.fetchall() if cursor.description else []


def expire(server: Server, root: str) -> None:
    """As if the time of everything under ``root`` had just passed."""
    sql(server, "UPDATE store SET expires_at = now() - interval '1 s' WHERE prefix = %s", root)


async def put(client: LangGraphClient, root: str, **values: Any) -> None:
    for key, value in values.items():
        await client.store.put_item([root], key, value)


async def keys(client: LangGraphClient, root: str, **asked: Any) -> list[str]:
    found = await client.store.search_items([root], **asked)
    return [item["key"] for item in found["items"]]


def test_the_sync_client_stores_reads_lists_and_deletes(server: Server, root: str) -> None:
    with get_sync_client(url=server.url) as client:
        client.store.put_item([root, "a"], "k", {"n": 1})
        client.store.put_item([root, "a"], "k", {"n": 2}, index=False, ttl=5)
        assert client.store.get_item([root, "a"], "k")["value"] == {"n": 2}
        assert client.store.search_items([root])["items"][0]["namespace"] == [root, "a"]
        assert client.store.list_namespaces([root]) == {"namespaces": [[root, "a"]]}
        client.store.delete_item([root, "a"], "k")
        assert client.store.get_item([root, "a"], "k") is None


async def test_an_item_that_is_replaced_keeps_the_time_it_was_made(
    client: LangGraphClient, root: str
) -> None:
    await put(client, root, k={"n": 1})
    first = await client.store.get_item([root], "k")
    await put(client, root, k={"n": 2})
    second = await client.store.get_item([root], "k")
    assert second["created_at"] == first["created_at"]
    assert second["updated_at"] > first["updated_at"]


async def test_the_pages_of_a_search_hold_every_item_once(
    client: LangGraphClient, root: str
) -> None:
    await put(client, root, **{f"k{n}": {"n": n} for n in range(7)})
    pages = [await keys(client, root, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert sorted(key for page in pages for key in page) == [f"k{n}" for n in range(7)]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"n": 9}, ["nine"]),
        ({"n": {"$eq": 10}}, ["ten"]),
        ({"n": {"$ne": 10}}, ["nine", "word"]),
        ({"n": {"$gt": 9}}, ["ten"]),
        ({"n": {"$gte": 9, "$lt": 10}}, ["nine"]),
        ({"n": {"$lte": 9.5}}, ["nine"]),
        ({"n": {"$gt": "p"}}, ["word"]),
        ({"n": 9, "of": {"kind": "odd"}}, ["nine"]),
        ({"of": {"kind": "odd"}, "n": 10}, []),
        ({"%s": 1}, []),
        ({}, ["nine", "ten", "word"]),
    ],
)
async def test_filters_compare_numbers_as_numbers_and_text_as_text(
    client: LangGraphClient, root: str, asked: Any, found: list[str]
) -> None:
    await put(client, root, nine={"n": 9, "of": {"kind": "odd"}}, ten={"n": 10}, word={"n": "q"})
    assert sorted(await keys(client, root, filter=asked)) == found


async def test_a_prefix_is_made_of_whole_labels(client: LangGraphClient, root: str) -> None:
    await client.store.put_item([root, "user_1"], "k", {})
    await client.store.put_item([f"{root}x"], "k", {})
    found = await client.store.search_items([root])
    assert [item["namespace"] for item in found["items"]] == [[root, "user_1"]]
    assert (await client.store.search_items([root, "user-1"]))["items"] == []


async def test_namespaces_are_found_by_prefix_suffix_and_wildcards(
    client: LangGraphClient, root: str
) -> None:
    for path in (["a", "notes"], ["b", "notes"], ["b", "notes", "old"]):
        await client.store.put_item([root, *path], "k", {})

    async def found(**asked: Any) -> list[Any]:
        return (await client.store.list_namespaces(**asked))["namespaces"]

    a, b, old = [root, "a", "notes"], [root, "b", "notes"], [root, "b", "notes", "old"]
    assert await found(prefix=[root]) == [a, b, old]
    assert await found(prefix=[root], suffix=["notes"]) == [a, b]
    assert await found(prefix=[root, "*", "notes"]) == [a, b, old]
    assert await found(prefix=[root], max_depth=2) == [[root, "a"], [root, "b"]]
    assert await found(prefix=[root], limit=1, offset=1) == [b]


@pytest.mark.parametrize("graph", ["memory", "sync_memory"])
async def test_nodes_and_clients_see_the_same_items(
    client: LangGraphClient, root: str, graph: str
) -> None:
    await client.store.put_item(["users", root], "from-the-client", {"text": "hello"})
    given: dict[str, Any] = {"user": root, "note": {"text": "hi"}}
    result: Any = await client.runs.wait(None, graph, input=given)
    assert sorted(value["text"] for value in result["found"]) == ["hello", "hi"]
    item = await client.store.get_item(["users", root], "from-a-node")
    assert item["value"] == {"text": "hi"}


async def test_a_query_finds_the_nearest_first_and_nothing_that_is_not_indexed(
    client: LangGraphClient, root: str
) -> None:
    await put(client, root, pets={"text": "cat dog"}, tide={"text": "sea"}, cats={"text": "cat"})
    await client.store.put_item([root], "hidden", {"text": "cat"}, index=False)
    await client.store.put_item([root], "title", {"title": "dog dog"}, index=["title", "title"])
    found = (await client.store.search_items([root], query="cat", limit=2))["items"]
    assert [item["key"] for item in found] == ["cats", "pets"]
    nearest, next_to_it = (item["score"] or 0 for item in found)
    assert nearest == pytest.approx(1.0)
    assert nearest > next_to_it
    assert await keys(client, root, query="dog", limit=1) == ["title"]
    assert await keys(client, root, query="cat", filter={"text": "sea"}) == ["tide"]
    assert "hidden" in await keys(client, root)


async def test_every_element_of_an_indexed_list_is_found(
    client: LangGraphClient, root: str
) -> None:
    await put(client, root, both={"tags": ["dog", "sea"]}, other={"tags": ["cat"]})
    for subject in ("dog", "sea"):
        assert await keys(client, root, query=subject, limit=1) == ["both"]


async def test_a_namespace_is_searched_whole_however_many_others_are_nearer(
    client: LangGraphClient, server: Server, root: str
) -> None:
    """The index finds the nearest of all namespaces first."""
    await put(client, root, far={"text": "sea"}, farther={"text": "sea sea dog"})
    near = f"{root}-near"
    sql(
        server,
        "WITH made AS (INSERT INTO store (prefix, key, value)"
        " SELECT %s, n::text, '{}' FROM generate_series(1, 3000) n RETURNING prefix, key)"
        " INSERT INTO store_vectors (prefix, key, field_name, embedding)"
        " SELECT prefix, key, 'text', '[1, 0, 0]' FROM made",
        near,
    )
    sql(server, "ANALYZE store, store_vectors")
    assert await keys(client, root, query="cat") == ["far", "farther"]


async def test_an_item_lives_for_the_configured_time_or_its_own(
    client: LangGraphClient, server: Server, root: str
) -> None:
    await put(client, root, default={"a": 1})
    await client.store.put_item([root], "own", {"a": 1}, ttl=5)
    rows = sql(
        server,
        "SELECT key, round(extract(epoch FROM expires_at - now()) / 60)::int FROM store"
        " WHERE prefix = %s ORDER BY key",
        root,
    )
    assert rows == [("default", 60), ("own", 5)]


async def test_what_has_expired_is_gone_at_once_and_swept_later(
    client: LangGraphClient, server: Server, root: str
) -> None:
    await put(client, root, k={"text": "cat"})
    expire(server, root)
    assert await client.store.get_item([root], "k") is None
    assert await keys(client, root) == []
    assert await keys(client, root, query="cat") == []
    assert (await client.store.list_namespaces([root]))["namespaces"] == []
    count = "SELECT count(*) FROM store_vectors WHERE prefix = %s"
    until(lambda: sql(server, count, root) == [(0,)], "the item is swept with its vectors")


async def test_reading_prolongs_a_life_only_when_asked(
    client: LangGraphClient, server: Server, root: str
) -> None:
    await put(client, root, k={"a": 1})
    soon = "UPDATE store SET expires_at = now() + interval '30 s' WHERE prefix = %s"
    left = "SELECT expires_at > now() + interval '1 min' FROM store WHERE prefix = %s"
    sql(server, soon, root)
    await client.store.get_item([root], "k")
    await keys(client, root)
    assert sql(server, left, root) == [(False,)]
    await client.store.get_item([root], "k", refresh_ttl=True)
    assert sql(server, left, root) == [(True,)]
    sql(server, soon, root)
    await keys(client, root, refresh_ttl=True)
    assert sql(server, left, root) == [(True,)]


async def test_an_item_too_big_for_its_place_fails_alone(
    client: LangGraphClient, root: str
) -> None:
    long = "".join(chr(0x4E00 + number) for number in range(1500))
    with pytest.raises(BadRequestError, match="too long together"):
        await client.store.put_item([root], long, {})
    with pytest.raises(BadRequestError, match='cannot be "langgraph"'):
        await client.store.put_item(["langgraph"], "k", {})


BAD: list[tuple[str, str, Any]] = [
    ("PUT", "/store/items", {"key": "k", "value": {}}),
    ("PUT", "/store/items", {"namespace": ["a", ""], "key": "k", "value": {}}),
    ("PUT", "/store/items", {"namespace": "a", "key": "k", "value": {}}),
    ("PUT", "/store/items", {"namespace": ["a"], "key": 5, "value": {}}),
    ("PUT", "/store/items", {"namespace": ["a"], "key": "k"}),
    ("PUT", "/store/items", {"namespace": ["a"], "key": "k", "value": {}, "ttl": 0}),
    ("PUT", "/store/items", {"namespace": ["a"], "key": "k", "value": {}, "ttl": True}),
    ("PUT", "/store/items", {"namespace": ["a"], "key": "k", "value": {}, "index": [5]}),
    ("GET", "/store/items?namespace=a..b&key=k", None),
    ("GET", "/store/items?namespace=a", None),
    ("GET", "/store/items?namespace=a&key=k&refresh_ttl=maybe", None),
    ("DELETE", "/store/items", {"namespace": ["a.b"], "key": "k"}),
    ("DELETE", "/store/items", {"key": "k"}),
    ("POST", "/store/items/search", {"namespace_prefix": ["a.b"]}),
    ("POST", "/store/items/search", {"namespace_prefix": ["a"], "filter": {"a": {"$in": [1]}}}),
    ("POST", "/store/items/search", {"namespace_prefix": ["a"], "filter": []}),
    ("POST", "/store/items/search", {"namespace_prefix": ["a"], "limit": 0}),
    ("POST", "/store/items/search", {"namespace_prefix": ["a"], "offset": -1}),
    ("POST", "/store/items/search", {"namespace_prefix": ["a"], "query": 5}),
    ("POST", "/store/namespaces", {"prefix": ["."]}),
    ("POST", "/store/namespaces", {"max_depth": 0}),
]


@pytest.mark.parametrize(("method", "path", "body"), BAD)
def test_a_request_that_makes_no_sense_is_told_so(
    server: Server, method: str, path: str, body: Any
) -> None:
    answer = httpx.request(method, server.url + path, json=body)
    assert answer.status_code == 422, answer.text
    assert answer.json().keys() == {"detail"}


def test_null_and_absent_mean_the_same(server: Server, root: str) -> None:
    item = {"namespace": [root], "key": "k", "value": {"a": None}, "index": None, "ttl": None}
    assert httpx.put(f"{server.url}/store/items", json=item).status_code == 204
    nothing = {"filter": None, "query": None, "limit": None, "offset": None, "refresh_ttl": None}
    body = {"namespace_prefix": [root], **nothing}
    found = httpx.post(f"{server.url}/store/items/search", json=body).json()["items"]
    assert [item["value"] for item in found] == [{"a": None}]
    body = dict.fromkeys(("prefix", "suffix", "max_depth", "limit", "offset"))
    assert httpx.post(f"{server.url}/store/namespaces", json=body).status_code == 200
