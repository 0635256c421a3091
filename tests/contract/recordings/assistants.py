"""The graphs' own assistants."""

from __future__ import annotations

from tests.contract.matching import TIME, Exactly
from tests.contract.recordings.calls import delete, get, post
from tests.contract.recordings.shapes import AGENT_ID, DETAIL, NOBODY, UUID

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
        seen="assistants 2, misc2 0",
    ),
    post(
        "/assistants/search",
        {"limit": 2, "offset": 0, "metadata": {"created_by": "system"}},
        shape=[ASSISTANT, ASSISTANT],
        headers={"x-pagination-total": str, "x-pagination-next": "2"},
        seen="assistants 1 3",
    ),
    post(
        "/assistants/search", {"metadata": {"m2": 2}}, shape=[], headers={"x-pagination-total": "0"}
    ),
    post("/assistants/count", {}, shape=int, seen="assistants 4"),
    post("/assistants/count", {"graph_id": "agent"}, shape=1, seen="assistants 5"),
    get(f"/assistants/{AGENT_ID}", shape=AGENT, seen="assistants 6"),
    get("/assistants/agent", shape=AGENT, differs="graph-names", seen="assistants 8"),
    get(f"/assistants/{NOBODY}", status=404, shape=DETAIL, seen="assistants 9"),
    get("/assistants/nosuch", status=422, shape=DETAIL, seen="assistants 10"),
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
        seen="assistants 11",
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
        seen="assistants 12",
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
        seen="assistants 16",
    ),
    get(
        "/assistants/agent/schemas",
        shape={"graph_id": "agent"},
        differs="graph-names",
        seen="assistants 14",
    ),
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
        seen="assistants 15",
    ),
    get(f"/assistants/{AGENT_ID}/subgraphs?recurse=false", shape=Exactly({})),
    get(
        "/assistants/subgraph/subgraphs?recurse=false",
        shape=Exactly({"child": CHILD}),
        differs="graph-names",
        seen="assistants 18",
    ),
    get(
        f"/assistants/{PARENT_ID}/subgraphs?recurse=false",
        shape=Exactly({"child": CHILD}),
        seen="assistants 19",
    ),
    get(
        f"/assistants/{PARENT_ID}/subgraphs?recurse=true",
        shape=Exactly({"child": CHILD}),
        seen="assistants 20",
    ),
    get(
        f"/assistants/{PARENT_ID}/subgraphs/child?recurse=false",
        shape=Exactly({"child": CHILD}),
        seen="assistants 21",
    ),
    get(
        f"/assistants/{PARENT_ID}/subgraphs/zz?recurse=false",
        shape=Exactly({}),
        seen="assistants 22",
    ),
]
APPROVAL = {**ASSISTANT, "graph_id": "approval", "name": "approval"}
SYSTEM = [
    post(
        "/assistants/search",
        {"limit": 10, "offset": 0, "graph_id": "approval"},
        shape=[APPROVAL],
        keep={"approval": "0.assistant_id"},
        seen="sysdel 0",
    ),
    delete(
        "/assistants/{approval}",
        status=409,
        shape=DETAIL,
        seen="sysdel 2",
        differs="system-assistants",
    ),
    get("/assistants/{approval}", shape=APPROVAL, seen="sysdel 3", differs="system-assistants"),
    post(
        "/runs/wait",
        {"input": {"request": "x"}, "assistant_id": "approval"},
        shape={"request": "x", "log": ["prepared"]},
        seen="sysdel 5",
        differs="system-assistants",
    ),
]
