"""A response is told byte for byte the same: when it is over, behind a restart, elsewhere."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.conftest import MakeServer
from tests.contract.people import TOOL, frames
from tests.crash.gates import Gates
from tests.servers import Server

RUNS: dict[str, dict[str, Any]] = {
    "text": {"model": "chat", "input": "hi"},
    "a question": {"model": "payer", "input": "pay"},
    "a question as a call": {"model": "payer", "input": "pay", "tools": [TOOL]},
    "actions": {"model": "actions", "input": "go"},
    "two questions": {"model": "both", "input": "go"},
    "values": {"model": "keyed", "input": "tea"},
    "a failure": {"model": "chat", "input": "fail"},
    "a limit": {"model": "loop", "input": "go"},
    "MLflow's dialect": {"model": "payer", "input": "hi", "custom_inputs": {"a": 1}},
    "whole items": {"model": "payer", "input": "hi", "stream_granularity": "item"},
}


def replayed(server: Server, response_id: str, after: int | None = None) -> bytes:
    cursor = "" if after is None else f"&starting_after={after}"
    url = f"{server.url}/responses/{response_id}?stream=true{cursor}"
    answer = httpx.get(url, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.fixture
def servers(database_url: str, gates: Gates, make_server: MakeServer) -> list[Server]:
    """Two processes on one database."""
    return [
        make_server("people", database_url=database_url, env=gates.env).start() for _ in range(2)
    ]


def test_every_cursor_gives_the_same_bytes_everywhere(servers: list[Server]) -> None:
    here, there = servers
    live: dict[str, bytes] = {}
    for body in RUNS.values():
        asked = {**body, "background": True, "stream": True}
        told = httpx.post(f"{here.url}/responses", json=asked, timeout=30)
        live[told.headers["x-response-id"]] = told.content
    finished = {name: replayed(here, name) for name in live}
    here.kill()
    here.start()

    assert finished == live
    for name, whole in live.items():
        blocks = whole.split(b"\n\n")
        count = len(frames(whole))
        for server in (here, there):
            assert replayed(server, name) == whole
            for after in range(count + 1):
                rest = b"\n\n".join(blocks[min(after + 1, count) :])
                assert replayed(server, name, after) == rest


def test_a_run_that_is_followed_elsewhere_while_it_runs_is_told_the_same(
    servers: list[Server], gates: Gates
) -> None:
    here, there = servers
    body = {"model": "chat", "input": "wait", "background": True}
    made = httpx.post(f"{here.url}/responses", json=body).json()
    gates.reached("hear")
    url = f"{there.url}/responses/{made['id']}?stream=true"
    with httpx.stream("GET", url, timeout=30) as following:
        chunks = following.iter_bytes()
        begun = next(chunks)
        gates.open("hear")
        whole = begun + b"".join(chunks)

    assert frames(whole)[-1]["type"] == "response.completed"
    assert replayed(here, made["id"]) == replayed(there, made["id"])
    assert frames(replayed(here, made["id"])) == frames(whole)
