"""Items and namespaces. ``{unique}`` is a root of its own: the server is shared."""

from __future__ import annotations

from typing import Any

from tests.contract.matching import TIME, Exactly, Matches
from tests.contract.recordings.calls import Call, delete, get, post, put, split
from tests.contract.recordings.shapes import DETAIL, JSON


def item(label: str, key: str, value: dict[str, Any], **more: Any) -> Exactly:
    place = {"namespace": ["{unique}", label], "key": key, "value": Exactly(value)}
    return Exactly({**place, "created_at": TIME, "updated_at": TIME, **more})


FIRST, SECOND = {"a": 1}, {"a": 2, "b": "x"}
BOTH = [item("2", "k2", SECOND, score=None), item("1", "k", FIRST, score=None)]
NAMED = {"namespace": ["{unique}", "1"], "key": "k"}
MISSING: dict[str, Any] = {"shape": None, "headers": {"content-type": JSON}}


def search(shape: list[Any], **asked: Any) -> Call:
    said, asked = split({"differs": "newest-items" if len(shape) > 1 else None, **asked})
    body = {"namespace_prefix": ["{unique}"], "limit": 10, "offset": 0, **asked}
    return post("/store/items/search", body, shape=Exactly({"items": shape}), **said)


def namespaces(shape: list[list[str]], **asked: Any) -> Call:
    said, asked = split(asked)
    body = {"prefix": ["{unique}"], "limit": 100, "offset": 0, **asked}
    return post("/store/namespaces", body, shape=Exactly({"namespaces": shape}), **said)


STORE = [
    put("/store/items", {**NAMED, "value": FIRST}, status=204, seen="store 0"),
    put(
        "/store/items",
        {"namespace": ["{unique}", "2"], "key": "k2", "value": SECOND, "ttl": 1},
        status=204,
        seen="store 1",
    ),
    get("/store/items?namespace={unique}.1&key=k", shape=item("1", "k", FIRST), seen="store 2"),
    get("/store/items?namespace={unique}.1&key=nope", **MISSING, seen="store 4"),
    search(BOTH, seen="store 5"),
    search(BOTH[:1], filter={"a": 2}, limit=1, seen="store 6"),
    search(BOTH, query="x", seen="store 8"),
    namespaces([["{unique}", "1"], ["{unique}", "2"]], seen="store 9"),
    namespaces([["{unique}"]], max_depth=1, seen="store 10"),
    delete("/store/items", body=NAMED, status=204, seen="store 11"),
    delete("/store/items", body=NAMED, status=204, seen="store 13"),
    get("/store/items?namespace={unique}.1&key=k", **MISSING, seen="store 14"),
    put(
        "/store/items",
        {"namespace": [], "key": "k", "value": FIRST},
        status=400,
        shape={"detail": "Namespace cannot be empty."},
        seen="store 16",
    ),
    put(
        "/store/items",
        {"namespace": ["a.b"], "key": "k", "value": {}},
        status=422,
        shape={"detail": Matches("Namespace label 'a.b' must be a non-empty .* without periods")},
        differs="text",
        seen="store 18",
    ),
    put(
        "/store/items", {"namespace": ["a"], "value": {}}, status=422, shape=DETAIL, seen="store 20"
    ),
    put(
        "/store/items",
        {"namespace": ["a"], "key": "k", "value": "str"},
        status=422,
        shape=DETAIL,
        differs="text",
        seen="store 22",
    ),
]
