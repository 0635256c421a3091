"""Following a finished run from different cursors."""

from __future__ import annotations

from typing import Any

from tests.contract.recordings.calls import Call, Frames, get, post
from tests.contract.recordings.shapes import NEW_THREAD

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


def joined(frames: Frames, last: str | None = None, modes: str = "", **expected: Any) -> Call:
    sent = {} if last is None else {"last-event-id": last}
    return get(JOINED + modes, sent=sent, frames=frames, **expected)


JOINS = [
    NEW_THREAD,
    post(
        "/threads/{thread}/runs",
        {"assistant_id": "slow", "input": {"delay": 0.01}, "stream_mode": ["updates", "custom"]},
        keep={"run": "run_id"},
    ),
    get("/threads/{thread}/runs/{run}/join", shape={"steps": ["1", "2", "3", "4", "5"]}),
    joined([("values", {"steps": ["1", "2", "3", "4", "5"]})], differs="late-join"),
    joined([FIRST, *SLOW_EVENTS], "-1", differs="replay-always"),
    joined([FIRST, *SLOW_EVENTS], "-", differs="replay-always"),
    joined(SLOW_EVENTS, "0", differs="cursor-zero"),
    joined([FIRST, *SLOW_EVENTS], "garbage", differs="foreign-cursor"),
    joined([e for e in SLOW_EVENTS if e[0] == "custom"], "-1", "custom", differs="replay-always"),
]
