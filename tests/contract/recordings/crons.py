"""Crons of a thread and without one. They fire long after the tests."""

from __future__ import annotations

from typing import Any

from tests.contract.matching import SOME, TIME, Exactly
from tests.contract.recordings.calls import Call, delete, get, patch, post
from tests.contract.recordings.shapes import AGENT_ID, DETAIL, NEW_THREAD, NOBODY, UUID

NOON = "0 12 1 1 *"
GIVEN: dict[str, Any] = {"messages": []}
ROME = "Europe/Rome"


def cron(payload: dict[str, Any], **more: Any) -> Exactly:
    shown = {"input": GIVEN, "assistant_id": AGENT_ID, **payload}
    return Exactly(
        {
            "cron_id": UUID,
            "assistant_id": AGENT_ID,
            "thread_id": None,
            "user_id": "",
            "end_time": None,
            "schedule": NOON,
            "timezone": None,
            "payload": {**shown, "config": {"configurable": {"cron_id": UUID}}},
            "next_run_date": TIME,
            "metadata": {},
            "on_run_completed": "delete",
            "enabled": True,
            "created_at": TIME,
            "updated_at": TIME,
            **more,
        }
    )


ON_THREAD = cron(
    {"schedule": NOON, "metadata": {"c": "{unique}"}},
    thread_id="{thread}",
    metadata={"c": "{unique}"},
    on_run_completed=None,
)
STATELESS = cron({"schedule": NOON, "timezone": ROME}, timezone=ROME)
CHANGED = cron(
    {"schedule": "5 * * * *", "timezone": ROME, "enabled": False},
    schedule="5 * * * *",
    timezone=ROME,
    enabled=False,
)


def create(path: str, shape: Any = DETAIL, **more: Any) -> Call:
    expected = {k: more.pop(k) for k in ("status", "keep", "differs") if k in more}
    body = {"schedule": NOON, "assistant_id": "agent", "input": GIVEN, **more}
    return post(path, body, shape=shape, **expected)


CRONS = [
    NEW_THREAD,
    create(
        "/threads/{thread}/runs/crons",
        ON_THREAD,
        metadata={"c": "{unique}"},
        keep={"cron": "cron_id"},
    ),
    create("/runs/crons", STATELESS, timezone=ROME, keep={"stateless": "cron_id"}),
    create("/runs/crons", schedule="bad", status=422, differs="text"),
    create(
        "/runs/crons",
        {"detail": "Assistant 'nosuch' not found"},
        assistant_id="nosuch",
        status=404,
    ),
    create(f"/threads/{NOBODY}/runs/crons", {"detail": SOME}, status=404, differs="text"),
    post(
        "/runs/crons/search",
        {"thread_id": "{thread}", "limit": 10, "offset": 0},
        shape=[ON_THREAD],
        headers={"x-pagination-total": "1"},
    ),
    post("/runs/crons/count", {"thread_id": "{thread}"}, shape=1),
    post("/runs/crons/count", {}, shape=int),
    patch("/runs/crons/{stateless}", {"schedule": "5 * * * *", "enabled": False}, shape=CHANGED),
    get("/runs/crons/{stateless}", shape=CHANGED),
    delete("/runs/crons/{stateless}", status=204),
    delete("/runs/crons/{stateless}", status=404, shape=DETAIL, differs="text"),
    delete("/runs/crons/{cron}", status=204),
]
