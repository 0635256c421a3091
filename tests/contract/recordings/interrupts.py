"""Questions, answers, breakpoints, replay."""

from __future__ import annotations

from tests.contract.recordings.calls import get, post
from tests.contract.recordings.shapes import (
    LISTED_QUESTION,
    QUESTION,
    new_thread,
    run_is,
    state_of,
    stream,
    wait,
)
from tests.contract.recordings.slow import history

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
        new_thread("interrupts 0"),
        wait(
            "approval",
            {**ASKED, "__interrupt__": [QUESTION]},
            {"request": "pay"},
            seen="interrupts 2",
        ),
        get(
            "/threads/{thread}",
            shape={"status": "interrupted", "values": ASKED, "interrupts": dict, "error": None},
            seen="interrupts 3",
        ),
        get(
            "/threads/{thread}/state?subgraphs=false",
            shape={
                **state_of(ASKED, following=["ask"], tasks=[ASK_TASK]),
                "interrupts": [LISTED_QUESTION],
            },
            seen="interrupts 4",
        ),
        get(
            "/threads/{thread}/runs?select=status",
            shape=[{"status": "success"}],
            seen="interrupts 5",
        ),
        post(
            "/threads/search",
            {"ids": ["{thread}"], "status": "interrupted"},
            shape=[{"thread_id": "{thread}", "status": "interrupted"}],
            seen="interrupts 6",
        ),
        wait("approval", DECIDED, command={"resume": "yes"}, seen="interrupts 8"),
        get(
            "/threads/{thread}",
            shape={"status": "idle", "values": DECIDED, "interrupts": {}},
            seen="interrupts 9",
        ),
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
            seen="interrupts 10",
        ),
        wait("approval", DECIDED, command={"resume": "again"}, seen="interrupts 12"),
        wait(
            "approval",
            DECIDED,
            command={"resume": "again"},
            strict_resume=True,
            seen="interrupts 14",
        ),
    ],
    "streamed": [
        new_thread("interrupts 15"),
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
            seen="interrupts 17",
        ),
        run_is("success", "interrupts 18"),
        get("/threads/{thread}/state", keep={"question": "interrupts.0.id"}, seen="interrupts 19"),
        stream(
            "approval",
            "updates",
            [
                ("updates", {"ask": {"decision": "by-id", "log": ["decided:by-id"]}}),
                ("updates", {"finish": {"log": ["finished"]}}),
            ],
            command={"resume": {"{question}": "by-id"}},
            seen="interrupts 21",
        ),
        run_is("success", "interrupts 22"),
    ],
    "breakpoint, edit, go on": [
        new_thread("interrupts 23"),
        stream(
            "approval",
            "updates",
            [("updates", {"prepare": {"log": ["prepared"]}}), ("updates", {"__interrupt__": []})],
            {"request": "pay"},
            interrupt_before=["ask"],
            seen="interrupts 25",
        ),
        run_is("success", "interrupts 26"),
        get(
            "/threads/{thread}",
            shape={"status": "interrupted", "interrupts": {}},
            seen="interrupts 27",
        ),
        get(
            "/threads/{thread}/state",
            shape=state_of(ASKED, following=["ask"]),
            seen="interrupts 28",
        ),
        stream(
            "approval",
            "updates",
            [("updates", {"__interrupt__": [QUESTION]})],
            seen="interrupts 30",
        ),
        run_is("success", "interrupts 31"),
        post(
            "/threads/{thread}/state",
            {"values": {"decision": "edited"}, "as_node": "ask"},
            seen="interrupts 33",
        ),
        get(
            "/threads/{thread}",
            shape={"status": "interrupted", "values": {**ASKED, "decision": "edited"}},
            seen="interrupts 35",
        ),
        get(
            "/threads/{thread}/state",
            shape={"next": ["finish"], "metadata": {"step": 2}},
            seen="interrupts 36",
        ),
        stream(
            "approval",
            "updates",
            [("updates", {"finish": {"log": ["finished"]}})],
            seen="interrupts 38",
        ),
        run_is("success", "interrupts 39"),
        get("/threads/{thread}", shape={"status": "idle"}, seen="interrupts 40"),
    ],
    "goto, breakpoint after, replay": [
        new_thread("interrupts 41"),
        wait(
            "approval",
            {**ASKED, "__interrupt__": [QUESTION]},
            {"request": "pay"},
            seen="interrupts 42",
        ),
        post("/threads/{thread}/history", {}, keep={"before_prepare": "1.checkpoint_id"}),
        wait(
            "approval",
            {"request": "new", "log": ["prepared"], "__interrupt__": [dict]},
            command={"update": {"request": "new"}, "goto": "finish"},
            seen="interrupts 44",
        ),
        get(
            "/threads/{thread}/state",
            shape=state_of({"request": "new", "log": ["prepared"]}, following=["ask"]),
            seen="interrupts 45",
        ),
        wait(
            "approval",
            {"request": "x", "log": ["prepared", "prepared"]},
            {"request": "x"},
            interrupt_after="*",
            seen="interrupts 47",
        ),
        get("/threads/{thread}", shape={"status": "interrupted"}, seen="interrupts 48"),
        history(["ask", "prepare", "__start__", "ask", "prepare", "__start__"], "interrupts 49"),
        stream(
            "approval",
            "updates",
            [
                ("updates", {"prepare": {"log": ["prepared"]}}),
                ("updates", {"__interrupt__": [QUESTION]}),
            ],
            checkpoint={"checkpoint_id": "{before_prepare}", "checkpoint_ns": ""},
            seen="interrupts 51",
        ),
        run_is("success", "interrupts 52"),
    ],
    "without a thread": [
        new_thread("interrupts 53"),
        post(
            "/runs/wait",
            {"assistant_id": "approval", "input": {"request": "pay"}},
            shape={"request": "pay", "log": ["prepared"], "__interrupt__": [QUESTION]},
            seen="interrupts 55",
        ),
    ],
}
