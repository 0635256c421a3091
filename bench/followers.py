"""Readers that should cost nothing: of a run that sleeps, and those who have stopped reading."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import psycopg

from bench.figures import Figures, in_ms
from bench.rates import echoes
from bench.raw import Connection, connected
from bench.served import Served
from bench.stage import Stage

AT_ONCE = 100
DEAD_BYTES = 4096
FILLING_BYTES = 1000
SETTLE_SECONDS = 0.3
IDLE_SHARE = 0.2
PATIENCE_SECONDS = 10.0
CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"


async def measure(stage: Stage) -> Figures:
    """On a server of its own each time: memory that was used once is not given back."""
    async with stage.another() as (server, url):
        before = await echoes(server.port, stage.scale.seconds)
        idle = await _idle(server, url, stage)
        dead = await _dead(server, url, stage)
    return in_ms("followers.wait_before", before) | idle | dead


async def _idle(server: Served, url: str, stage: Stage) -> Figures:
    memory, connections = server.resident_mb(), number(url, CONNECTIONS)
    async with (
        _sleeping(server.port) as stream,
        _following(server.port, stream, stage.scale.followers),
    ):
        await _idle_again(server)
        return {
            "followers.count": stage.scale.followers,
            "followers.memory_mb": server.resident_mb() - memory,
            "followers.database_connections_before": connections,
            "followers.database_connections": number(url, CONNECTIONS),
            **in_ms("followers.wait", await echoes(server.port, stage.scale.seconds)),
        }


async def _dead(server: Served, url: str, stage: Stage) -> Figures:
    """Each asks for a stream that is far longer than what sockets hold, and reads no byte of it."""
    scale = stage.scale
    stream = await _long(server.port, scale.dead_events)
    await _idle_again(server)
    memory = server.resident_mb()
    async with AsyncExitStack() as leaving:
        for _ in range(scale.dead_readers):
            connection = await Connection.open(server.port, receive_bytes=DEAD_BYTES)
            leaving.callback(connection.close)
            connection.send("GET", stream, last_event_id="-1")
        return {
            "dead_readers.count": scale.dead_readers,
            "dead_readers.sending_s": await _idle_again(server),
            "dead_readers.unread_mb": scale.dead_readers * scale.dead_events * FILLING_BYTES / 1e6,
            **in_ms("dead_readers.wait", await echoes(server.port, scale.seconds)),
            "dead_readers.memory_mb": server.resident_mb() - memory,
            "dead_readers.database_connections": number(url, CONNECTIONS),
        }


async def _idle_again(server: Served) -> float:
    """Seconds until it works for less than a fifth of the time; up to ten."""
    began = time.perf_counter()
    while time.perf_counter() < began + PATIENCE_SECONDS:
        used, since = server.cpu_seconds(), time.perf_counter()
        await asyncio.sleep(SETTLE_SECONDS)
        if server.cpu_seconds() - used < IDLE_SHARE * (time.perf_counter() - since):
            break
    return time.perf_counter() - began


async def _long(port: int, events: int) -> str:
    """The path of the stream of a run that has ended."""
    given = {"n": events, "size": FILLING_BYTES}
    body = {"assistant_id": "tokens", "input": given}
    async with connected(port) as connection:
        thread = (await connection.ask("POST", "/threads", {}))["thread_id"]
        run = (await connection.ask("POST", f"/threads/{thread}/runs", body))["run_id"]
        await connection.ask("GET", f"/threads/{thread}/runs/{run}/join")
    return f"/threads/{thread}/runs/{run}/stream?stream_mode=custom"


@asynccontextmanager
async def _sleeping(port: int) -> AsyncIterator[str]:
    """The path of the stream of a run that sleeps, until nobody needs it."""
    async with connected(port) as connection:
        thread = (await connection.ask("POST", "/threads", {}))["thread_id"]
        body = {"assistant_id": "sleeper", "input": {}}
        run = (await connection.ask("POST", f"/threads/{thread}/runs", body))["run_id"]
    yield f"/threads/{thread}/runs/{run}/stream"
    async with connected(port) as connection:
        await connection.ask("POST", f"/threads/{thread}/runs/{run}/cancel?wait=true")


@asynccontextmanager
async def _following(port: int, stream: str, count: int) -> AsyncIterator[None]:
    """``count`` connections, all of which have been answered."""
    free = asyncio.Semaphore(AT_ONCE)

    async def follow() -> Connection:
        async with free:
            connection = await Connection.open(port)
            connection.send("GET", stream, last_event_id="-1")
            await connection.reader.readuntil(b"event: metadata")
            return connection

    connections = await asyncio.gather(*(follow() for _ in range(count)))
    try:
        yield
    finally:
        for connection in connections:
            connection.close()


def number(url: str, statement: str) -> int:
    """What a statement counts."""
    with psycopg.connect(url) as connection:
        row = connection.execute(statement).fetchone()
    return int(row[0]) if row else 0
