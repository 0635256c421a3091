"""Streams: short and long, one and many, of a graph's own events and of a model's tokens."""

from __future__ import annotations

import statistics

from bench.app.graphs import TOKENS
from bench.clients import Client
from bench.figures import Figures, in_ms
from bench.rates import Heard, heard, rate
from bench.stage import Stage

SHORT = 200
LEAST_REPEATS = 3


async def measure(stage: Stage) -> Figures:
    figures: Figures = {}
    for kind in ("bare", "sdk", "raw"):
        async with stage.clients(kind, 1) as [client]:
            await _custom(client, SHORT)
            for events in stage.scale.stream_events:
                figures |= await _one(client, events, stage.scale.repeats)
            figures |= await _tokens(client, stage.scale.repeats)
        for count in stage.scale.streams_at_once:
            figures |= await _many(stage, kind, count)
    return figures


async def _one(client: Client, events: int, repeats: int) -> Figures:
    """The longer a stream, the fewer times."""
    times = max(LEAST_REPEATS, repeats * SHORT // events)
    return _told(
        f"stream_{events}.{client.name}", [await _custom(client, events) for _ in range(times)]
    )


async def _tokens(client: Client, repeats: int) -> Figures:
    given = {"messages": [{"role": "user", "content": "speak"}]}
    streams = []
    for _ in range(repeats):
        thread = await client.thread()
        streams.append(await heard(client.stream(thread, "said", given, "messages"), TOKENS))
    return _told(f"messages.{client.name}", streams)


async def _many(stage: Stage, kind: str, count: int) -> Figures:
    streams: list[Heard] = []

    async def one(client: Client) -> float:
        streams.append(await _custom(client, SHORT))
        return streams[-1].total

    async with stage.clients(kind, count) as clients:
        counted = await rate(stage, clients, one, seconds=0)
    name, (executing, postgres) = f"streams_at_once_{count}.{kind}", counted.cpu_ms
    return {
        f"{name}.per_s": counted.per_s * SHORT,
        **in_ms(f"{name}.first", [stream.first for stream in streams]),
        f"{name}.server_cpu_ms": executing,
        f"{name}.postgres_cpu_ms": postgres,
    }


async def _custom(client: Client, events: int) -> Heard:
    thread = await client.thread()
    return await heard(client.stream(thread, "tokens", {"n": events}, "custom"), events)


def _told(name: str, streams: list[Heard]) -> Figures:
    total = statistics.median(stream.total for stream in streams)
    return {
        f"{name}.first_ms": 1000 * statistics.median(stream.first for stream in streams),
        f"{name}.total_ms": 1000 * total,
        f"{name}.per_s": streams[0].events / total,
    }
