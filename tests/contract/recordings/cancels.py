"""Cancelling runs that wait, runs that work, and many at once."""

from __future__ import annotations

from typing import Any

from tests.contract.recordings.calls import Call, delete, get, post
from tests.contract.recordings.shapes import (
    DETAIL,
    EMPTY_STATE,
    create,
    gone,
    new_thread,
    run_is,
    state_of,
    wait,
)
from tests.contract.recordings.slow import (
    HOUR,
    ONE_STEP,
    RUN_PATH,
    WATCHED,
    WHOLE,
    base,
    history,
    runs,
    seen_from,
    steps,
    updates,
)

STATE = "/threads/{thread}/state?subgraphs=false"
UNKNOWN: dict[str, Any] = {"status": 404, "shape": DETAIL, "differs": "unknown-run"}


def cancel(action: str, waits: bool, seen: str) -> Call:
    path = f"{RUN_PATH}/cancel?wait={int(waits)}&action={action}"
    if not waits:
        return post(path, status=202, seen=seen)
    told = {"location": "/threads/{thread}/runs/{run}/join"}
    return post(path, shape={}, headers=told, seen=seen)


def waiting(action: str, waits: bool, first: int) -> list[Call]:
    """A run is cancelled before it starts; rolled back, it is gone."""
    seen, kept = seen_from("cancels", first), action == "interrupt"
    still = waits and not kept
    told = {"status": "idle", "values": None}
    return [
        new_thread(seen(0)),
        create("slow", {"delay": 0.2}, after_seconds=HOUR, seen=seen(2)),
        get("/threads/{thread}", shape={"status": "busy", "values": None}, seen=seen(4)),
        cancel(action, waits, seen(6)),
        run_is("interrupted", seen(7, 8))
        if kept
        else gone(seen(7, 8), differs="waiting-rollback" if still else None),
        get(
            "/threads/{thread}",
            shape=told,
            seen=seen(9),
            differs=None if kept or waits else "waiting-rollback",
        ),
        get(STATE, shape=EMPTY_STATE, seen=seen(10)),
        get(f"{RUN_PATH}/join", seen=seen(12), **({"shape": {}} if kept else UNKNOWN)),
    ]


def watched(action: str, first: int) -> list[Call]:
    """Somebody watches and somebody waits for a run that never starts."""
    seen, kept = seen_from("cancels", first), action == "interrupt"
    given = {"after_seconds": HOUR, "stream_mode": "updates"}
    return [
        new_thread(seen(0)),
        create("slow", {"delay": 0.2}, seen=seen(1), **given),
        get(
            WATCHED,
            frames=[("metadata", {"attempt": 1})],
            ends="interrupted",
            aside=True,
            seen=seen(3),
            differs="metadata-at-once",
        ),
        get(f"{RUN_PATH}/join", shape={}, aside=True, seen=seen(4)),
        cancel(action, False, seen(5)),
        run_is("interrupted", seen(6)) if kept else gone(seen(6), differs="waiting-rollback"),
    ]


def started(values: dict[str, Any], first: int) -> list[Call]:
    """A run in its second step, with somebody who watches and somebody who waits."""
    seen = seen_from("cancels_running", first)
    return [
        new_thread(seen(0)),
        base(seen(1)),
        create("slow", {"tag": "x", "delay": 0.6}, stream_mode="updates", seen=seen(3)),
        run_is("running", eventually=True),
        get(WATCHED, frames=updates("x", 1), ends="interrupted", aside=True, seen=seen(5)),
        get(f"{RUN_PATH}/join", shape=values, aside=True, seen=seen(7)),
        get("/threads/{thread}", shape={"status": "busy", "error": None}, seen=seen(9)),
        get(STATE, shape={"values": {"steps": [*steps("base"), "x1"]}}, eventually=True),
    ]


def stopped(waits: bool, first: int) -> list[Call]:
    """An interrupted run keeps the step it had finished, and goes on from there."""
    seen = seen_from("cancels_running", first)
    values = {"tag": "x", "steps": [*steps("base"), "x1"]}
    told = {"status": "interrupted", "values": values, "error": None}
    listed = [{"status": "interrupted"}, {"status": "success"}]
    return [
        *started(values, first),
        cancel("interrupt", waits, seen(11)),
        run_is(
            "interrupted", seen(12 if waits else 14), eventually=True, differs="cancel-accepted"
        ),
        runs(listed, seen(14 if waits else 13, 16)),
        get("/threads/{thread}", shape=told, seen=seen(17), differs="no-cancel-error"),
        get(
            STATE,
            shape=state_of(values, following=["n2"], tasks=[{"name": "n2", "error": None}]),
            seen=seen(18),
        ),
        history([*ONE_STEP, *WHOLE], seen(19)),
        get(f"{RUN_PATH}/join", shape=values, seen=seen(21)),
        get(
            WATCHED,
            sent={"last-event-id": "-1"},
            frames=[("metadata", {"attempt": 1}), *updates("x", 1)],
            ends="interrupted",
            seen=seen(23),
        ),
        run_is("interrupted", seen(24)),
        wait("slow", {"steps": [*steps("base"), *steps("x")]}, seen=seen(26)),
    ]


