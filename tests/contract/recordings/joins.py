"""Following a finished run from different cursors."""

from __future__ import annotations

from typing import Any

from tests.contract.recordings.calls import Call, Frames, get, post
from tests.contract.recordings.shapes import create, new_thread, run_is

SLOW_EVENTS: Frames = [
    event
    for n in range(1, 6)
    for event in (
        ("custom", {"node": n, "phase": "start"}),
        ("custom", {"node": n, "phase": "end"}),
        ("updates", {f"n{n}": {"steps": [str(n)]}}),
    )
]
FIRST = ("metadata", {"run_id": "{run}", "attempt": 1})
JOINED = "/threads/{thread}/runs/{run}/stream?cancel_on_disconnect=false&stream_mode="


def joined(
    frames: Frames | None, last: str | None = None, modes: str = "", **expected: Any
) -> Call:
    sent = {} if last is None else {"last-event-id": last}
    return get(JOINED + modes, sent=sent, frames=frames, **expected)


JOINS = [
    new_thread("join_streams 0 1 22"),
    post(
        "/threads/{thread}/runs",
        {"assistant_id": "slow", "input": {"delay": 0.01}, "stream_mode": ["updates", "custom"]},
        keep={"run": "run_id"},
        seen="join_streams 3 24",
    ),
    get("/threads/{thread}/runs/{run}/join", shape={"steps": ["1", "2", "3", "4", "5"]}),
    joined(
        [("values", {"steps": ["1", "2", "3", "4", "5"]})],
        differs="late-join",
        seen="join_streams 8 29",
    ),
    joined([FIRST, *SLOW_EVENTS], "-1", differs="replay-always", seen="join_streams 11 32"),
    joined([FIRST, *SLOW_EVENTS], "-", differs="replay-always"),
    joined(SLOW_EVENTS, "0", differs="cursor-zero", seen="join_streams 14 35"),
    joined([FIRST, *SLOW_EVENTS], "garbage", differs="foreign-cursor", seen="join_streams 17 44"),
    joined(
        [e for e in SLOW_EVENTS if e[0] == "custom"],
        "-1",
        "custom",
        differs="replay-always",
        seen="join_streams 20 47",
    ),
    joined(
        [FIRST, *SLOW_EVENTS],
        "-1",
        keep={"third": "2.id", "last": "16.id"},
        differs="replay-always",
    ),
    joined(SLOW_EVENTS[2:], "{third}", seen="join_streams 38"),
    joined(None, "{last}", shape=..., seen="join_streams 41"),
    run_is("success", "join_streams 6 9 12 15 18 21 27 30 33 36 39 42 45 48"),
    create("slow", {"delay": 0.1}, stream_mode=["updates", "custom"]),
    joined([FIRST, *SLOW_EVENTS], "-", seen="join_streams 5 26", differs="replay-always"),
]
