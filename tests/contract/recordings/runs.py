"""Runs of a thread, stateless runs, failing runs."""

from __future__ import annotations

from tests.contract.matching import Matches
from tests.contract.recordings.calls import delete, get, post
from tests.contract.recordings.shapes import (
    ADD,
    AGENT_ID,
    AGENT_RESULT,
    DETAIL,
    HUMAN,
    JSON,
    NOBODY,
    RUN,
    create,
    new_thread,
    run_is,
    wait,
)

RUNS = [
    new_thread("runs_basic 0"),
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
        seen="runs_basic 2",
    ),
    run_is(Matches("pending|running|success"), "runs_basic 3"),
    get(
        "/threads/{thread}/runs/{run}/join",
        shape=AGENT_RESULT,
        headers={
            "location": "/threads/{thread}/runs/{run}/join",
            "content-location": "/threads/{thread}/runs/{run}",
            "content-type": JSON,
        },
        seen="runs_basic 5",
    ),
    get(
        "/threads/{thread}/runs/{run}",
        shape={**RUN, "run_id": "{run}", "status": "success"},
        seen="runs_basic 7",
    ),
    get(
        "/threads/{thread}/runs?limit=10&offset=0",
        shape=[{**RUN, "run_id": "{run}"}],
        seen="runs_basic 8",
    ),
    get(
        "/threads/{thread}/runs?limit=1&offset=0&status=success&select=run_id&select=status",
        shape=[{"run_id": "{run}", "status": "success"}],
        seen="runs_basic 9",
    ),
    wait("agent", {"messages": [HUMAN, *[dict] * 6]}, ADD, seen="runs_basic 11"),
    wait("nosuch", DETAIL, ADD, status=422, seen="runs_basic 31"),
    wait(
        NOBODY, {"detail": "Thread or assistant not found."}, ADD, status=404, seen="runs_basic 33"
    ),
    post(
        f"/threads/{NOBODY}/runs/wait",
        {"assistant_id": "agent", "input": ADD},
        status=404,
        shape={"detail": "Thread or assistant not found."},
        seen="runs_basic 27",
    ),
    create("nosuch", ADD, status=422, keep={}, shape=DETAIL, seen="runs_basic 35"),
    post(
        "/threads/bad-uuid/runs/wait",
        {"assistant_id": "agent", "input": ADD},
        status=404,
        shape={"detail": "Thread or assistant not found."},
        seen="runs_basic 37",
        differs="opaque-thread-ids",
    ),
    create("agent", ADD, command={"resume": 1}, keep={}, seen="runs_basic 47"),
    create("agent", None, keep={}, seen="runs_basic 49"),
    post("/threads/{thread}/runs", {"input": {}}, status=422, shape=DETAIL, seen="runs_basic 41"),
    post(
        "/threads/{thread}/runs",
        {"assistant_id": "agent", "multitask_strategy": "zzz"},
        status=422,
        shape=DETAIL,
        seen="runs_basic 43",
    ),
    post(
        "/threads/{thread}/runs",
        {"assistant_id": "agent", "stream_mode": "bad"},
        status=422,
        shape=DETAIL,
        seen="runs_basic 45",
    ),
    post(
        "/threads/{thread}/runs/stream",
        {"assistant_id": "nosuch", "input": ADD},
        status=422,
        shape=DETAIL,
        seen="runs_basic 39",
    ),
    wait("agent", {"messages": list}, bogus=1, seen="runs_basic 51"),
    post(
        "/threads/{thread}/runs/wait",
        {"assistant_id": "echo", "input": {"x": 1}, "durability": "exit"},
        shape={"x": 1},
    ),
    get(
        f"/threads/{{thread}}/runs/{NOBODY}",
        status=404,
        shape=DETAIL,
        differs="text",
        seen="runs_basic 52",
    ),
    get(
        f"/threads/{{thread}}/runs/{NOBODY}/join",
        status=404,
        shape=DETAIL,
        differs="unknown-run",
        seen="runs_basic 53",
    ),
    get(
        f"/threads/{{thread}}/runs/{NOBODY}/stream?cancel_on_disconnect=false&stream_mode=",
        status=404,
        shape=DETAIL,
        differs="unknown-run",
        seen="runs_basic 57",
    ),
    post(
        f"/threads/{{thread}}/runs/{NOBODY}/cancel?wait=0&action=interrupt",
        status=404,
        shape=DETAIL,
        seen="runs_basic 54",
    ),
    post(
        "/threads/{thread}/runs/{run}/cancel?wait=0&action=interrupt",
        status=404,
        shape=DETAIL,
        seen="runs_basic 59",
    ),
    delete(f"/threads/{{thread}}/runs/{NOBODY}", status=404, shape=DETAIL, seen="runs_basic 55"),
    delete("/threads/{thread}/runs/{run}", status=204, seen="runs_basic 61"),
    get("/threads/{thread}/runs/{run}", status=404, shape=DETAIL, seen="runs_basic 62"),
]