def undone(waits: bool, first: int) -> list[Call]:
    """A rolled back run leaves nothing, neither a row nor a checkpoint."""
    seen = seen_from("cancels_running", first)
    values = {"tag": "base", "steps": steps("base")}
    told = {"status": "idle", "values": values, "error": None}
    return [
        *started(values, first),
        cancel("rollback", waits, seen(11)),
        gone(seen(12), eventually=True),
        runs([{"status": "success"}], seen(14, 16)),
        get("/threads/{thread}", shape=told, seen=seen(17), differs="no-cancel-error"),
        get(STATE, shape=state_of(values, tasks=[]), seen=seen(18)),
        history(WHOLE, seen(19)),
        get(f"{RUN_PATH}/join", seen=seen(21), **UNKNOWN),
        get(WATCHED, sent={"last-event-id": "-1"}, seen=seen(23), **UNKNOWN),
        gone(seen(24)),
        wait("slow", values, seen=seen(26)),
    ]


BUSY = {"status": 409, "shape": DETAIL, "differs": "busy-delete"}
MANY = [
    new_thread("cancels 66"),
    create("slow", {"delay": 0.2}, after_seconds=HOUR, seen="cancels 67"),
    create("slow", {}, multitask_strategy="enqueue", after_seconds=HOUR, seen="cancels 68"),
    post(f"{RUN_PATH}/cancel?wait=0&action=interrupt", status=202, seen="cancels 70"),
    run_is("interrupted", "cancels 71"),
    delete("/threads/{thread}", seen="cancels 73", **BUSY),
    get("/threads/{thread}", seen="cancels 74", shape={"status": "busy"}, differs="busy-delete"),
    new_thread("cancels 75"),
    create("slow", {"delay": 0.2}, after_seconds=HOUR, seen="cancels 76"),
    delete(RUN_PATH, seen="cancels 78", **BUSY),
    post(
        "/runs/cancel?action=interrupt",
        {"thread_id": "{thread}", "run_ids": ["{run}"]},
        status=204,
        seen="cancels 84",
        differs="busy-delete",
    ),
    post(
        "/runs/cancel?action=interrupt",
        {"thread_id": "{thread}", "run_ids": ["{run}"]},
        status=404,
        shape={"detail": "No runs found to cancel."},
    ),
    post("/threads/{thread}/state", {"values": {"tag": "z"}}, seen="cancels 80"),
    post(
        "/threads/{thread}/copy",
        shape={"status": "interrupted"},
        seen="cancels 82",
        differs="copy-status",
    ),
    create("slow", {"delay": 0.2}, after_seconds=HOUR, seen="cancels 85"),
    post("/runs/cancel?action=interrupt", {"status": "all"}, status=204, seen="cancels 87"),
    run_is("interrupted", "cancels 88"),
    post(
        "/runs/cancel?action=interrupt",
        {"status": "pending"},
        status=404,
        shape={"detail": "No runs found to cancel."},
        seen="cancels 90",
    ),
    post("/runs/cancel", {}, status=422, shape=DETAIL, seen="cancels 92"),
    post(
        f"{RUN_PATH}/cancel?action=zzz",
        status=422,
        shape=DETAIL,
        seen="cancels 94",
        differs="bad-action",
    ),
]
CANCELS = {
    "waiting, interrupt": waiting("interrupt", False, 0),
    "waiting, interrupt, wait": waiting("interrupt", True, 13),
    "waiting, rollback": waiting("rollback", False, 26),
    "waiting, rollback, wait": waiting("rollback", True, 39),
    "watched, interrupt": watched("interrupt", 52),
    "watched, rollback": watched("rollback", 59),
    "working, interrupt": stopped(False, 0),
    "working, interrupt, wait": stopped(True, 27),
    "working, rollback": undone(False, 54),
    "working, rollback, wait": undone(True, 81),
    "many": MANY,
}
