"""Proofs for ``/store``."""

from __future__ import annotations

import uuid
from typing import Any

import httpx

from tests.contract.drift.proving import World, proves

ITEMS, SEARCH, NAMES = "/store/items", "POST /store/items/search", "POST /store/namespaces"


@proves(f"PUT {ITEMS}", "body.namespace", "body.key", "body.value")
@proves(f"GET {ITEMS}", "query.namespace", "query.key")
@proves(f"DELETE {ITEMS}", "body.namespace", "body.key")
async def an_item_is_put_read_and_deleted_by_its_name(world: World) -> None:
    store, root = world.client.store, str(uuid.uuid4())
    for place, key, value in (("a", "k", 1), ("a", "l", 2), ("b", "k", 3)):
        await store.put_item([root, place], key, {"v": value})
    await store.delete_item([root, "a"], "k")
    assert await store.get_item([root, "a"], "k") is None
    assert (await store.get_item([root, "a"], "l"))["value"] == {"v": 2}
    assert (await store.get_item([root, "b"], "k"))["value"] == {"v": 3}


@proves(SEARCH, "body.namespace_prefix", "body.filter", "body.limit", "body.offset")
async def items_are_searched_by_place_and_value(world: World) -> None:
    store, root = world.client.store, str(uuid.uuid4())
    for number in (1, 2, 3):
        await store.put_item([root, "a"], str(number), {"v": number})
    await store.put_item([root, "b"], "k", {"v": 1})
    found = (await store.search_items([root, "a"], filter={"v": 2}))["items"]
    assert [item["key"] for item in found] == ["2"]
    page = (await store.search_items([root, "a"], limit=1, offset=1))["items"]
    whole = (await store.search_items([root, "a"]))["items"]
    assert page == whole[1:2]


@proves(NAMES, "body.prefix", "body.suffix", "body.max_depth", "body.limit", "body.offset")
async def namespaces_are_listed_as_asked(world: World) -> None:
    store, root = world.client.store, str(uuid.uuid4())
    for path in (["a", "x"], ["b", "x"], ["b", "y", "z"]):
        await store.put_item([root, *path], "k", {})

    async def found(**asked: Any) -> list[list[str]]:
        names = (await store.list_namespaces(prefix=[root], **asked))["namespaces"]
        return [name[1:] for name in names]

    assert await found() == [["a", "x"], ["b", "x"], ["b", "y", "z"]]
    assert await found(suffix=["x"]) == [["a", "x"], ["b", "x"]]
    assert await found(max_depth=2) == [["a"], ["b"]]
    assert await found(limit=1, offset=1) == [["b", "x"]]


@proves(f"PUT {ITEMS}", "body.ttl", "body.index")
@proves(f"GET {ITEMS}", "query.refresh_ttl")
@proves(SEARCH, "body.query", "body.refresh_ttl")
async def lives_and_indexes_are_understood(world: World) -> None:
    """That they act needs a store made for it, and is shown by ``test_store``."""
    key = {"namespace": [str(uuid.uuid4())], "key": "k"}
    bad: list[httpx.Response] = [
        await world.http.put(ITEMS, json={**key, "value": {}, "ttl": -1}),
        await world.http.put(ITEMS, json={**key, "value": {}, "index": "x"}),
        await world.http.get(ITEMS, params={"namespace": "a", "key": "k", "refresh_ttl": "maybe"}),
        await world.http.post(
            f"{ITEMS}/search", json={"namespace_prefix": ["a"], "refresh_ttl": "maybe"}
        ),
        await world.http.post(f"{ITEMS}/search", json={"namespace_prefix": ["a"], "query": 1}),
    ]
    assert [answer.status_code for answer in bad] == [422] * 5
