"""States of a thread and their history; the thread is there already."""

from __future__ import annotations

from tests.contract.matching import Exactly
from tests.contract.recordings.calls import get, post
from tests.contract.recordings.shapes import (
    ADD,
    AGENT_ID,
    ASKING,
    DETAIL,
    EMPTY_STATE,
    HUMAN,
    NOBODY,
    TOLD,
    TOOL,
    state_of,
    wait,
)

SAID = {"messages": [{"role": "user", "content": "hi"}]}
STATES = [
    get("/threads/{thread}/state?subgraphs=false", shape=EMPTY_STATE, seen="threads 22"),
    post("/threads/{thread}/history", {"limit": 10}, shape=[], seen="threads 24"),
    get(f"/threads/{NOBODY}/state?subgraphs=false", status=404, shape=DETAIL, seen="threads 25"),
    post(f"/threads/{NOBODY}/history", {"limit": 10}, status=404, shape=DETAIL, seen="threads 26"),
    post(
        "/threads/{thread}/state",
        {"values": SAID},
        shape={
            "checkpoint": {"thread_id": "{thread}", "checkpoint_ns": "", "checkpoint_id": str},
            "configurable": {"thread_id": "{thread}", "checkpoint_ns": "", "checkpoint_id": str},
            "checkpoint_id": str,
        },
        keep={"first": "checkpoint_id"},
        seen="threads 28",
    ),
    post("/threads/{thread}/state", {"values": SAID, "as_node": "__start__"}, seen="threads 29"),
    post(
        "/threads/{thread}/state",
        {"values": SAID, "as_node": "zzz"},
        status=400,
        shape=DETAIL,
        seen="threads 31",
    ),
    post("/threads", {}, keep={"blank": "thread_id"}, seen="threads 33"),
    post(
        "/threads/{blank}/state", {"values": {"x": 1}}, status=400, shape=DETAIL, seen="threads 35"
    ),
    wait("agent", {"messages": [dict, dict, HUMAN, ASKING, TOOL, TOLD]}, ADD, seen="threads 37"),
    get(
        "/threads/{thread}/state?subgraphs=false",
        shape=state_of({"messages": [dict, dict, HUMAN, ASKING, TOOL, TOLD]}, tasks=[]),
        keep={"latest": "checkpoint_id", "before_latest": "parent_checkpoint_id"},
        seen="threads 39",
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
        seen="threads 40",
    ),
    get(
        "/threads/{thread}/state?subgraphs=false&select=values.messages&select=next",
        shape=Exactly(
            {"values": {"messages": [dict, dict, HUMAN, ASKING, TOOL, TOLD]}, "next": []}
        ),
        differs="state-select",
        seen="threads 50",
    ),
    post(
        "/threads/{thread}/history",
        {"limit": 3},
        shape=[{"checkpoint_id": "{latest}"}, {"checkpoint_id": "{before_latest}"}, dict],
        keep={"before": "2.checkpoint_id"},
        seen="threads 41",
    ),
    post(
        "/threads/{thread}/history",
        {"limit": 1, "before": {"checkpoint_id": "{before_latest}", "thread_id": "{thread}"}},
        shape=[{"checkpoint_id": "{before}"}],
        differs="before-checkpoint",
        seen="threads 42",
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
        seen="threads 44",
    ),
    post(
        "/threads/{thread}/state/checkpoint",
        {"checkpoint": {"checkpoint_id": "{before_latest}"}, "subgraphs": False},
        shape=state_of({"messages": [dict, dict, HUMAN, ASKING, TOOL]}, following=["model"]),
        seen="threads 46",
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
        seen="threads 48",
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
        seen="threads 52",
    ),
    post(
        "/threads/{thread}/state",
        {"values": SAID, "checkpoint": {"checkpoint_id": "{before_latest}"}, "as_node": "model"},
        shape={"checkpoint": {"thread_id": "{thread}", "checkpoint_id": str}},
        seen="threads 54",
    ),
    get("/threads/{thread}", shape={"status": "idle"}, differs="update-status"),
]
