"""Half a minute of steady events over connections that are cut every two seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client, get_sync_client

from tests.conftest import MakeServer
from tests.contract.frames import Frame, read_frames
from tests.proxies import CuttingProxy

END = 300
PAUSE_SECONDS = 0.1
QUESTION: dict[str, Any] = {
    "input": {"messages": [{"role": "user", "content": f"count {END}"}]},
    "stream_mode": ["messages-tuple", "custom", "values"],
}


@pytest.fixture
def proxy(make_server: MakeServer, database_url: str) -> Iterator[CuttingProxy]:
    server = make_server("clients", database_url=database_url).start()
    made = CuttingProxy(server.url, every_seconds=2)
    yield made
    made.close()


async def test_a_stream_over_a_line_that_is_cut_every_2_s_is_whole(proxy: CuttingProxy) -> None:
    """With a thread and without one: then the clients ask nobody how the run stands."""
    readings = await asyncio.gather(
        *[read(proxy.url, stateless=stateless) for stateless in (False, True)],
        *[asyncio.to_thread(read_sync, proxy.url, stateless=s) for s in (False, True)],
        read_raw(proxy.url),
    )
    for parts in readings:
        assert_whole(parts)
    assert proxy.connections > len(readings) * END * PAUSE_SECONDS / 4


def assert_whole(parts: list[Any]) -> None:
    """Complete, in order, nothing twice."""

    def of(name: str) -> list[Any]:
        return [part.data for part in parts if part.event == name]

    assert of("custom") == [{"number": number} for number in range(END)]
    text = "".join(chunk["content"] for chunk, _ in of("messages"))
    assert text == "".join(f"{number} " for number in range(END))
    assert of("values")[-1]["messages"][-1]["content"] == text
    ids = [int(part.id) for part in parts]
    assert ids == sorted(set(ids))
    assert (parts[0].event, parts[-1].event) == ("metadata", "end")


async def read(url: str, *, stateless: bool) -> list[Any]:
    async with get_client(url=url) as client:
        thread_id: Any = None if stateless else (await client.threads.create())["thread_id"]
        return [part async for part in client.runs.stream(thread_id, "chat", **QUESTION)]


def read_sync(url: str, *, stateless: bool) -> list[Any]:
    with get_sync_client(url=url) as client:
        thread_id: Any = None if stateless else client.threads.create()["thread_id"]
        return list(client.runs.stream(thread_id, "chat", **QUESTION))


async def read_raw(url: str) -> list[Any]:
    """What any other client makes of it: after a cut it joins again behind the last id it saw."""
    frames: list[Frame] = []
    async with httpx.AsyncClient(base_url=url) as client:
        thread = (await client.post("/threads", json={})).json()
        runs = f"/threads/{thread['thread_id']}/runs"
        run = (await client.post(runs, json={"assistant_id": "chat", **QUESTION})).json()
        while not frames or frames[-1].event != "end":
            last = str(frames[-1].id) if frames else "-1"
            frames += await until_cut(client, f"{runs}/{run['run_id']}/stream", last)
    return frames


async def until_cut(client: httpx.AsyncClient, stream: str, last: str) -> list[Frame]:
    raw = b""
    with suppress(httpx.TransportError):
        async with client.stream("GET", stream, headers={"Last-Event-ID": last}) as response:
            async for chunk in response.aiter_raw():
                raw += chunk
    whole, end, _ = raw.rpartition(b"\r\n\r\n")
    return read_frames(whole + end)
