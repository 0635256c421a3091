"""``DurableServer(graph).app`` under uvicorn, alone and mounted, with stock clients and a kill."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.conftest import APPS
from tests.crash.conftest import Sdk
from tests.crash.gates import Gates
from tests.servers import Server


class Uvicorn(Server):
    """``uvicorn mounted:<name>``; its clients' base URL has the prefix it is mounted under."""

    def __init__(self, name: str, prefix: str, **options: Any) -> None:
        super().__init__(APPS / "crash" / "langgraph.json", **options)
        self._name = name
        self.url += prefix

    def arguments(self) -> list[str]:
        target = f"mounted:{self._name}"
        return [sys.executable, "-m", "uvicorn", target, "--port", str(self.port)]


@pytest.fixture
def server(
    request: pytest.FixtureRequest, database_url: str, gates: Gates, tmp_path: Path
) -> Iterator[Uvicorn]:
    name, prefix = request.param
    env = {**gates.env, "LANGGRAPH_DURABLE_SHUTDOWN_GRACE_SECONDS": "0.5"}
    made = Uvicorn(name, prefix, database_url=database_url, env=env, log=tmp_path / "uvicorn.log")
    yield made.start()
    made.close()


everywhere = pytest.mark.parametrize(
    "server",
    [("alone", ""), ("within", "/agent"), ("lazy", "/my/agent")],
    ids=["alone", "mounted", "mounted-without-lifespan"],
    indirect=True,
)


@everywhere
async def test_stock_clients_go_on_through_the_prefix_after_a_kill(
    server: Uvicorn, gates: Gates, sdk: Sdk
) -> None:
    langgraph = sdk(server.url)
    responses = openai.AsyncOpenAI(base_url=server.url, api_key="-", max_retries=0)
    thread_id = (await langgraph.threads.create())["thread_id"]
    parts: list[Any] = []

    async def follow() -> None:
        asked: Any = {"input": {"items": []}, "stream_mode": ["updates"]}
        async for part in langgraph.runs.stream(thread_id, "steps", **asked):
            parts.append(part)

    following = asyncio.create_task(follow())
    stream = await responses.responses.create(
        model="agent", input="use the tool", background=True, stream=True
    )
    told: list[Any] = []
    async for event in stream:
        told.append(event)
        if event.type == "response.mcp_call_arguments.done":
            break
    await stream.close()
    for gate in ("two", "work"):
        await asyncio.to_thread(gates.reached, gate)

    server.kill()
    gates.open("two", "work")
    server.start()
    await asyncio.wait_for(following, 30)
    again = await responses.responses.retrieve(
        told[0].response.id, stream=True, starting_after=told[-1].sequence_number
    )
    rest = [event async for event in again]
    await responses.close()

    updates = [next(iter(part.data)) for part in parts if part.event == "updates"]
    assert updates == ["one", "two", "three"]
    assert [part.data["attempt"] for part in parts if part.event == "metadata"] == [1, 2]
    assert parts[-1].data["status"] == "success"
    assert rest[-1].type == "response.completed"
    assert rest[-1].response.output_text == "remembered: use the tool"
    await check_places(server, thread_id)
    await check_goes_with_its_streams(server, gates, thread_id)


async def check_places(server: Uvicorn, thread_id: str) -> None:
    """Headers that say where a run is never carry the prefix: clients put their URL before them."""
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        body = {"assistant_id": "agent", "input": {"messages": [{"role": "user", "content": "a"}]}}
        answer = await client.post(f"/threads/{thread_id}/runs/wait", json=body)
        run = answer.headers["content-location"]
        assert run.startswith(f"/threads/{thread_id}/runs/")
        assert answer.headers["location"] == f"{run}/join"
        assert (await client.get(answer.headers["location"])).json() == answer.json()
        unknown = await client.get("/nope")
        assert (unknown.status_code, unknown.json()) == (404, {"detail": "Not Found"})


async def check_goes_with_its_streams(server: Uvicorn, gates: Gates, thread_id: str) -> None:
    """A SIGTERM cuts an open stream, without an end, and the process soon goes."""
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        body = {"assistant_id": "first", "input": {}, "stream_mode": "updates"}
        async with client.stream("POST", f"/threads/{thread_id}/runs/stream", json=body) as stream:
            await asyncio.to_thread(gates.reached, "only")
            seconds = await asyncio.to_thread(server.terminate)
            text = (await stream.aread()).decode()
    assert "event: metadata" in text
    assert "event: end" not in text
    assert seconds < 5
