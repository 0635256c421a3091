"""Runs of a thread, stateless runs, failing runs."""

from __future__ import annotations

from tests.contract.matching import SOME, Matches
from tests.contract.recordings.calls import delete, get, post
from tests.contract.recordings.shapes import (
    ADD,
    AGENT_ID,
    AGENT_RESULT,
    ASKING,
    DETAIL,
    ERROR,
    HUMAN,
    JSON,
    NEW_THREAD,
    NOBODY,
    QUESTION,
    RUN,
    TOLD,
    TOOL,
    UUID,
    state_of,
    stream,
    wait,
)

RUNS = [
    NEW_THREAD,
    post(
        "/threads/{thread}/runs",
        {
            "assistant_id": "agent",
            "input": ADD,
            "stream_mode": "values",
            "config": {"configurable": {"z": 1}, "tags": ["t"]},
            "metadata": {"a": 1},
        },
        shape={
            **RUN,
            "status": Matches("pending|running"),
            "metadata": {"a": 1, "assistant_id": AGENT_ID},
            "kwargs": {"input": ADD, "durability": "sync", "config": {"tags": ["t"]}},
        },
        headers={"content-location": Matches("/threads/{thread}/runs/.+")},
        keep={"run": "run_id"},
        differs="durability-default",
    ),
    get(
        "/threads/{thread}/runs/{run}/join",
        shape=AGENT_RESULT,
        headers={
            "location": "/threads/{thread}/runs/{run}/join",
            "content-location": "/threads/{thread}/runs/{run}",
            "content-type": JSON,
        },
    ),
    get("/threads/{thread}/runs/{run}", shape={**RUN, "run_id": "{run}", "status": "success"}),
    get("/threads/{thread}/runs?limit=10&offset=0", shape=[{**RUN, "run_id": "{run}"}]),
    get(
        "/threads/{thread}/runs?limit=1&offset=0&status=success&select=run_id&select=status",
        shape=[{"run_id": "{run}", "status": "success"}],
    ),
    wait("agent", {"messages": [HUMAN, *[dict] * 6]}, ADD),
    wait("nosuch", DETAIL, ADD, status=422),
    wait(NOBODY, {"detail": "Thread or assistant not found."}, ADD, status=404),
    post(
        f"/threads/{NOBODY}/runs/wait",
        {"assistant_id": "agent", "input": ADD},
        status=404,
        shape={"detail": "Thread or assistant not found."},
    ),
    post("/threads/{thread}/runs", {"input": {}}, status=422, shape=DETAIL),
    post(
        "/threads/{thread}/runs",
        {"assistant_id": "agent", "multitask_strategy": "zzz"},
        status=422,
        shape=DETAIL,
    ),
    post(
        "/threads/{thread}/runs",
        {"assistant_id": "agent", "stream_mode": "bad"},
        status=422,
        shape=DETAIL,
    ),
    post(
        "/threads/{thread}/runs/stream",
        {"assistant_id": "nosuch", "input": ADD},
        status=422,
        shape=DETAIL,
    ),
    wait("agent", {"messages": list}, bogus=1),
    post(
        "/threads/{thread}/runs/wait",
        {"assistant_id": "echo", "input": {"x": 1}, "durability": "exit"},
        shape={"x": 1},
    ),
    get(f"/threads/{{thread}}/runs/{NOBODY}", status=404, shape=DETAIL, differs="text"),
    get(
        f"/threads/{{thread}}/runs/{NOBODY}/join",
        status=404,
        shape=DETAIL,
        differs="unknown-run",
    ),
    get(
        f"/threads/{{thread}}/runs/{NOBODY}/stream?cancel_on_disconnect=false&stream_mode=",
        status=404,
        shape=DETAIL,
        differs="unknown-run",
    ),
    post(
        f"/threads/{{thread}}/runs/{NOBODY}/cancel?wait=0&action=interrupt",
        status=404,
        shape=DETAIL,
    ),
    post("/threads/{thread}/runs/{run}/cancel?wait=0&action=interrupt", status=404, shape=DETAIL),
    delete(f"/threads/{{thread}}/runs/{NOBODY}", status=404, shape=DETAIL),
    delete("/threads/{thread}/runs/{run}", status=204),
    get("/threads/{thread}/runs/{run}", status=404, shape=DETAIL),
]

