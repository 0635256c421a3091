"""Liveness and assistants."""

from __future__ import annotations

from typing import Any

from tests.contract.matching import TIME, Exactly
from tests.contract.recordings.calls import Call, delete, get, patch, post
from tests.contract.recordings.shapes import AGENT_ID, DETAIL, NOBODY, UUID

META = [
    get("/ok", shape={"ok": True}, differs="json-500"),
    get("/ok?check_db=1", shape={"ok": True}, differs="json-500"),
    get(
        "/info",
        shape={
            "version": str,
            "langgraph_py_version": str,
            "flags": {"assistants": True, "crons": bool, "langsmith": bool},
            "host": {"kind": "self-hosted"},
        },
    ),
    get("/nope", status=404, shape={"detail": "Not Found"}),
    Call(
        method="PUT", path="/threads", body={}, status=405, shape={"detail": "Method Not Allowed"}
    ),
]

ASSISTANT = {
    "assistant_id": UUID,
    "graph_id": str,
    "config": {},
    "context": {},
    "metadata": {"created_by": "system"},
    "name": str,
    "created_at": TIME,
    "updated_at": TIME,
    "version": 1,
    "description": None,
}
AGENT = {**ASSISTANT, "assistant_id": AGENT_ID, "graph_id": "agent", "name": "agent"}
SLOW_STATE = {"properties": {"tag": dict, "delay": dict, "steps": dict}}
PARENT_ID = "22e3354e-e6ec-5d11-8579-a7f4019b0f8b"
CHILD_STATE = {"properties": {"x": {"title": "X", "type": "integer"}, "trail": dict}}
CHILD = Exactly(
    {
        "input_schema": CHILD_STATE,
        "output_schema": CHILD_STATE,
        "state_schema": CHILD_STATE,
        "config_schema": {},
        "context_schema": None,
    }
)


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
ASSISTANTS = [
    post(
        "/assistants/search",
        {
            "limit": 1,
            "offset": 0,
            "graph_id": "agent",
            "sort_by": "created_at",
            "sort_order": "asc",
            "select": ["assistant_id", "name"],
        },
        shape=[{"assistant_id": AGENT_ID, "name": "agent"}],
        headers={"x-pagination-total": "1", "x-pagination-next": None},
    ),
    post(
        "/assistants/search",
        {"limit": 2, "offset": 0, "metadata": {"created_by": "system"}},
        shape=[ASSISTANT, ASSISTANT],
        headers={"x-pagination-total": str, "x-pagination-next": "2"},
    ),
    post(
        "/assistants/search", {"metadata": {"m2": 2}}, shape=[], headers={"x-pagination-total": "0"}
    ),
    post("/assistants/count", {"graph_id": "agent"}, shape=1),
    get(f"/assistants/{AGENT_ID}", shape=AGENT),
    get("/assistants/agent", shape=AGENT, differs="graph-names"),
    get(f"/assistants/{NOBODY}", status=404, shape=DETAIL),
    get("/assistants/nosuch", status=422, shape=DETAIL),
    get(
        f"/assistants/{AGENT_ID}/graph?xray=false",
        shape={
            "nodes": [
                {"id": "__start__", "type": "runnable", "data": {"name": "__start__"}},
                {"id": "model", "type": "runnable", "data": {"name": "model"}},
                {"id": "tool", "type": "runnable", "data": {"name": "tool"}},
                {"id": "__end__"},
            ],
            "edges": [
                {"source": "__start__", "target": "model"},
                {"source": "model", "target": "__end__", "conditional": True},
                {"source": "model", "target": "tool", "conditional": True},
                {"source": "tool", "target": "model"},
            ],
        },
    ),
    get(
        "/assistants/subgraph/graph?xray=true",
        shape={
            "nodes": [
                {"id": "__start__"},
                {"id": "p1"},
                {"id": "p2"},
                {"id": "__end__"},
                {"id": "child:c1"},
                {"id": "child:c2"},
            ],
            "edges": list,
        },
    ),
    get(
        "/assistants/slow/schemas",
        shape={
            "graph_id": "slow",
            "input_schema": SLOW_STATE,
            "output_schema": SLOW_STATE,
            "state_schema": SLOW_STATE,
            "config_schema": {},
            "context_schema": None,
        },
        differs="graph-names",
    ),
    get("/assistants/agent/schemas", shape={"graph_id": "agent"}, differs="graph-names"),
    get(
        f"/assistants/{AGENT_ID}/schemas",
        shape={
            "graph_id": "agent",
            "input_schema": {"properties": {"messages": dict}},
            "output_schema": {"properties": {"messages": dict}},
            "state_schema": {"properties": {"messages": dict}},
            "config_schema": {},
            "context_schema": None,
        },
    ),
    get(f"/assistants/{AGENT_ID}/subgraphs?recurse=false", shape=Exactly({})),
    get(
        "/assistants/subgraph/subgraphs?recurse=false",
        shape=Exactly({"child": CHILD}),
        differs="graph-names",
    ),
    get(f"/assistants/{PARENT_ID}/subgraphs?recurse=false", shape=Exactly({"child": CHILD})),
    get(f"/assistants/{PARENT_ID}/subgraphs?recurse=true", shape=Exactly({"child": CHILD})),
    get(f"/assistants/{PARENT_ID}/subgraphs/child?recurse=false", shape=Exactly({"child": CHILD})),
    get(f"/assistants/{PARENT_ID}/subgraphs/zz?recurse=false", shape=Exactly({})),
]
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
    ),
    post(
        "/assistants",
        {"graph_id": "agent", "assistant_id": "{made}"},
        status=409,
        shape={"detail": "Assistant {made} already exists"},
    ),
    post(
        "/assistants",
        {"graph_id": "agent", "assistant_id": "{made}", "if_exists": "do_nothing"},
        shape=mine(version=1, assistant_id="{made}"),
    ),
    post("/assistants", {"graph_id": "nosuch"}, status=404, shape=DETAIL),
    post(
        "/assistants",
        {"graph_id": "agent", "assistant_id": "not-a-uuid"},
        status=422,
        shape={"detail": "Invalid assistant ID: must be a UUID"},
    ),
    post(
        "/assistants",
        {"graph_id": "agent", "config": {"configurable": {"b": 2}}, "context": {"a": 1}},
        status=400,
        shape=DETAIL,
        differs="text",
    ),
    patch(
        "/assistants/{made}",
        {"metadata": {"m2": "{unique}"}, "name": "mine {unique} too"},
        shape=mine(version=2, **RENAMED),
    ),
    patch(
        "/assistants/{made}",
        {"config": {"configurable": {"k": 2}}},
        shape=mine(version=3, **RENAMED, **RETOLD),
    ),
    post(
        "/assistants/{made}/versions",
        {"limit": 10, "offset": 0},
        shape=[
            Exactly(version(3, **RENAMED, **RETOLD)),
            Exactly(version(2, **RENAMED)),
            Exactly(version(1)),
        ],
    ),
    post("/assistants/{made}/latest", {"version": 1}, shape=mine(version=1), differs="set-latest"),
    get("/assistants/{made}", shape=mine(version=1), differs="set-latest"),
    patch(f"/assistants/{NOBODY}", {"name": "x"}, status=404, shape=DETAIL, differs="text"),
    post(
        "/assistants/{made}/latest",
        {"version": 99},
        status=404,
        shape={"detail": "Version 99 not found for assistant {made}"},
    ),
    post(
        "/assistants/search",
        {"limit": 10, "offset": 0, "metadata": {"m2": "{unique}"}},
        shape=[],
        headers={"x-pagination-total": "0"},
    ),
    post(
        "/assistants/search",
        {"limit": 10, "offset": 0, "name": "MINE {unique}"},
        shape=[mine(version=1)],
        headers={"x-pagination-total": "1", "x-pagination-next": None},
    ),
    delete("/assistants/{made}", status=204),
    delete("/assistants/{made}", status=404, shape=DETAIL, differs="text"),
    get("/assistants/{made}", status=404, shape=DETAIL),
    post("/runs/wait", {"assistant_id": "{made}", "input": {}}, status=404, shape=DETAIL),
    delete(f"/assistants/{AGENT_ID}", status=409, shape=DETAIL, differs="system-assistants"),
]
