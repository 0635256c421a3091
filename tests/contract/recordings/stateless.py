"""Stateless runs."""

from __future__ import annotations

from tests.contract.matching import SOME, Matches
from tests.contract.recordings.calls import get, post
from tests.contract.recordings.shapes import (
    ADD,
    AGENT_RESULT,
    ASKING,
    QUESTION,
    RUN,
    TOLD,
    TOOL,
    UUID,
)

OPEN = Matches("pending|running")
STATELESS = [
    post(
        "/runs/wait",
        {"assistant_id": "agent", "input": ADD},
        shape=AGENT_RESULT,
        headers={"content-location": SOME, "location": Matches(".+/join")},
        seen="runs_basic 13",
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
            "location": Matches(r"/runs/[^/?]+/stream\?stream_mode=updates&last_event_id=-1"),
        },
        differs="location-filter",
        seen="runs_basic 15",
    ),
    post(
        "/runs",
        {"assistant_id": "echo", "input": {"x": 1}},
        shape={"run_id": UUID, "thread_id": str},
        headers={"content-location": Matches("/runs/[^/?]+")},
        keep={"run": "run_id"},
        seen="runs_basic 17",
    ),
    get("/runs/{run}/join", shape={"x": 1, "y": 1}, differs="replay-always"),
    post(
        "/runs",
        {"assistant_id": "echo", "input": {"x": 1}, "on_completion": "keep"},
        shape={"run_id": UUID},
        keep={"run": "run_id", "thread": "thread_id"},
        seen="runs_basic 19",
    ),
    get("/runs/{run}/join", shape={"x": 1, "y": 1}, differs="replay-always"),
    get(
        "/threads/{thread}",
        shape={"metadata": {"graph_id": "echo"}, "values": {"x": 1, "y": 1}, "status": "idle"},
        seen="runs_basic 23",
    ),
    post(
        "/threads/{unique}/runs/wait",
        {"assistant_id": "echo", "input": {"x": 1}, "if_not_exists": "create"},
        shape={"x": 1, "y": 1},
        headers={"content-location": Matches("/threads/{unique}/runs/.+")},
        seen="runs_basic 29",
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
    post(
        "/runs",
        {"assistant_id": "agent", "input": ADD, "after_seconds": 3600},
        keep={"thread": "thread_id"},
    ),
    get("/threads/{thread}", shape={"status": "busy", "values": None}, seen="runs_basic 21"),
    post(
        "/runs/batch",
        [{"assistant_id": "agent", "input": ADD}, {"assistant_id": "agent", "input": ADD}],
        shape=[
            {**RUN, "thread_id": UUID, "status": OPEN},
            {**RUN, "thread_id": UUID, "status": OPEN},
        ],
        seen="runs_basic 25",
    ),
]
