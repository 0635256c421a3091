"""A second run on a thread whose first one still waits or works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.contract.matching import Matches
from tests.contract.recordings.calls import Call, Frames, delete, get, post
from tests.contract.recordings.shapes import (
    DETAIL,
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

BUSY = Matches("Thread is already running a task.*different multitask strategy.")
REFUSED: dict[str, Any] = {"status": 409, "shape": {"detail": BUSY}}
OPEN = Matches("pending|running")
GOING = {"run_id": "{run}", "status": "running", "multitask_strategy": "enqueue"}
ENDED = {"run_id": "{run}", "status": "success"}
CUT = {"run_id": "{run}", "status": "interrupted"}
DONE = {"status": "success"}
FIRST = ("metadata", {"run_id": "{run}", "attempt": 1})


def second(strategy: str | None) -> dict[str, Any]:
    """What the second run is, in a list of runs."""
    return {"run_id": "{second}", "status": OPEN, "multitask_strategy": strategy or "enqueue"}


def follow(strategy: str | None, seen: str, **more: Any) -> Call:
    asked = {"multitask_strategy": strategy} if strategy else {}
    given = {"tag": "b", "delay": 0.03}
    if strategy == "reject":
        return create("slow", given, keep={}, seen=seen, **asked, **REFUSED)
    return create("slow", given, keep={"second": "run_id"}, seen=seen, **asked, **more)


def settled(
    made: Sequence[str],
    checkpoints: Sequence[str],
    left: Sequence[Mapping[str, Any]],
    seen: Any,
    differs: str | None = None,
) -> list[Call]:
    """What the thread is in the end: its runs, state, row and history."""
    values = {"steps": list(made)}
    return [
        runs(left, seen(0), eventually=True, differs=differs),
        get("/threads/{thread}/state?subgraphs=false", shape=state_of(values), seen=seen(1)),
        get("/threads/{thread}", shape={"status": "idle", "values": values}, seen=seen(2)),
        history(checkpoints, seen(3)),
    ]


def waiting(strategy: str | None, first: int) -> list[Call]:
    """The first run waits for its time: the others do not wait for it."""
    seen = seen_from("multitask", first)
    delayed = strategy in ("interrupt", "rollback")
    later = {"after_seconds": HOUR} if delayed else {}
    given = {"tag": "a", "delay": 0.15}
    watched: Frames = [FIRST] if delayed else [FIRST, *updates("a")]
    start = [
        new_thread(seen(0)),
        create("slow", given, stream_mode="updates", seen=seen(2), **later),
        get(
            WATCHED,
            sent={"last-event-id": "-"},
            frames=watched,
            ends="interrupted" if delayed else "success",
            aside=True,
            seen=seen(4),
            differs="metadata-at-once" if delayed else None,
        ),
        follow(strategy, seen(6)),
    ]
    ends = seen_from("multitask", first + 11)
    b = steps("b")
    if strategy == "reject":
        return [
            *start,
            runs([{"run_id": "{run}", "status": OPEN}], seen(8)),
            run_is("success", seen(9), eventually=True),
            *settled(steps("a"), WHOLE, [ENDED], ends),
        ]
    if strategy == "interrupt":
        return [
            *start,
            runs([{"run_id": "{second}"}, CUT], seen(8)),
            run_is("interrupted", seen(9)),
            *settled(b, WHOLE, [DONE, CUT], ends),
        ]
    if strategy == "rollback":
        return [
            *start,
            runs([{"run_id": "{second}"}], seen(8), differs="waiting-rollback"),
            gone(seen(9), differs="waiting-rollback"),
            *settled(b, WHOLE, [DONE], ends, differs="waiting-rollback"),
        ]
    return [
        *start,
        runs([second(strategy), {"run_id": "{run}", "status": OPEN}], seen(8)),
        run_is("success", seen(9), eventually=True),
        *settled([*steps("a"), *b], [*WHOLE, *WHOLE], [DONE, ENDED], ends),
    ]


def working(strategy: str | None, first: int) -> list[Call]:
    """The first run is in its second step."""
    seen = seen_from("multitask_running", first)
    ends = seen_from("multitask_running", first + 14)
    held, a, b = steps("base"), steps("a"), steps("b")
    cut = strategy in ("interrupt", "rollback")
    kept = [*held, *({"interrupt": a[:1], "rollback": []}.get(strategy or "", a))]
    start = [
        new_thread(seen(0)),
        base(seen(1)),
        create("slow", {"tag": "a", "delay": 0.5}, stream_mode="updates", seen=seen(3)),
        run_is("running", eventually=True),
        get(
            WATCHED,
            frames=updates("a", 1 if cut else 5),
            ends="interrupted" if cut else "success",
            aside=True,
            seen=seen(5),
        ),
        get(f"{RUN_PATH}/join", shape={"steps": kept}, aside=True, seen=seen(7)),
        get(
            "/threads/{thread}/state",
            shape={"values": {"steps": [*held, "a1"]}},
            eventually=True,
        ),
        follow(strategy, seen(9)),
    ]
    if strategy == "reject":
        return [
            *start,
            runs([GOING, DONE], seen(11)),
            run_is("success", seen(12), eventually=True),
            *settled([*held, *a], [*WHOLE] * 2, [ENDED, DONE], ends),
        ]
    if strategy == "interrupt":
        return [
            *start,
            run_is("interrupted", seen(12), eventually=True, differs="cancel-accepted"),
            runs([{"run_id": "{second}"}, CUT, DONE], seen(11)),
            *settled([*kept, *b], [*WHOLE, *ONE_STEP, *WHOLE], [DONE, CUT, DONE], ends),
        ]
    if strategy == "rollback":
        return [
            *start,
            gone(seen(10), eventually=True),
            runs([{"run_id": "{second}"}, DONE], seen(12)),
            *settled([*held, *b], [*WHOLE] * 2, [DONE, DONE], ends),
        ]
    return [
        *start,
        runs([second(strategy), GOING, DONE], seen(11)),
        run_is("success", seen(12), eventually=True),
        *settled([*held, *a, *b], [*WHOLE] * 3, [DONE, ENDED, DONE], ends),
    ]


def refused(seen: Any) -> list[Call]:
    """Rejected at every door; a queued one waits its turn."""
    asked = {"multitask_strategy": "reject"}
    body = {"assistant_id": "slow", "input": {"tag": "b"}, **asked}
    return [
        new_thread(seen(0)),
        create("slow", {"tag": "a", "delay": 0.3}, seen=seen(1)),
        wait("slow", REFUSED["shape"], {"tag": "b"}, status=409, seen=seen(3), **asked),
        post("/threads/{thread}/runs/stream", body, seen=seen(5), **REFUSED),
    ]


STRATEGIES = (None, "reject", "enqueue", "interrupt", "rollback")
HELD = {"status": 409, "shape": DETAIL}
MULTITASK = {
    **{f"waiting, {name}": waiting(name, 15 * n) for n, name in enumerate(STRATEGIES)},
    **{f"working, {name}": working(name, 18 * n) for n, name in enumerate(STRATEGIES)},
    "refused, then queued": [
        *refused(seen_from("multitask", 75)),
        wait(
            "slow",
            {"steps": [*steps("a"), *steps("c")]},
            {"tag": "c", "delay": 0.02},
            multitask_strategy="enqueue",
            seen="multitask 82",
        ),
    ],
    "meddled with while it works": [
        *refused(seen_from("multitask_running", 90)),
        post(
            "/threads/{thread}/state",
            {"values": {"tag": "z"}},
            seen="multitask_running 97",
            differs="text",
            **HELD,
        ),
        post("/threads/{thread}/copy", seen="multitask_running 99"),
        delete(RUN_PATH, seen="multitask_running 101", differs="busy-delete", **HELD),
        delete("/threads/{thread}", seen="multitask_running 103", differs="busy-delete", **HELD),
        get("/threads/{thread}", seen="multitask_running 104", differs="busy-delete"),
        post(f"{RUN_PATH}/cancel?wait=1", shape={}),
        delete("/threads/{thread}", status=204),
    ],
}
