"""The Responses door, and one long run read again at both."""

from __future__ import annotations

import time
import uuid
from typing import Any

from bench.figures import Figures, in_ms, quantile
from bench.raw import Connection, connected
from bench.stage import Stage

SAID = {"model": "chat", "input": "a question"}
DELTA = b"event: response.output_text.delta"
CUSTOM = b"event: custom"


async def measure(stage: Stage) -> Figures:
    repeats = stage.scale.repeats
    async with connected(stage.server.port) as connection:
        await _foreground(connection)
        foreground = [await _foreground(connection) for _ in range(repeats)]
        polled = [await _polled(connection) for _ in range(repeats)]
        streamed = [await _streamed(connection) for _ in range(repeats)]
        return {
            **in_ms("foreground.raw", foreground),
            **in_ms("background_poll.raw", polled),
            **in_ms("background_stream.raw.first", [first for first, _ in streamed]),
            **in_ms("background_stream.raw.total", [total for _, total in streamed]),
            **await _replays(connection, stage.scale.replayed_events),
        }


async def _foreground(connection: Connection) -> float:
    before = time.perf_counter()
    _completed(await connection.ask("POST", "/v1/responses", SAID))
    return time.perf_counter() - before


async def _polled(connection: Connection) -> float:
    """From the request to the poll that finds it completed, one poll after the other."""
    before = time.perf_counter()
    response = await connection.ask("POST", "/v1/responses", {**SAID, "background": True})
    while response["status"] in ("queued", "in_progress"):
        response = await connection.ask("GET", f"/v1/responses/{response['id']}")
    _completed(response)
    return time.perf_counter() - before


async def _streamed(connection: Connection) -> tuple[float, float]:
    """Seconds to the first event, and to the last."""
    before, first, completed = time.perf_counter(), 0.0, False
    body = {**SAID, "background": True, "stream": True}
    async for chunk in connection.follow("POST", "/v1/responses", body):
        first = first or time.perf_counter() - before
        completed = completed or b"event: response.completed" in chunk
    if not completed:
        raise AssertionError("a stream without response.completed")
    return first, time.perf_counter() - before


async def _replays(connection: Connection, events: int) -> Figures:
    body = {"model": "words", "input": str(events), "background": True, "stream": True}
    response_id = ""
    async for chunk in connection.follow("POST", "/v1/responses", body):
        response_id = response_id or chunk.partition(b'"id":"')[2].partition(b'"')[0].decode()
    response = await connection.ask("GET", f"/v1/responses/{response_id}")
    run_id = uuid.UUID(response_id.removeprefix("resp_"))
    run = f"/threads/{response['conversation']['id']}/runs/{run_id}"
    langgraph, responses = f"{run}/stream?stream_mode=custom", f"/v1/responses/{response_id}"
    streamed = f"{responses}?stream=true"
    took: dict[str, list[float]] = {"langgraph": [], "responses": []}
    for _ in range(3):
        took["langgraph"].append(await _read(connection, langgraph, CUSTOM, events))
        took["responses"].append(await _read(connection, streamed, DELTA, events))
    return {f"replay_{door}.raw.total_ms": 1000 * quantile(t, 0.5) for door, t in took.items()}


async def _read(connection: Connection, path: str, mark: bytes, events: int) -> float:
    """Seconds to read a stream from its start to its end."""
    before, count = time.perf_counter(), 0
    async for chunk in connection.follow("GET", path, last_event_id="-1"):
        count += chunk.count(mark)
    if count != events:
        raise AssertionError(f"{count} of {events} events at {path}")
    return time.perf_counter() - before


def _completed(response: Any) -> None:
    if response["status"] != "completed":
        raise AssertionError(response)
