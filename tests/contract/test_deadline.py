"""A run that takes longer than it may: what stock clients see of it, at every door."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from langgraph_sdk import get_client

from tests.conftest import MakeServer
from tests.servers import Server

MESSAGE = "The run did not end within the time that its graph's runs have."
SLOW = {"delay": 1.0}


@pytest.fixture
def server(database_url: str, make_server: MakeServer) -> Server:
    env = {"BG_JOB_TIMEOUT_SECS": "0.5", "LANGGRAPH_DURABLE_HEARTBEAT_SECONDS": "0.1"}
    return make_server("basic", database_url=database_url, env=env).start()


@pytest.fixture
async def client(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        yield client


async def test_the_langgraph_door_tells_of_a_timeout_in_the_stream_and_ever_after(
    server: Server,
) -> None:
    async with get_client(url=server.url) as sdk:
        thread = (await sdk.threads.create())["thread_id"]
        stream = sdk.runs.stream(thread, "slow", input=SLOW, stream_mode="updates")
        parts = [part async for part in stream]
        assert [p.event for p in parts][-2:] == ["error", "end"]
        assert parts[-2].data == {"error": "RunDeadlineExceeded", "message": MESSAGE}
        (run,) = await sdk.runs.list(thread)
        assert run["status"] == "timeout"
        assert (await sdk.threads.get(thread))["status"] == "error"
        again = [p async for p in sdk.runs.join_stream(thread, run["run_id"], last_event_id="-1")]
        assert [p.event for p in again][-2:] == ["error", "end"]
        joined = await sdk.runs.join(thread, run["run_id"])
        assert joined["__error__"] == parts[-2].data


async def test_the_responses_door_tells_of_a_failure_with_its_reason(
    client: httpx.AsyncClient,
) -> None:
    ended = await client.post("/runs/wait", json={"assistant_id": "slow", "input": SLOW})
    run_id = ended.headers["location"].split("/")[-2]
    response = (await client.get(f"/v1/responses/resp_{run_id.replace('-', '')}")).json()
    assert (response["status"], response["error"]["message"]) == ("failed", MESSAGE)


async def test_the_invocations_door_tells_of_a_failure_with_its_reason(
    client: httpx.AsyncClient,
) -> None:
    body = {"graph": "slow", "input": SLOW, "background": False}
    told = (await client.post("/invocations", json=body)).json()
    assert told["status"] == "failed"
    assert MESSAGE in str(told["error"])
