"""Speaking the agent streaming protocol by hand: commands, and events as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import httpx

from protocol_adapter.langgraph.protocol_events import CHANNELS
from tests.contract.frames import read_frames

Told = dict[str, Any]


async def command(http: httpx.AsyncClient, thread_id: str, method: str, **params: Any) -> Any:
    """The answer to one command."""
    body = {"id": 7, "method": method, "params": params}
    answer = await http.post(f"/threads/{thread_id}/commands", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["id"] == 7
    return answer.json()


async def start(http: httpx.AsyncClient, thread_id: str, assistant: str, input: Any) -> str:
    """The id of a run that has been started."""
    given = {"assistant_id": assistant, "input": input}
    told = await command(http, thread_id, "run.start", **given)
    assert told["type"] == "success", told
    return str(told["result"]["run_id"])


async def events(http: httpx.AsyncClient, thread_id: str, **asked: Any) -> AsyncIterator[Told]:
    """A thread's events, for ever; each frame is named by its method and its place."""
    body = {"channels": list(CHANNELS), **asked}
    path = f"/threads/{thread_id}/stream/events"
    async with http.stream("POST", path, json=body) as answer:
        assert answer.status_code == 200, await answer.aread()
        raw = b""
        async for piece in answer.aiter_bytes():
            whole, end, rest = (raw + piece).rpartition(b"\r\n\r\n")
            raw = rest
            for frame in read_frames(whole + end):
                assert (frame.event, frame.id) == (frame.data["method"], frame.data["seq"])
                yield frame.data


def phase(event: Told) -> str | None:
    """What a lifecycle event says of the run itself."""
    root = event["method"] == "lifecycle" and not event["params"]["namespace"]
    return str(event["params"]["data"]["event"]) if root else None


def over(event: Told) -> bool:
    return phase(event) not in (None, "running")


async def until(
    http: httpx.AsyncClient,
    thread_id: str,
    last: Callable[[Told], bool] = over,
    **asked: Any,
) -> list[Told]:
    """Events up to the first that is the ``last``: the end of a run."""
    told: list[Told] = []
    async with asyncio.timeout(20), aclosing(events(http, thread_id, **asked)) as coming:
        async for event in coming:
            told.append(event)
            if last(event):
                break
    return told


def data_of(told: list[Told], method: str) -> list[Any]:
    return [event["params"]["data"] for event in told if event["method"] == method]