STATELESS = [
    post(
        "/runs/wait",
        {"assistant_id": "agent", "input": ADD},
        shape=AGENT_RESULT,
        headers={"content-location": SOME, "location": Matches(".+/join")},
    ),
    post(
        "/runs/stream",
        {"assistant_id": "agent", "input": ADD, "stream_mode": "updates"},
        frames=[
            ("metadata", {"run_id": UUID, "attempt": 1}),
            ("updates", {"model": {"messages": [ASKING]}}),
            ("updates", {"tool": {"messages": [TOOL]}}),
            ("updates", {"model": {"messages": [TOLD]}}),
        ],
        headers={
            "content-location": Matches("/runs/[^/?]+"),
            "location": Matches(r"/runs/[^/?]+/stream\?stream_mode=updates"),
        },
        differs="location-filter",
    ),
    post(
        "/runs",
        {"assistant_id": "echo", "input": {"x": 1}},
        shape={"run_id": UUID, "thread_id": str},
        headers={"content-location": Matches("/runs/[^/?]+")},
        keep={"run": "run_id"},
    ),
    get("/runs/{run}/join", shape={"x": 1, "y": 1}, differs="replay-always"),
    post(
        "/runs",
        {"assistant_id": "echo", "input": {"x": 1}, "on_completion": "keep"},
        shape={"run_id": UUID},
        keep={"run": "run_id", "thread": "thread_id"},
    ),
    get("/runs/{run}/join", shape={"x": 1, "y": 1}, differs="replay-always"),
    get(
        "/threads/{thread}",
        shape={"metadata": {"graph_id": "echo"}, "values": {"x": 1, "y": 1}, "status": "idle"},
    ),
    post(
        "/threads/{unique}/runs/wait",
        {"assistant_id": "echo", "input": {"x": 1}, "if_not_exists": "create"},
        shape={"x": 1, "y": 1},
        headers={"content-location": Matches("/threads/{unique}/runs/.+")},
    ),
    post(
        "/runs/wait",
        {"assistant_id": "approval", "input": {"request": "pay"}},
        shape={"request": "pay", "log": ["prepared"], "__interrupt__": [QUESTION]},
    ),
    post(
        "/runs/wait",
        {"assistant_id": "approval", "command": {"resume": "yes"}},
        status=400,
        shape={"detail": "You must provide a thread_id when resuming."},
    ),
]

FAILURES = [
    NEW_THREAD,
    wait("slow", {"__error__": ERROR}, {"fail_at": 2}),
    get(
        "/threads/{thread}",
        shape={
            "status": "error",
            "values": {"fail_at": 2, "steps": ["1"]},
            "error": ERROR,
            "interrupts": {},
        },
    ),
    get(
        "/threads/{thread}/state?subgraphs=false",
        shape=state_of(
            {"fail_at": 2, "steps": ["1"]},
            following=["n2"],
            tasks=[{"name": "n2", "error": "ValueError('boom at 2')", "interrupts": []}],
        ),
    ),
    get(
        "/threads/{thread}/runs?limit=10&offset=0&select=status&select=run_id",
        shape=[{"status": "error", "run_id": UUID}],
    ),
    stream(
        "slow",
        "values",
        [
            ("values", {"fail_at": 2, "steps": ["1"]}),
            ("values", {"fail_at": 2, "steps": ["1", "1"]}),
            ("error", ERROR),
        ],
        {"fail_at": 2},
    ),
    post(
        "/threads/{thread}/runs",
        {"assistant_id": "slow", "input": {"fail_at": 2}},
        keep={"run": "run_id"},
    ),
    get("/threads/{thread}/runs/{run}/join", shape={"__error__": ERROR}),
    wait("slow", {"__error__": ERROR}),
    wait("slow", {"steps": ["1", "1", "1", "1", "2", "3", "4", "5"]}, {"fail_at": 0}),
    get("/threads/{thread}", shape={"status": "idle", "error": None}),
    wait(
        "slow",
        {"__error__": {"error": "GraphRecursionError", "message": SOME}},
        {"fail_at": 0},
        config={"recursion_limit": 2},
    ),
]
