"""The agent streaming protocol while its server is killed, and while its line is cut."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from langchain_core.language_models.chat_model_stream import ChatModelStream

from tests.contract.protocol import Told, data_of, events, over, phase, start
from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query
from tests.proxies import CuttingProxy
from tests.servers import Server, until

HELLO = {"messages": [{"role": "user", "content": "hello"}]}
NEVER_SECONDS = 10_000.0


async def follow(url: str, thread_id: str) -> list[Told]:
    """Until the run is over, through any number of lost connections."""
    told: list[Told] = []
    async with httpx.AsyncClient(base_url=url, timeout=10) as http:
        while not (told and over(told[-1])):
            since = {"since": told[-1]["seq"]} if told else {}
            with suppress(httpx.TransportError):
                async for event in events(http, thread_id, **since):
                    told.append(event)
                    if over(event):
                        break
    return told


def check_once_and_in_order(told: list[Told]) -> None:
    places = [event["seq"] for event in told]
    assert places == sorted(set(places))
    assert len({event["event_id"] for event in told}) == len(told)


async def started(server: Server, assistant: str, input: Any) -> str:
    """A new thread on which a run has been started."""
    async with httpx.AsyncClient(base_url=server.url) as http:
        thread_id = f"of-{assistant}"
        await start(http, thread_id, assistant, input)
        return thread_id


async def test_a_killed_server_is_followed_to_the_end_without_a_gap(
    crash_server: CrashServer, gates: Gates
) -> None:
    server = crash_server().start()
    thread_id = await started(server, "steps", {"items": ["in"]})
    reading = asyncio.create_task(follow(server.url, thread_id))
    await asyncio.to_thread(gates.reached, "two")
    server.kill()
    gates.open("two")
    server.start()
    told = await asyncio.wait_for(reading, 40)
    check_once_and_in_order(told)
    assert [phase(event) for event in told if phase(event)] == ["running", "running", "completed"]
    assert [data["node"] for data in data_of(told, "updates")] == ["one", "two", "three"]
    assert data_of(told, "values")[-1] == {"items": ["in", "one", "two", "three"]}
    async with asyncio.timeout(20):
        assert await follow(server.url, thread_id) == told


async def test_a_message_that_was_cut_by_a_kill_is_finished_and_told_anew(
    crash_server: CrashServer, gates: Gates, database_url: str
) -> None:
    server = crash_server().start()
    thread_id = await started(server, "speech", HELLO)
    reading = asyncio.create_task(follow(server.url, thread_id))
    await asyncio.to_thread(gates.reached, "speak")
    second = "SELECT 1 FROM events WHERE name LIKE 'messages%%' AND data LIKE '%%\"upon %%'"
    await asyncio.to_thread(until, lambda: bool(query(database_url, second)), "it is durable")
    server.kill()
    gates.open("speak")
    server.start()
    told = await asyncio.wait_for(reading, 40)
    check_once_and_in_order(told)
    assert [text for text in texts_of(told) if text != "hello"] == [
        "Once upon ",
        "Once upon a time",
    ]
    again = [at for at, event in enumerate(told) if phase(event) == "running"][1]
    closed = [d for d in data_of(told[:again], "messages") if d["event"] == "message-finish"]
    assert closed
    inside = [e for e in told if e["method"] == "lifecycle" and e["params"]["namespace"]]
    assert [e["params"]["data"]["event"] for e in inside] == ["started", "completed"]
    assert data_of(told, "values")[-1]["messages"][-1]["content"] == "Once upon a time"


def texts_of(told: list[Told]) -> list[str]:
    """What the client's own class makes of the messages; every one of them is finished."""
    found: dict[str, ChatModelStream] = {}
    for data in data_of(told, "messages"):
        if data["event"] == "message-start":
            found[data["id"]] = ChatModelStream(message_id=data["id"])
        found[data["id"]].dispatch(data)
    assert all(stream.done for stream in found.values())
    return [str(stream.text) for stream in found.values()]


# -- a line that is cut ---------------------------------------------------------------------------


@pytest.fixture
def cut_server(crash_server: CrashServer) -> Server:
    return crash_server().start()


@pytest.fixture
def proxy(cut_server: Server) -> Iterator[CuttingProxy]:
    made = CuttingProxy(cut_server.url, every_seconds=NEVER_SECONDS)
    yield made
    made.close()


async def test_the_client_sees_a_run_whole_although_its_line_is_cut(
    proxy: CuttingProxy, gates: Gates, sdk: Sdk
) -> None:
    async with sdk(proxy.url).threads.stream(assistant_id="steps") as thread:
        await thread.run.start(input={"items": ["in"]})
        seen: list[Any] = []
        subscription = thread.subscribe(["values", "updates", "custom"])
        reading = asyncio.create_task(collect(subscription, seen))
        await asyncio.to_thread(gates.reached, "two")
        await asyncio.to_thread(until, lambda: seen, "the client has seen something")
        before = proxy.connections
        proxy.cut()
        gates.open("two")
        told = await asyncio.wait_for(reading, 20)
        assert proxy.connections > before
        check_once_and_in_order(told)
        assert [data["node"] for data in data_of(told, "updates")] == ["one", "two", "three"]
        said = [data["payload"]["at"] for data in data_of(told, "custom")]
        assert said == ["one", "two", "three"]
        output = await asyncio.wait_for(thread.output, 20)
        assert output["items"] == ["in", "one", "two", "three"]


async def test_a_message_goes_on_where_its_line_was_cut(
    proxy: CuttingProxy, gates: Gates, sdk: Sdk
) -> None:
    async with sdk(proxy.url).threads.stream(assistant_id="speech") as thread:
        await thread.run.start(input=HELLO)
        seen: list[Any] = []
        subscription = thread.subscribe(["messages", "lifecycle"])
        reading = asyncio.create_task(collect(subscription, seen))
        await asyncio.to_thread(gates.reached, "speak")
        await asyncio.to_thread(until, lambda: seen, "the client has seen something")
        proxy.cut()
        gates.open("speak")
        told = await asyncio.wait_for(reading, 20)
        check_once_and_in_order(told)
        assert "Once upon a time" in texts_of(told)
        output = await asyncio.wait_for(thread.output, 20)
        assert output["messages"][-1]["content"] == "Once upon a time"


async def collect(stream: Any, seen: list[Any]) -> list[Any]:
    async for event in stream:
        seen.append(event)
    return seen
