"""Recorded webhooks: what a receiver is told, and whom a server does not call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import MakeServer
from tests.contract.matching import TIME, Exactly, Matches, difference
from tests.contract.recordings.calls import Call
from tests.contract.recordings.coverage import shows
from tests.contract.recordings.shapes import (
    ADD,
    AGENT_RESULT,
    QUESTION,
    UUID,
    new_thread,
    wait,
)
from tests.contract.replaying import play
from tests.receiver import Receiver, receiver

ASKED = {"request": "pay", "log": ["prepared"]}
FAILED = {"error": "ValueError", "message": "boom at 1"}
CALLS: dict[str, Call] = {
    "success": wait("agent", AGENT_RESULT, ADD, webhook="{hook}"),
    "interrupt": wait(
        "approval", {**ASKED, "__interrupt__": [QUESTION]}, {"request": "pay"}, webhook="{hook}"
    ),
    "error": wait("slow", {"__error__": FAILED}, {"fail_at": 1}, webhook="{hook}"),
}
VALUES: dict[str, Any] = {"success": AGENT_RESULT, "interrupt": ASKED, "error": {"fail_at": 1}}


def payload(outcome: str) -> Exactly:
    failed = outcome == "error"
    return Exactly(
        {
            "run_id": UUID,
            "thread_id": "{thread}",
            "assistant_id": UUID,
            "metadata": {"created_by": "system", "graph_id": str, "assistant_id": UUID},
            "status": "error" if failed else "success",
            "kwargs": {"webhook": "{hook}", "input": dict, "command": None, "temporary": False},
            "multitask_strategy": "enqueue",
            "created_at": TIME,
            "updated_at": TIME,
            "langsmith_session_name": None,
            "run_started_at": TIME,
            "run_ended_at": TIME,
            "webhook_sent_at": TIME,
            "values": VALUES[outcome],
            **({"error": FAILED} if failed else {}),
        }
    )


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as listening:
        yield listening


@shows("webhooks 0 2 4 6 8 10")
@pytest.mark.parametrize("outcome", CALLS)
async def test_a_receiver_is_told_as_recorded(
    http: httpx.AsyncClient, hook: Receiver, outcome: str
) -> None:
    kept = await play(http, [new_thread(), CALLS[outcome]], outcome, hook=hook.url)
    [call] = hook.heard(1)
    assert difference(call.said, payload(outcome), kept) is None
    assert call.headers["Content-Type"] == "application/json"


def refused(webhook: str, detail: str) -> Call:
    shape = {"detail": Matches(detail)}
    return wait("slow", shape, {"delay": 0.01}, webhook=webhook, status=422)


RELATIVE = refused("/ok", ".*must be an absolute URL.*")
SCHEME = refused("ftp://x", "Webhook host blocked: scheme 'ftp' not allowed")


@shows("webhooks 12 14 16 18")
async def test_even_a_server_for_development_calls_whole_addresses_only(
    http: httpx.AsyncClient,
) -> None:
    """The official one calls itself for ``/ok``; see ``relative-webhook``."""
    kept = await play(http, [new_thread(), RELATIVE, new_thread(), SCHEME], "webhooks")
    assert kept["thread"]


@shows("webhooks_default 0 2 4 6 8 10 12 14 16 18")
async def test_a_server_in_production_does_not_call_its_own_machine(
    make_server: MakeServer, database_url: str, hook: Receiver
) -> None:
    server = make_server("basic", database_url=database_url, command="serve").start()
    loopback = refused("{hook}", "Webhook host blocked: loopback IP range")
    calls = [each for call in (loopback, RELATIVE, SCHEME) for each in (new_thread(), call)]
    async with httpx.AsyncClient(base_url=server.url) as http:
        kept = await play(http, calls, "production", hook=hook.url)
    assert kept["thread"]
    assert hook.calls == []
