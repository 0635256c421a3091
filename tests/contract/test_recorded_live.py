"""Recorded exchanges that take their time: endless streams, silence, clients that hang up."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import NotFoundError

from tests.contract.recordings.calls import get, post
from tests.contract.recordings.coverage import shows
from tests.contract.recordings.shapes import FRESH_THREAD
from tests.contract.recordings.slow import updates
from tests.contract.replaying import play
from tests.servers import ROOT, Server

HEARTBEAT = b": heartbeat\r\n\r\n"
LONG = {"delay": 3}
"""Five steps of three seconds."""


async def thread_parts(client: LangGraphClient, thread_id: str, **asked: Any) -> list[Any]:
    """The parts of a thread's stream until two runs are done."""
    parts: list[Any] = []
    stream = await client.threads.join_stream(thread_id, **asked)
    async for part in stream:
        parts.append(part)
        if sum(p.data.get("status") == "run_done" for p in parts) == 2:
            break
    return parts


async def two_runs(client: LangGraphClient, thread_id: str, after_seconds: int = 0) -> list[str]:
    body: Any = {"input": {"delay": 0.02}, "stream_mode": "updates", "stream_resumable": True}
    first = await client.runs.create(thread_id, "slow", after_seconds=after_seconds, **body)
    second = await client.runs.create(thread_id, "slow", after_seconds=after_seconds, **body)
    return [first["run_id"], second["run_id"]]


def told(runs: list[str], middle: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [
        part
        for run in runs
        for part in (
            ("metadata", {"run_id": run, "attempt": 1}),
            *middle,
            ("metadata", {"run_id": run, "status": "run_done"}),
        )
    ]


@shows("thread_stream 0 2-4")
async def test_a_threads_stream_tells_of_one_run_after_the_other(
    client: LangGraphClient, thread_id: str
) -> None:
    reading = asyncio.create_task(thread_parts(client, thread_id))
    runs = await two_runs(client, thread_id, after_seconds=1)
    parts = await asyncio.wait_for(reading, 15)
    assert [(part.event, part.data) for part in parts] == told(runs, updates(""))


@shows("thread_stream 5 7-9 11")
async def test_a_threads_stream_is_read_again_from_its_beginning_in_any_mode(
    client: LangGraphClient, thread_id: str
) -> None:
    runs = await two_runs(client, thread_id)
    whole = await thread_parts(client, thread_id, stream_mode="run_modes", last_event_id="-")
    assert [(part.event, part.data) for part in whole] == told(runs, updates(""))
    assert len({part.id for part in whole}) == len(whole)
    modes: Any = ["lifecycle", "state_update"]
    some = await thread_parts(client, thread_id, stream_mode=modes, last_event_id="-")
    assert [(p.event, p.data) for p in some if p.event == "metadata"] == told(runs, [])


@shows("thread_stream 13")
async def test_an_unknown_thread_has_no_stream(client: LangGraphClient) -> None:
    with pytest.raises(NotFoundError):
        await thread_parts(client, "00000000-0000-4000-8000-000000000000")


@shows("heartbeats 0 2-4 6")
async def test_silence_is_broken_every_five_seconds(
    client: LangGraphClient, http: httpx.AsyncClient
) -> None:
    async def chunks(door: str, **asked: Any) -> tuple[bytes, str]:
        thread = await client.threads.create()
        path = f"/threads/{thread['thread_id']}/runs/{door}"
        body = {"assistant_id": "slow", "input": {"delay": 2.2}, **asked}
        answer = await http.post(path, json=body)
        runs = await client.runs.list(thread["thread_id"])
        return answer.content, runs[0]["status"]

    streamed, waited = await asyncio.gather(
        chunks("stream", stream_mode="updates", stream_resumable=True), chunks("wait")
    )
    assert (streamed[1], waited[1]) == ("success", "success")
    assert streamed[0].count(HEARTBEAT) == 2
    names = [line for line in streamed[0].split(b"\r\n") if line.startswith((b"event", b":"))]
    beat, update = b": heartbeat", b"event: updates"
    assert names[1:-1] == [update, update, beat, update, update, beat, update]
    assert waited[0].startswith(b'\n\n{"delay":2.2')
    assert json.loads(waited[0])["steps"] == ["1", "2", "3", "4", "5"]


async def left(
    client: LangGraphClient, http: httpx.AsyncClient, how: str | None, joins: bool = False
) -> tuple[str, str]:
    """A thread and its run, whose only follower has hung up in the middle."""
    thread_id = (await client.threads.create())["thread_id"]
    path = f"/threads/{thread_id}/runs"
    body = {"assistant_id": "slow", "input": LONG, "stream_mode": "updates"}
    if joins:
        run = await client.runs.create(thread_id, "slow", input=LONG)
        query = {"cancel_on_disconnect": "true", "stream_mode": ""}
        opened = http.stream("GET", f"{path}/{run['run_id']}/stream", params=query)
    else:
        asked = {"on_disconnect": how} if how else {}
        opened = http.stream("POST", f"{path}/stream", json={**body, **asked})
    async with opened as answer:
        assert (await anext(answer.aiter_lines())).startswith("event: ")
    return thread_id, (await client.runs.list(thread_id))[0]["run_id"]


@shows("join_streams 49 51 53 55-57 59 61 63-65 67 69 71-74 76-77")
async def test_a_client_that_hangs_up_ends_its_run_only_if_it_asked_for_that(
    client: LangGraphClient, http: httpx.AsyncClient
) -> None:
    default, asked, kept, joined = await asyncio.gather(
        left(client, http, None),
        left(client, http, "cancel"),
        left(client, http, "continue"),
        left(client, http, None, joins=True),
    )
    statuses = [(await client.runs.get(*each))["status"] for each in (default, asked, kept, joined)]
    assert statuses == ["running"] * 4
    for each in (default, asked, kept, joined):
        await client.runs.join(*each)
    ended = [(await client.runs.get(*each))["status"] for each in (default, asked, kept, joined)]
    assert ended == ["success", "interrupted", "success", "interrupted"]
    threads = [await client.threads.get(each[0]) for each in (default, asked, kept, joined)]
    assert [t["status"] for t in threads] == ["idle", "interrupted", "idle", "interrupted"]
    values: Any = [t["values"] for t in threads]
    assert [len(v["steps"]) == 5 for v in values] == [True, False, True, False]


@shows("ttl_cfg 1-2 4 6")
async def test_threads_live_as_long_as_the_project_or_the_client_says(
    tmp_path: Path, database_url: str
) -> None:
    project = {
        "graphs": {"echo": f"{ROOT / 'tests/apps/basic/graphs.py'}:echo"},
        "checkpointer": {
            "ttl": {"strategy": "delete", "default_ttl": 7, "sweep_interval_minutes": 0.005}
        },
    }
    config = tmp_path / "langgraph.json"
    config.write_text(json.dumps(project))
    calls = [
        post("/threads", {}, shape=FRESH_THREAD, keep={"thread": "thread_id"}),
        get("/threads/{thread}?include=ttl", shape={"ttl": {"ttl_minutes": 7.0}}),
        post(
            "/threads",
            {"ttl": {"ttl": 0.02, "strategy": "delete"}},
            shape=FRESH_THREAD,
            keep={"mortal": "thread_id"},
        ),
        get("/threads/{mortal}", status=404, eventually=True),
        get("/threads/{thread}", shape=FRESH_THREAD),
    ]
    server = Server(config, database_url=database_url, log=tmp_path / "log")
    with closing(server.start()):
        async with httpx.AsyncClient(base_url=server.url) as http:
            assert (await play(http, calls, "ttl"))["mortal"]
