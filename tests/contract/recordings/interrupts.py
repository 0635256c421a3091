"""Questions, answers, breakpoints, replay."""

from __future__ import annotations

from tests.contract.recordings.calls import get, post
from tests.contract.recordings.shapes import (
    DETAIL,
    LISTED_QUESTION,
    NEW_THREAD,
    QUESTION,
    state_of,
    stream,
    wait,
)

ASKED = {"request": "pay", "log": ["prepared"]}
DECIDED = {"request": "pay", "decision": "yes", "log": ["prepared", "decided:yes", "finished"]}
ASK_TASK = {
    "id": str,
    "name": "ask",
    "path": ["__pregel_pull", "ask"],
    "error": None,
    "interrupts": [LISTED_QUESTION],
    "checkpoint": None,
    "state": None,
    "result": None,
}
INTERRUPTS = {
    "asked, answered, answered again": [
        NEW_THREAD,
        wait("approval", {**ASKED, "__interrupt__": [QUESTION]}, {"request": "pay"}),
        get(
            "/threads/{thread}",
            shape={"status": "interrupted", "values": ASKED, "interrupts": dict, "error": None},
        ),
        get(
            "/threads/{thread}/state?subgraphs=false",
            shape={
                **state_of(ASKED, following=["ask"], tasks=[ASK_TASK]),
                "interrupts": [LISTED_QUESTION],
            },
        ),
        get("/threads/{thread}/runs?select=status", shape=[{"status": "success"}]),
        post(
            "/threads/search",
            {"ids": ["{thread}"], "status": "interrupted"},
            shape=[{"thread_id": "{thread}", "status": "interrupted"}],
        ),
        wait("approval", DECIDED, command={"resume": "yes"}),
        get("/threads/{thread}", shape={"status": "idle", "values": DECIDED, "interrupts": {}}),
        post(
            "/threads/{thread}/history",
            {"limit": 10},
            shape=[
                {"next": [], "metadata": {"step": 3}},
                {"next": ["finish"], "metadata": {"step": 2}},
                {"next": ["ask"], "metadata": {"step": 1}},
                {"next": ["prepare"], "metadata": {"step": 0}},
                {"next": ["__start__"], "metadata": {"step": -1, "source": "input"}},
            ],
        ),
        wait("approval", DECIDED, command={"resume": "again"}),
        wait(
            "approval",
            DETAIL,
            command={"resume": "again"},
            strict_resume=True,
            status=422,
            differs="strict-resume",
        ),
    ],
    "streamed": [
        NEW_THREAD,
        stream(
            "approval",
            ["values", "updates"],
            [
                ("values", {"request": "pay", "log": []}),
                ("updates", {"prepare": {"log": ["prepared"]}}),
                ("values", ASKED),
                ("updates", {"__interrupt__": [QUESTION]}),
                ("values", {**ASKED, "__interrupt__": [QUESTION]}),
            ],
            {"request": "pay"},
        ),
        get("/threads/{thread}/state", keep={"question": "interrupts.0.id"}),
        stream(
            "approval",
            "updates",
            [
                ("updates", {"ask": {"decision": "by-id", "log": ["decided:by-id"]}}),
                ("updates", {"finish": {"log": ["finished"]}}),
            ],
            command={"resume": {"{question}": "by-id"}},
        ),
    ],
    "breakpoint, edit, go on": [
        NEW_THREAD,
        stream(
            "approval",
            "updates",
            [("updates", {"prepare": {"log": ["prepared"]}}), ("updates", {"__interrupt__": []})],
            {"request": "pay"},
            interrupt_before=["ask"],
        ),
        get("/threads/{thread}", shape={"status": "interrupted", "interrupts": {}}),
        get("/threads/{thread}/state", shape=state_of(ASKED, following=["ask"])),
        stream("approval", "updates", [("updates", {"__interrupt__": [QUESTION]})]),
        post("/threads/{thread}/state", {"values": {"decision": "edited"}, "as_node": "ask"}),
        get(
            "/threads/{thread}",
            shape={"status": "interrupted", "values": {**ASKED, "decision": "edited"}},
        ),
        get("/threads/{thread}/state", shape={"next": ["finish"], "metadata": {"step": 2}}),
        stream("approval", "updates", [("updates", {"finish": {"log": ["finished"]}})]),
        get("/threads/{thread}", shape={"status": "idle"}),
    ],
    "goto, breakpoint after, replay": [
        NEW_THREAD,
        wait("approval", {**ASKED, "__interrupt__": [QUESTION]}, {"request": "pay"}),
        post("/threads/{thread}/history", {}, keep={"before_prepare": "1.checkpoint_id"}),
        wait(
            "approval",
            {"request": "new", "log": ["prepared"], "__interrupt__": [dict]},
            command={"update": {"request": "new"}, "goto": "finish"},
        ),
        wait(
            "approval",
            {"request": "x", "log": ["prepared", "prepared"]},
            {"request": "x"},
            interrupt_after="*",
        ),
        get("/threads/{thread}", shape={"status": "interrupted"}),
        stream(
            "approval",
            "updates",
            [
                ("updates", {"prepare": {"log": ["prepared"]}}),
                ("updates", {"__interrupt__": [QUESTION]}),
            ],
            checkpoint={"checkpoint_id": "{before_prepare}", "checkpoint_ns": ""},
        ),
    ],
}
