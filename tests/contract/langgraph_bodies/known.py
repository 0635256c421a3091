"""What exists while bad requests come, and how they are answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from tests.contract.badness import check_told
from tests.contract.langgraph_bodies.endpoints import ENDLESS

NOBODY = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class Known:
    """Ids that exist: a thread with a finished run, an assistant, and a cron."""

    thread: str
    run: str
    assistant: str
    cron: str

    def path(self, template: str) -> str:
        return template.format(
            thread=self.thread, run=self.run, assistant=self.assistant, cron=self.cron
        )


def make_known(client: httpx.Client) -> Known:
    thread_id = client.post("/threads", json={}).json()["thread_id"]
    body = {"assistant_id": "echo", "input": {"x": 1}, "stream_mode": "updates"}
    made = client.post(f"/threads/{thread_id}/runs/wait", json=body)
    run_id = made.headers["content-location"].rpartition("/")[2]
    assistant = client.post("/assistants", json={"graph_id": "echo", "name": "of bad input"})
    cron = client.post("/runs/crons", json={"assistant_id": "echo", "schedule": "0 0 1 1 *"})
    ids = (assistant.json().get("assistant_id", NOBODY), cron.json().get("cron_id", NOBODY))
    return Known(thread_id, run_id, *ids)


def refused(answer: httpx.Response, status: int, says: str = "") -> None:
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"detail"}
    detail = answer.json()["detail"]
    check_told(answer, detail)
    assert says in detail


def survive(client: httpx.Client, known: Known, method: str, path: str, **asked: Any) -> None:
    """One request: it is answered, or refused in this door's shape. An endless answer is left."""
    query = asked.pop("query", "")
    with client.stream(method, known.path(path) + query, **asked) as answer:
        if path in ENDLESS and answer.is_success:
            return
        answer.read()
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        refused(answer, answer.status_code)
