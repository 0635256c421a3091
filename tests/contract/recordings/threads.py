"""Threads: made, changed, searched, deleted."""

from __future__ import annotations

from typing import Any

from tests.contract.matching import TIME
from tests.contract.recordings.calls import Call, delete, get, patch, post
from tests.contract.recordings.shapes import (
    ADD,
    ASKING,
    DETAIL,
    FRESH_THREAD,
    HUMAN,
    NOBODY,
    TOLD,
    TOOL,
    UUID,
    new_thread,
    wait,
)
from tests.contract.recordings.states import STATES


def update(role: str, content: str, node: str) -> dict[str, Any]:
    values = {"messages": [{"role": role, "content": content}]}
    return {"values": values, "command": None, "as_node": node}


THREADS = [
    post(
        "/threads",
        {"metadata": {"u": "{unique}", "graph_id": "agent"}},
        shape={**FRESH_THREAD, "metadata": {"u": "{unique}", "graph_id": "agent"}},
        keep={"thread": "thread_id"},
        seen="threads 1",
    ),
    post(
        "/threads",
        {"thread_id": "{thread}"},
        status=409,
        shape=DETAIL,
        differs="text",
        seen="threads 3",
    ),
    post(
        "/threads",
        {"thread_id": "{thread}", "if_exists": "do_nothing"},
        shape={"thread_id": "{thread}", "metadata": {"u": "{unique}", "graph_id": "agent"}},
        seen="threads 5",
    ),
    post(
        "/threads",
        {"thread_id": "my-thread-{unique}"},
        shape={"thread_id": "my-thread-{unique}"},
        differs="opaque-thread-ids",
        seen="threads 7",
    ),
    get("/threads/{thread}?include=ttl", shape={"thread_id": "{thread}"}, seen="threads 15"),
    get(f"/threads/{NOBODY}", status=404, shape=DETAIL, differs="text", seen="threads 16"),
    get(
        "/threads/bad-uuid",
        status=404,
        shape=DETAIL,
        differs="opaque-thread-ids",
        seen="threads 17",
    ),
    patch(
        "/threads/{thread}",
        {"metadata": {"v": 2}},
        shape={"metadata": {"u": "{unique}", "graph_id": "agent", "v": 2}},
        seen="threads 18",
    ),
    patch(
        "/threads/{thread}",
        {"metadata": {"v": 3}},
        sent={"prefer": "return=minimal"},
        status=204,
        seen="threads 19",
    ),
    patch(f"/threads/{NOBODY}", {"metadata": {}}, status=404, shape=DETAIL, seen="threads 20"),
    *STATES,
    post(
        "/threads/search",
        {"limit": 10, "offset": 0, "metadata": {"u": "{unique}"}},
        shape=[{"thread_id": "{thread}", "metadata": {"u": "{unique}"}}],
        headers={"x-pagination-total": "1", "x-pagination-next": None},
        seen="threads 61",
    ),
    post(
        "/threads/search",
        {
            "limit": 1,
            "offset": 0,
            "ids": ["{thread}", "{blank}"],
            "sort_by": "updated_at",
            "sort_order": "desc",
            "select": ["thread_id", "status"],
        },
        shape=[{"thread_id": "{thread}", "status": str}],
        headers={"x-pagination-total": "2", "x-pagination-next": "1"},
        seen="threads 62",
    ),
    post(
        "/threads/search",
        {"ids": ["{thread}"], "extract": {"n": "values.messages[-1].content"}},
        shape=[{"thread_id": "{thread}", "extracted": {"n": "hi"}}],
        seen="threads 63",
    ),
    post(
        "/threads/search",
        {"values": {"x": "{unique}"}},
        shape=[],
        differs="values-search",
        seen="threads 64",
    ),
    post("/threads/count", {"metadata": {"u": "{unique}"}}, shape=1, seen="threads 65"),
    post("/threads/search", {"limit": 0, "offset": 0}, status=422, shape=DETAIL, seen="threads 67"),
    post(
        "/threads/search",
        {"limit": 100000, "offset": 0},
        status=422,
        shape=DETAIL,
        seen="threads 69",
    ),
    delete("/threads/{blank}", status=204, seen="threads 76"),
    delete("/threads/{blank}", status=404, shape=DETAIL, seen="threads 78"),
    post(
        "/threads",
        raw=b"{bad",
        status=422,
        shape={"detail": "Invalid JSON in request body"},
        seen="threads 83",
    ),
    post(
        "/threads",
        raw=b"",
        status=422,
        shape={"detail": "Invalid JSON in request body"},
        seen="threads 87",
    ),
    post("/threads", {"metadata": "str"}, status=422, shape=DETAIL, seen="threads 85"),
]


def living(minutes: float, strategy: str, **more: Any) -> Call:
    given = {"ttl": {"ttl": minutes, "strategy": strategy}}
    return post("/threads", given, shape=FRESH_THREAD, keep={"mortal": "thread_id"}, **more)


LIVES = [
    living(5, "delete", seen="threads 9"),
    living(5, "keep_latest", seen="threads 11"),
    living(1, "delete", seen="threads 12"),
    get(
        "/threads/{mortal}?include=ttl",
        shape={"ttl": {"strategy": "delete", "ttl_minutes": 1.0, "expires_at": TIME}},
        seen="threads 14",
        differs="ttl-told",
    ),
    get("/threads/{mortal}", shape=FRESH_THREAD),
]
ANSWERED = {"messages": [HUMAN, ASKING, TOOL, TOLD]}
COPIES = [
    new_thread(),
    wait("agent", ANSWERED, ADD),
    post(
        "/threads/{thread}/copy",
        shape={"thread_id": UUID, "metadata": {"graph_id": "agent"}, "status": "idle"},
        keep={"copy": "thread_id"},
        seen="threads 56",
    ),
    get("/threads/{copy}/state?subgraphs=false", shape={"values": ANSWERED}, seen="threads 58"),
    get("/threads/{copy}/runs?limit=10&offset=0", shape=[], seen="threads 59"),
    post(
        f"/threads/{NOBODY}/copy", status=404, shape=DETAIL, seen="threads 60", differs="copy-404"
    ),
    post(
        "/threads/prune",
        {"thread_ids": ["{thread}"], "strategy": "keep_latest"},
        shape={"pruned_count": 1},
        seen="threads 71",
        differs="prune-works",
    ),
    post(
        "/threads/{thread}/history",
        {"limit": 10},
        shape=[{"values": ANSWERED, "next": []}],
        seen="threads 72",
        differs="prune-works",
    ),
    post(
        "/threads",
        {
            "metadata": {"graph_id": "agent"},
            "supersteps": [
                {"updates": [update("user", "s", "__input__")]},
                {"updates": [update("ai", "r", "model")]},
            ],
        },
        shape={
            "metadata": {"graph_id": "agent"},
            "status": "idle",
            "values": {"messages": [{"type": "ai", "content": "r"}]},
        },
        seen="threads 74",
    ),
    get(
        "/threads/{thread}/storage",
        status=404,
        shape=DETAIL,
        seen="threads 75",
        differs="not-served",
    ),
    post(
        "/threads/prune", {"thread_ids": ["{thread}"]}, shape={"pruned_count": 1}, seen="threads 80"
    ),
    get("/threads/{thread}", status=404, shape=DETAIL, seen="threads 81"),
]
