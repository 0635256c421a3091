"""Assistants that clients make."""

from __future__ import annotations

from typing import Any

from tests.contract.matching import TIME, Exactly
from tests.contract.recordings.calls import delete, get, patch, post
from tests.contract.recordings.shapes import DETAIL, NOBODY, UUID


def mine(**other: Any) -> dict[str, Any]:
    """The assistant that these calls make, at one of its versions."""
    return {
        "assistant_id": UUID,
        "graph_id": "agent",
        "config": {"configurable": {"k": 1}, "recursion_limit": 7},
        "context": {"k": 1},
        "metadata": Exactly({"m": "{unique}"}),
        "name": "mine {unique}",
        "created_at": TIME,
        "updated_at": TIME,
        "description": "d",
        **other,
    }


def version(number: int, **other: Any) -> dict[str, Any]:
    said = mine(version=number, assistant_id="{made}", **other)
    return {key: value for key, value in said.items() if key != "updated_at"}


RENAMED = {"metadata": {"m": "{unique}", "m2": "{unique}"}, "name": "mine {unique} too"}
RETOLD = {"config": Exactly({"configurable": {"k": 2}}), "context": {"k": 2}}
MADE_ASSISTANTS = [
    post(
        "/assistants",
        {
            "graph_id": "agent",
            "config": {"configurable": {"k": 1}, "recursion_limit": 7},
            "metadata": {"m": "{unique}"},
            "name": "mine {unique}",
            "description": "d",
        },
        shape=Exactly(mine(version=1)),
        keep={"made": "assistant_id"},
        seen="assistants 23",
    ),
    post(
        "/assistants",
        {"graph_id": "agent", "assistant_id": "{made}"},
        status=409,
        shape={"detail": "Assistant {made} already exists"},
        seen="assistants 25",
    ),
    post(
        "/assistants",
        {"graph_id": "agent", "assistant_id": "{made}", "if_exists": "do_nothing"},
        shape=mine(version=1, assistant_id="{made}"),
        seen="assistants 26",
    ),
    post("/assistants", {"graph_id": "nosuch"}, status=404, shape=DETAIL, seen="assistants 28"),
    post(
        "/assistants",
        {"graph_id": "agent", "assistant_id": "not-a-uuid"},
        status=422,
        shape={"detail": "Invalid assistant ID: must be a UUID"},
        seen="assistants 29",
    ),
    post(
        "/assistants",
        {"graph_id": "agent", "config": {"configurable": {"b": 2}}, "context": {"a": 1}},
        status=400,
        shape=DETAIL,
        differs="text",
        seen="assistants 31",
    ),
    patch(
        "/assistants/{made}",
        {"metadata": {"m2": "{unique}"}, "name": "mine {unique} too"},
        shape=mine(version=2, **RENAMED),
        seen="assistants 32",
    ),
    patch(
        "/assistants/{made}",
        {"config": {"configurable": {"k": 2}}},
        shape=mine(version=3, **RENAMED, **RETOLD),
        seen="assistants 33",
    ),
    post(
        "/assistants/{made}/versions",
        {"limit": 10, "offset": 0},
        shape=[
            Exactly(version(3, **RENAMED, **RETOLD)),
            Exactly(version(2, **RENAMED)),
            Exactly(version(1)),
        ],
        seen="assistants 34",
    ),
    post(
        "/assistants/{made}/latest",
        {"version": 1},
        shape=mine(version=1),
        differs="set-latest",
        seen="assistants 35",
    ),
    get("/assistants/{made}", shape=mine(version=1), differs="set-latest", seen="assistants 36"),
    patch(
        f"/assistants/{NOBODY}",
        {"name": "x"},
        status=404,
        shape=DETAIL,
        differs="text",
        seen="assistants 37",
    ),
    post(
        "/assistants/{made}/latest",
        {"version": 99},
        status=404,
        shape={"detail": "Version 99 not found for assistant {made}"},
        seen="assistants 38",
    ),
    post(
        "/assistants/search",
        {"limit": 10, "offset": 0, "metadata": {"m2": "{unique}"}},
        shape=[],
        headers={"x-pagination-total": "0"},
        seen="assistants 39",
    ),
    post(
        "/assistants/search",
        {"limit": 10, "offset": 0, "name": "MINE {unique}"},
        shape=[mine(version=1)],
        headers={"x-pagination-total": "1", "x-pagination-next": None},
        seen="assistants 40",
        differs="set-latest",
    ),
    delete("/assistants/{made}", status=204, seen="assistants 41"),
    delete("/assistants/{made}", status=404, shape=DETAIL, differs="text", seen="assistants 43"),
    get("/assistants/{made}", status=404, shape=DETAIL),
    post("/runs/wait", {"assistant_id": "{made}", "input": {}}, status=404, shape=DETAIL),
]
