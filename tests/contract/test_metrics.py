"""``GET /metrics``: how the queue, the workers and this process stand."""

from __future__ import annotations

import re
from typing import Any

import httpx
from langgraph_sdk.client import LangGraphClient

from tests.servers import Server, until

_SAMPLE = re.compile(r'(\w+)(?:\{((?:\w+="[^"\\\n]*",?)+)\})? (-?[\d.e+]+|NaN)')
PENDING, RUNNING = 'runs status="pending"', 'runs status="running"'


def samples(text: str) -> dict[str, float]:
    """Every sample of a whole page by name and status; anything else is an error."""
    found: dict[str, float] = {}
    typed: set[str] = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            typed.add(line.split()[2])
        elif not line.startswith("# HELP "):
            match = _SAMPLE.fullmatch(line)
            assert match is not None, line
            name, labels, value = match.groups()
            assert name in typed
            told = "" if not labels or labels.startswith("worker=") else f" {labels}"
            found[name.removeprefix("langgraph_durable_") + told] = float(value)
    return found


async def test_it_tells_what_waits_what_runs_and_what_was_written(
    http: httpx.AsyncClient, client: LangGraphClient
) -> None:
    thread = (await client.threads.create())["thread_id"]
    before = samples((await http.get("/metrics")).text)
    slow: Any = {"delay": 30}
    running = await client.runs.create(thread, "slow", input=slow)
    waiting = await client.runs.create(thread, "slow", input=slow)
    later = await client.runs.create(None, "echo", input={}, after_seconds=3600)
    async for part in client.runs.join_stream(thread, running["run_id"], last_event_id="-1"):
        if part.event == "values":
            break
    answer = await http.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    now = samples(answer.text)
    assert (now["up"], now["database_up"], now["workers"]) == (1, 1, 1)
    grown = {key: now[key] - before[key] for key in before}
    assert grown[RUNNING] == grown["jobs_active"] == 1
    assert grown[PENDING] == 2
    assert grown["queue_depth"] == 1
    assert grown["events_written_total"] > 0
    as_json = (await http.get("/metrics?format=json")).json()
    assert as_json["queue"]["n_pending"] == now[PENDING]
    assert as_json["queue"]["pending_runs_wait_time_max_secs"] > 0
    workers = as_json["workers"]
    assert workers["max"] == workers["active"] + workers["available"] == now["jobs_max"]
    for run in (waiting, running, later):
        await client.runs.cancel(run["thread_id"], run["run_id"], wait=True)


async def test_it_counts_who_follows(
    server: Server, http: httpx.AsyncClient, client: LangGraphClient
) -> None:
    run = await client.runs.create(None, "echo", input={}, after_seconds=3600)

    def followers() -> float:
        return samples(httpx.get(f"{server.url}/metrics").text)["followers"]

    before = followers()
    async with http.stream("GET", f"/runs/{run['run_id']}/stream?stream_mode=values"):
        until(lambda: followers() == before + 1, "it is counted")
    until(lambda: followers() == before, "it is counted no more")
    await client.runs.cancel(run["thread_id"], run["run_id"])
