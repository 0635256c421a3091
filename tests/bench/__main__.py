"""What a client waits for: ``python -m tests.bench`` prints figures and checks no bound."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

CONFIG = Path(__file__).parent / "langgraph.json"
RUNS = 200
EVENTS = 1000


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="langgraph-durable-bench-") as home:
        with server(home) as (process, url):
            async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                await measure(client)
            interrupted = await cut_short(url, process)
        with server(home) as (_, url):
            before = time.perf_counter()
            await until_ended(url, *interrupted)
            tell("kill -9: from ready again to the answer", time.perf_counter() - before)


async def measure(client: httpx.AsyncClient) -> None:
    await repeat(20, lambda: echo(client))
    told("a run, asked and answered", await repeat(RUNS, lambda: echo(client)))
    told("a run accepted", await repeat(RUNS, lambda: accept(client)))
    for at_once in (8, 32):
        before = time.perf_counter()
        await asyncio.gather(
            *(repeat(RUNS // at_once, lambda: echo(client)) for _ in range(at_once))
        )
        rate = RUNS // at_once * at_once / (time.perf_counter() - before)
        print(f"  {f'runs a second, {at_once} at once':44}{rate:9.0f}")
    before = time.perf_counter()
    frames = await stream(client)
    print(f"  {'events a second, one stream':44}{frames / (time.perf_counter() - before):9.0f}")


async def echo(client: httpx.AsyncClient) -> None:
    answer = await client.post("/runs/wait", json={"assistant_id": "echo", "input": {"n": 7}})
    assert answer.json() == {"n": 7}, answer.text


async def accept(client: httpx.AsyncClient) -> None:
    answer = await client.post("/runs", json={"assistant_id": "echo", "input": {"n": 7}})
    assert answer.status_code == 200, answer.text


async def stream(client: httpx.AsyncClient) -> int:
    """How many events arrived."""
    body = {"assistant_id": "emit", "input": {"n": EVENTS}, "stream_mode": "custom"}
    async with client.stream("POST", "/runs/stream", json=body) as answer:
        frames = [line async for line in answer.aiter_lines() if line == "event: custom"]
    assert len(frames) == EVENTS, len(frames)
    return len(frames)


async def cut_short(url: str, process: subprocess.Popen[str]) -> tuple[str, str]:
    """A run that was accepted one instant before its server was killed."""
    async with httpx.AsyncClient(base_url=url) as client:
        thread = (await client.post("/threads", json={})).json()["thread_id"]
        body = {"assistant_id": "echo", "input": {"n": 7}}
        run = (await client.post(f"/threads/{thread}/runs", json=body)).json()["run_id"]
    process.send_signal(signal.SIGKILL)
    process.wait()
    return thread, run


async def until_ended(url: str, thread: str, run: str) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        answer = await client.get(f"/threads/{thread}/runs/{run}/join")
        assert answer.json() == {"n": 7}, answer.text


async def repeat(count: int, ask: Callable[[], Awaitable[None]]) -> list[float]:
    """How many seconds each took, one after the other."""
    took = []
    for _ in range(count):
        before = time.perf_counter()
        await ask()
        took.append(time.perf_counter() - before)
    return took


@contextmanager
def server(home: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    before = time.perf_counter()
    command = (sys.executable, "-m", "langgraph_durable", "dev", "--config", str(CONFIG))
    with subprocess.Popen(
        (*command, "--port", "0", "--log-level", "error"),
        env={**os.environ, "LANGGRAPH_DURABLE_HOME": home},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        found = next(match for line in lines if (match := re.search(r"LangGraph\s+(\S+)", line)))
        tell("from the command to ready", time.perf_counter() - before)
        try:
            yield process, found[1]
        finally:
            process.terminate()


def told(what: str, took: list[float]) -> None:
    middle, worst = statistics.median(took), statistics.quantiles(took, n=100)[98]
    print(f"  {what:44}{middle * 1000:9.1f} ms, 99 %: {worst * 1000:.1f} ms")


def tell(what: str, seconds: float) -> None:
    print(f"  {what:44}{seconds * 1000:9.1f} ms", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
