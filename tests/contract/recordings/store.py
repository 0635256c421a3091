"""Items and namespaces. ``{unique}`` is a root of its own: the server is shared."""

from __future__ import annotations

from typing import Any

from tests.contract.matching import TIME, Exactly, Matches
from tests.contract.recordings.calls import Call, delete, get, post, put
from tests.contract.recordings.shapes import DETAIL, JSON


def item(label: str, key: str, value: dict[str, Any], **more: Any) -> Exactly:
    place = {"namespace": ["{unique}", label], "key": key, "value": Exactly(value)}
    return Exactly({**place, "created_at": TIME, "updated_at": TIME, **more})


FIRST, SECOND = {"a": 1}, {"a": 2, "b": "x"}
BOTH = [item("2", "k2", SECOND, score=None), item("1", "k", FIRST, score=None)]
NAMED = {"namespace": ["{unique}", "1"], "key": "k"}
MISSING: dict[str, Any] = {"shape": None, "headers": {"content-type": JSON}}


def search(shape: list[Any], **asked: Any) -> Call:
    differs = "newest-items" if len(shape) > 1 else None
    body = {"namespace_prefix": ["{unique}"], "limit": 10, "offset": 0, **asked}
    return post("/store/items/search", body, shape=Exactly({"items": shape}), differs=differs)


def namespaces(shape: list[list[str]], **asked: Any) -> Call:
    body = {"prefix": ["{unique}"], "limit": 100, "offset": 0, **asked}
    return post("/store/namespaces", body, shape=Exactly({"namespaces": shape}))


STORE = [
    put("/store/items", {**NAMED, "value": FIRST}, status=204),
    put(
        "/store/items",
        {"namespace": ["{unique}", "2"], "key": "k2", "value": SECOND, "ttl": 1},
        status=204,
    ),
    get("/store/items?namespace={unique}.1&key=k", shape=item("1", "k", FIRST)),
    get("/store/items?namespace={unique}.1&key=nope", **MISSING),
    search(BOTH),
    search(BOTH[:1], filter={"a": 2}, limit=1),
    search(BOTH, query="x"),
    namespaces([["{unique}", "1"], ["{unique}", "2"]]),
    namespaces([["{unique}"]], max_depth=1),
    delete("/store/items", body=NAMED, status=204),
    delete("/store/items", body=NAMED, status=204),
    get("/store/items?namespace={unique}.1&key=k", **MISSING),
    put(
        "/store/items",
        {"namespace": [], "key": "k", "value": FIRST},
        status=400,
        shape={"detail": "Namespace cannot be empty."},
    ),
    put(
        "/store/items",
        {"namespace": ["a.b"], "key": "k", "value": {}},
        status=422,
        shape={"detail": Matches("Namespace label 'a.b' must be a non-empty .* without periods")},
        differs="text",
    ),
    put("/store/items", {"namespace": ["a"], "value": {}}, status=422, shape=DETAIL),
    put(
        "/store/items",
        {"namespace": ["a"], "key": "k", "value": "str"},
        status=422,
        shape=DETAIL,
        differs="text",
    ),
]
