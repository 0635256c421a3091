"""Runs that fail, and what they leave."""

from __future__ import annotations

from tests.contract.matching import SOME
from tests.contract.recordings.calls import get, post
from tests.contract.recordings.shapes import (
    ERROR,
    UUID,
    create,
    new_thread,
    state_of,
    stream,
    wait,
)

FAILURES = [
    new_thread("runs_basic 63"),
    wait("slow", {"__error__": ERROR}, {"fail_at": 2}, seen="runs_basic 65"),
    get(
        "/threads/{thread}",
        shape={
            "status": "error",
            "values": {"fail_at": 2, "steps": ["1"]},
            "error": ERROR,
            "interrupts": {},
        },
        seen="runs_basic 67",
    ),
    get(
        "/threads/{thread}/state?subgraphs=false",
        shape=state_of(
            {"fail_at": 2, "steps": ["1"]},
            following=["n2"],
            tasks=[{"name": "n2", "error": "ValueError('boom at 2')", "interrupts": []}],
        ),
        seen="runs_basic 68",
    ),
    get(
        "/threads/{thread}/runs?limit=10&offset=0&select=status&select=run_id",
        shape=[{"status": "error", "run_id": UUID}],
        seen="runs_basic 69",
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
        seen="runs_basic 71",
    ),
    post(
        "/threads/{thread}/runs",
        {"assistant_id": "slow", "input": {"fail_at": 2}},
        keep={"run": "run_id"},
        seen="runs_basic 73",
    ),
    get("/threads/{thread}/runs/{run}/join", shape={"__error__": ERROR}, seen="runs_basic 75"),
    wait("slow", {"__error__": ERROR}, seen="runs_basic 77"),
    wait(
        "slow",
        {"steps": ["1", "1", "1", "1", "2", "3", "4", "5"]},
        {"fail_at": 0},
        seen="runs_basic 79",
    ),
    get("/threads/{thread}", shape={"status": "idle", "error": None}, seen="runs_basic 80"),
    wait(
        "slow",
        {"__error__": {"error": "GraphRecursionError", "message": SOME}},
        {"fail_at": 0},
        config={"recursion_limit": 2},
        seen="runs_basic 82",
    ),
    create(
        "slow",
        {"fail_at": 0},
        after_seconds=1,
        shape={"run_id": UUID, "status": "pending"},
        seen="runs_basic 84",
    ),
    get(
        "/threads/{thread}",
        shape={"status": "busy", "error": {"error": "GraphRecursionError", "message": SOME}},
        seen="runs_basic 85",
    ),
    get(
        "/threads/{thread}/runs?limit=1&offset=0",
        shape=[{"run_id": "{run}", "status": "success"}],
        eventually=True,
        seen="runs_basic 86",
    ),
    wait("slow", {"steps": list}, {"fail_at": 0}, durability="exit", seen="runs_basic 88"),
    post(
        "/threads/{thread}/history",
        {"limit": 2, "select": ["checkpoint", "next", "metadata"]},
        shape=[{"next": [], "metadata": {"step": 32}}, {"next": [], "metadata": {"step": 25}}],
        seen="runs_basic 89",
    ),
]
