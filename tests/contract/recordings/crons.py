"""Crons of a thread and without one. They fire long after the tests."""

from __future__ import annotations

from typing import Any

from tests.contract.matching import SOME, TIME, Exactly
from tests.contract.recordings.calls import Call, delete, get, patch, post, split
from tests.contract.recordings.shapes import AGENT_ID, DETAIL, NOBODY, UUID, new_thread

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
    said, asked = split(more)
    body = {"schedule": NOON, "assistant_id": "agent", "input": GIVEN, **asked}
    return post(path, body, shape=shape, **said)


CRONS = [
    new_thread("crons 0"),
    create(
        "/threads/{thread}/runs/crons",
        ON_THREAD,
        metadata={"c": "{unique}"},
        keep={"cron": "cron_id"},
        seen="crons 2",
    ),
    create("/runs/crons", STATELESS, timezone=ROME, keep={"stateless": "cron_id"}, seen="crons 4"),
    create("/runs/crons", schedule="bad", status=422, differs="text", seen="crons 6"),
    create(
        "/runs/crons",
        {"detail": "Assistant 'nosuch' not found"},
        assistant_id="nosuch",
        status=404,
        seen="crons 8",
    ),
    create(
        f"/threads/{NOBODY}/runs/crons",
        {"detail": SOME},
        status=404,
        differs="text",
        seen="crons 10",
    ),
    post(
        "/runs/crons/search",
        {"thread_id": "{thread}", "limit": 10, "offset": 0},
        shape=[ON_THREAD],
        headers={"x-pagination-total": "1"},
        seen="crons 12",
    ),
    post("/runs/crons/search", {"limit": 10, "offset": 0}, shape=list, seen="crons 11"),
    post("/runs/crons/count", {"thread_id": "{thread}"}, shape=1),
    post("/runs/crons/count", {}, shape=int, seen="crons 13"),
    patch(
        "/runs/crons/{stateless}",
        {"schedule": "5 * * * *", "enabled": False},
        shape=CHANGED,
        seen="crons 14",
    ),
    get("/runs/crons/{stateless}", shape=CHANGED, seen="crons 15"),
    delete("/runs/crons/{stateless}", status=204, seen="crons 16"),
    delete("/runs/crons/{stateless}", status=404, shape=DETAIL, differs="text", seen="crons 18"),
    delete("/runs/crons/{cron}", status=204, seen="crons 19"),
]
