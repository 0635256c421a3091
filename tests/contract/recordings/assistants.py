"""Liveness and assistants."""

from __future__ import annotations

from tests.contract.matching import TIME
from tests.contract.recordings.calls import Call, get, post
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
            "input_schema": {"properties": {"tag": dict, "delay": dict, "steps": dict}},
            "output_schema": {"properties": {"tag": dict, "delay": dict, "steps": dict}},
            "state_schema": {"properties": {"tag": dict, "delay": dict, "steps": dict}},
            "config_schema": ...,
            "context_schema": ...,
        },
        differs="graph-names",
    ),
    get(f"/assistants/{AGENT_ID}/subgraphs?recurse=false", shape={}),
    get(f"/assistants/{AGENT_ID}/subgraphs/zz?recurse=false", shape={}),
]
