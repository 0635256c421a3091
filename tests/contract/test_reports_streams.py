"""What users reported about streams of other servers, asked of this one: a test is a report."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import NotFoundError

from tests.conftest import MakeServer
from tests.contract.frames import read_frames
from tests.servers import Server, until

LONG: dict[str, Any] = {"delay": 60}


async def collect(parts: Any) -> list[Any]:
    return [part async for part in parts]


async def test_who_comes_back_after_the_last_step_gets_its_values_and_finds_them_everywhere(
    client: LangGraphClient, thread_id: str
) -> None:
    """langchain-ai/langgraphjs#1969, #1632: the page kept old values after a rejoin."""
    made: list[Any] = []
    cursor = None
    asked: Any = {"input": {"delay": 0.05}, "stream_mode": ["values", "updates"]}
    stream = client.runs.stream(
        thread_id, "slow", **asked, stream_resumable=True, on_run_created=made.append
    )
    async for part in stream:
        if part.event == "updates" and "n5" in part.data:
            cursor = part.id
            break
    rest = await collect(
        client.runs.join_stream(thread_id, made[0]["run_id"], last_event_id=cursor)
    )
    state: Any = await client.threads.get_state(thread_id)
    thread: Any = await client.threads.get(thread_id)
    assert [part.event for part in rest] == ["values", "end"]
    assert rest[0].data["steps"] == ["1", "2", "3", "4", "5"]
    assert state["values"] == thread["values"] == rest[0].data
    assert (thread["status"], state["next"]) == ("idle", [])


async def test_a_cursor_into_a_log_that_is_gone_is_an_error_and_no_empty_stream(
    client: LangGraphClient, thread_id: str
) -> None:
    """manaflow-ai/cmux#10699, kenn-io/forge#360: what was no longer kept was left out silently."""
    run = await client.runs.create(thread_id, "echo", input={"x": 1})
    await client.runs.join(thread_id, run["run_id"])
    await client.runs.delete(thread_id, run["run_id"])
    with pytest.raises(NotFoundError):
        await collect(client.runs.join_stream(thread_id, run["run_id"], last_event_id="1"))


# -- silence and hanging up -----------------------------------------------------------------------


@pytest.fixture
async def raw(server: Server) -> AsyncIterator[Any]:
    """Opens streams that can be cut. Takes method and path, answers response and its chunks."""
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as http, AsyncExitStack() as all_:

        async def open_stream(method: str, path: str, **more: Any) -> tuple[httpx.Response, Any]:
            response = await all_.enter_async_context(http.stream(method, path, **more))
            return response, response.aiter_raw()

        yield open_stream


async def begun(raw: Any, thread_id: str, **more: Any) -> tuple[httpx.Response, Any, str]:
    """A run that is silent for a minute: its open stream and its path."""
    body = {"assistant_id": "slow", "input": LONG, **more}
    response, chunks = await raw("POST", f"/threads/{thread_id}/runs/stream", json=body)
    assert b"event: metadata" in await anext(chunks)
    return response, chunks, response.headers["content-location"]


def ended(server: Server, path: str) -> bool:
    return bool(httpx.get(f"{server.url}{path}").json()["status"] == "interrupted")


async def test_silence_is_filled_and_only_who_asks_for_it_ends_a_run_by_hanging_up(
    raw: Any, server: Server, http: httpx.AsyncClient, client: LangGraphClient
) -> None:
    """aegra#323, hermes-agent#85016, #96507: the cut of a proxy was taken for a cancel."""
    threads = [(await client.threads.create())["thread_id"] for _ in range(3)]
    stays, chunks, kept = await begun(raw, threads[0])
    leaves, _, cancelled = await begun(raw, threads[1], on_disconnect="cancel")
    other, _, joined = await begun(raw, threads[2])
    watcher, _ = await raw("GET", f"{kept}/stream")
    canceller, _ = await raw("GET", f"{joined}/stream", params={"cancel_on_disconnect": "1"})
    assert stays.headers["x-accel-buffering"] == "no"
    assert stays.headers["cache-control"] == "no-store"
    async with asyncio.timeout(15):
        while not (chunk := await anext(chunks)).startswith(b":"):
            assert chunk
    assert chunk.endswith(b"\r\n\r\n")

    for one in (stays, watcher, leaves, other, canceller):
        await one.aclose()
    for path in (cancelled, joined):  # to join them would be to come back
        await asyncio.to_thread(until, lambda p=path: ended(server, p), "its client is missed", 30)
    assert (await http.get(kept)).json()["status"] == "running"
    await http.post(f"{kept}/cancel", params={"wait": "1"})


# -- readers that do not read ---------------------------------------------------------------------


READERS = 40
EVENT = 1_000_000


def resident(server: Server) -> int:
    """Megabytes that the server's process holds."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) // 1024


def following(server: Server) -> int:
    numbers = httpx.get(f"{server.url}/metrics").text
    [line] = [x for x in numbers.splitlines() if x.startswith("langgraph_durable_followers{")]
    return int(line.split()[-1])


@pytest.fixture
def own_server(make_server: MakeServer, database_url: str) -> Server:
    return make_server("basic", database_url=database_url).start()


async def test_readers_that_stop_reading_cost_little_and_harm_nobody(own_server: Server) -> None:
    """anomalyco/opencode#15645, #22198: queues of dead readers grew without end."""
    async with httpx.AsyncClient(base_url=own_server.url, timeout=30) as http:
        body = {"assistant_id": "steps", "input": {"items": ["x" * EVENT]}, "stream_mode": "values"}
        made = await http.post("/threads/t/runs/wait", json={**body, "if_not_exists": "create"})
        run = made.headers["content-location"]
        held = resident(own_server)
        with ExitStack() as sockets:
            for _ in range(READERS):
                connection = socket.create_connection(("127.0.0.1", own_server.port))
                reader = sockets.enter_context(connection)
                head = f"GET {run}/stream HTTP/1.1\r\nHost: x\r\nLast-Event-ID: -1\r\n\r\n"
                reader.sendall(head.encode())
            await asyncio.to_thread(until, lambda: following(own_server) == READERS, "all follow")
            for _ in range(3):
                whole = await http.get(f"{run}/stream", headers={"Last-Event-ID": "-1"})
                told = [frame.event for frame in read_frames(whole.content)]
                assert told == ["metadata", *["values"] * 9, "end"]
            assert resident(own_server) - held < READERS * 9 * EVENT // 1_000_000
        await asyncio.to_thread(until, lambda: following(own_server) == 0, "nobody follows")
