"""Threads, state, history, search."""

from __future__ import annotations

from tests.contract.matching import Exactly
from tests.contract.recordings.calls import delete, get, patch, post
from tests.contract.recordings.shapes import (
    ADD,
    AGENT_ID,
    ASKING,
    DETAIL,
    EMPTY_STATE,
    FRESH_THREAD,
    HUMAN,
    NOBODY,
    TOLD,
    TOOL,
    state_of,
    wait,
)

SAID = {"messages": [{"role": "user", "content": "hi"}]}
THREADS = [
    post(
        "/threads",
        {"metadata": {"u": "{unique}", "graph_id": "agent"}},
        shape={**FRESH_THREAD, "metadata": {"u": "{unique}", "graph_id": "agent"}},
        keep={"thread": "thread_id"},
    ),
    post("/threads", {"thread_id": "{thread}"}, status=409, shape=DETAIL, differs="text"),
    post(
        "/threads",
        {"thread_id": "{thread}", "if_exists": "do_nothing"},
        shape={"thread_id": "{thread}", "metadata": {"u": "{unique}", "graph_id": "agent"}},
    ),
    post(
        "/threads",
        {"thread_id": "my-thread-{unique}"},
        shape={"thread_id": "my-thread-{unique}"},
        differs="opaque-thread-ids",
    ),
    get("/threads/{thread}?include=ttl", shape={"thread_id": "{thread}"}),
    get(f"/threads/{NOBODY}", status=404, shape=DETAIL, differs="text"),
    get("/threads/bad-uuid", status=404, shape=DETAIL, differs="opaque-thread-ids"),
    patch(
        "/threads/{thread}",
        {"metadata": {"v": 2}},
        shape={"metadata": {"u": "{unique}", "graph_id": "agent", "v": 2}},
    ),
    patch(
        "/threads/{thread}", {"metadata": {"v": 3}}, sent={"prefer": "return=minimal"}, status=204
    ),
    patch(f"/threads/{NOBODY}", {"metadata": {}}, status=404, shape=DETAIL),
    get("/threads/{thread}/state?subgraphs=false", shape=EMPTY_STATE),
    post("/threads/{thread}/history", {"limit": 10}, shape=[]),
    get(f"/threads/{NOBODY}/state?subgraphs=false", status=404, shape=DETAIL),
    post(f"/threads/{NOBODY}/history", {"limit": 10}, status=404, shape=DETAIL),
    post(
        "/threads/{thread}/state",
        {"values": SAID},
        shape={
            "checkpoint": {"thread_id": "{thread}", "checkpoint_ns": "", "checkpoint_id": str},
            "configurable": {"thread_id": "{thread}", "checkpoint_ns": "", "checkpoint_id": str},
            "checkpoint_id": str,
        },
        keep={"first": "checkpoint_id"},
    ),
    post("/threads/{thread}/state", {"values": SAID, "as_node": "__start__"}),
    post("/threads/{thread}/state", {"values": SAID, "as_node": "zzz"}, status=400, shape=DETAIL),
    post("/threads", {}, keep={"blank": "thread_id"}),
    post("/threads/{blank}/state", {"values": {"x": 1}}, status=400, shape=DETAIL),
    wait("agent", {"messages": [dict, dict, HUMAN, ASKING, TOOL, TOLD]}, ADD),
    get(
        "/threads/{thread}/state?subgraphs=false",
        shape=state_of({"messages": [dict, dict, HUMAN, ASKING, TOOL, TOLD]}, tasks=[]),
        keep={"latest": "checkpoint_id", "before_latest": "parent_checkpoint_id"},
    ),
    get(
        "/threads/{thread}",
        shape={
            "metadata": {
                "u": "{unique}",
                "graph_id": "agent",
                "v": 3,
                "assistant_id": AGENT_ID,
            },
            "status": "idle",
            "values": {"messages": [dict, dict, HUMAN, ASKING, TOOL, TOLD]},
            "interrupts": {},
            "error": None,
        },
    ),
    get(
        "/threads/{thread}/state?subgraphs=false&select=values.messages&select=next",
        shape=Exactly(
            {"values": {"messages": [dict, dict, HUMAN, ASKING, TOOL, TOLD]}, "next": []}
        ),
        differs="state-select",
    ),
    post(
        "/threads/{thread}/history",
        {"limit": 3},
        shape=[{"checkpoint_id": "{latest}"}, {"checkpoint_id": "{before_latest}"}, dict],
        keep={"before": "2.checkpoint_id"},
    ),
    post(
        "/threads/{thread}/history",
        {"limit": 1, "before": {"checkpoint_id": "{before_latest}", "thread_id": "{thread}"}},
        shape=[{"checkpoint_id": "{before}"}],
        differs="before-checkpoint",
    ),
    post(
        "/threads/{thread}/history",
        {"limit": 1, "before": "{before_latest}"},
        shape=[{"checkpoint_id": "{before}"}],
    ),
    get(
        "/threads/{thread}/state/{before_latest}?subgraphs=false",
        shape=state_of(
            {"messages": [dict, dict, HUMAN, ASKING, TOOL]},
            following=["model"],
            tasks=[
                {
                    "id": str,
                    "name": "model",
                    "path": ["__pregel_pull", "model"],
                    "error": None,
                    "interrupts": [],
                    "checkpoint": None,
                    "state": None,
                    "result": {"messages": list},
                }
            ],
        ),
    ),
    post(
        "/threads/{thread}/state/checkpoint",
        {"checkpoint": {"checkpoint_id": "{before_latest}"}, "subgraphs": False},
        shape=state_of({"messages": [dict, dict, HUMAN, ASKING, TOOL]}, following=["model"]),
    ),
    post(
        "/threads/{thread}/state/checkpoint",
        {"checkpoint": {"thread_id": "{thread}"}, "subgraphs": False},
        shape={"checkpoint_id": "{latest}"},
    ),
    get(
        f"/threads/{{thread}}/state/{NOBODY}?subgraphs=false",
        shape={
            **EMPTY_STATE,
            "metadata": {},
            "checkpoint": {"checkpoint_id": NOBODY, "thread_id": "{thread}"},
            "checkpoint_id": NOBODY,
        },
        differs="readable-nothing",
    ),
    post(
        "/threads/{blank}/state/checkpoint",
        {"checkpoint": {"thread_id": "{blank}"}, "subgraphs": False},
        shape={
            **EMPTY_STATE,
            "metadata": {},
            "checkpoint": {"thread_id": "{blank}", "checkpoint_ns": "", "checkpoint_id": None},
        },
        differs="readable-nothing",
    ),
    post(
        "/threads/{thread}/history",
        {"limit": 10, "metadata": {"step": 0}},
        shape=[{"checkpoint_id": "{first}", "metadata": {"source": "update", "step": 0}}],
    ),
    post(
        "/threads/{thread}/state",
        {"values": SAID, "checkpoint": {"checkpoint_id": "{before_latest}"}, "as_node": "model"},
        shape={"checkpoint": {"thread_id": "{thread}", "checkpoint_id": str}},
    ),
    get("/threads/{thread}", shape={"status": "idle"}, differs="update-status"),
    post(
        "/threads/search",
        {"limit": 10, "offset": 0, "metadata": {"u": "{unique}"}},
        shape=[{"thread_id": "{thread}", "metadata": {"u": "{unique}"}}],
        headers={"x-pagination-total": "1", "x-pagination-next": None},
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
    ),
    post(
        "/threads/search",
        {"ids": ["{thread}"], "extract": {"n": "values.messages[-1].content"}},
        shape=[{"thread_id": "{thread}", "extracted": {"n": "hi"}}],
    ),
    post("/threads/search", {"values": {"x": "{unique}"}}, shape=[], differs="values-search"),
    post("/threads/count", {"metadata": {"u": "{unique}"}}, shape=1),
    post("/threads/search", {"limit": 0, "offset": 0}, status=422, shape=DETAIL),
    post("/threads/search", {"limit": 100000, "offset": 0}, status=422, shape=DETAIL),
    delete("/threads/{blank}", status=204),
    delete("/threads/{blank}", status=404, shape=DETAIL),
    post("/threads", raw=b"{bad", status=422, shape={"detail": "Invalid JSON in request body"}),
    post("/threads", raw=b"", status=422, shape={"detail": "Invalid JSON in request body"}),
    post("/threads", {"metadata": "str"}, status=422, shape=DETAIL),
]
