"""A deadline and a run that was recovered: its own clock counts, and looking at it ends nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI

from tests.contract.openresponses import read_stream
from tests.crash.conftest import CrashServer
from tests.crash.gates import Gates
from tests.logs import query, read_log
from tests.servers import Server

STRATEGIES = ["agent_session", "event_log"]
MESSAGE = "The run did not end within the time that its graph's runs have."


@pytest.fixture(params=STRATEGIES)
def served(request: pytest.FixtureRequest, crash_server: CrashServer) -> Server:
    """The agent's runs have an hour."""
    knobs = {"run_deadline_seconds": 3600, "heartbeat_seconds": 0.1}
    return crash_server(recovery_by_graph=f"agent={request.param}", **knobs).start()


async def recovered(server: Server, client: AsyncOpenAI, gates: Gates) -> str:
    """The id of a background response whose second attempt is at work."""
    asked = await client.responses.create(model="agent", input="use the tool", background=True)
    await asyncio.to_thread(gates.reached, "work")
    server.kill()
    gates.close("work")
    await asyncio.to_thread(server.start)
    await asyncio.to_thread(gates.reached, "work")
    return asked.id


def row(server: Server) -> dict[str, Any]:
    (only,) = query(server.database_url, "SELECT *, run_id::text AS name FROM runs")
    return only


async def look(client: httpx.AsyncClient, response_id: str, run: dict[str, Any]) -> list[Any]:
    """What every door says of a run, asked at the same time."""
    paths = [
        f"/v1/responses/{response_id}",
        f"/threads/{run['thread_id']}/runs/{run['name']}",
        f"/invocations/{run['name']}",
    ]
    answers = await asyncio.gather(*(client.get(path) for path in paths * 3))
    return [answer.json()["status"] for answer in answers]


async def test_a_recovered_run_is_not_ended_by_its_age_however_often_it_is_looked_at(
    served: Server, gates: Gates
) -> None:
    async with (
        AsyncOpenAI(base_url=f"{served.url}/v1", api_key="-", max_retries=5) as client,
        httpx.AsyncClient(base_url=served.url, timeout=30) as http,
    ):
        name = await recovered(served, client, gates)
        old = "UPDATE runs SET created_at = created_at - interval '1 day' RETURNING deadline_at"
        before = query(served.database_url, old)
        seen = await look(http, name, row(served))
        run = row(served)
        gates.open("work")
        told = read_stream((await http.get(f"/v1/responses/{name}?stream=true")).content)
        ended = await client.responses.retrieve(name)

    assert set(seen) == {"in_progress", "running"}
    assert (run["status"], run["attempt"], run["deadline_at"]) == (
        "running",
        2,
        before[0]["deadline_at"],
    )
    assert ended.status == "completed"
    assert [frame["type"] for frame in told].count("response.completed") == 1
    assert not {frame["type"] for frame in told} & {"error", "response.failed"}


async def test_a_recovered_run_that_is_overdue_ends_once_for_everybody(
    served: Server, gates: Gates
) -> None:
    async with (
        AsyncOpenAI(base_url=f"{served.url}/v1", api_key="-", max_retries=5) as client,
        httpx.AsyncClient(base_url=served.url, timeout=30) as http,
    ):
        name = await recovered(served, client, gates)
        query(served.database_url, "UPDATE runs SET deadline_at = clock_timestamp()")
        told = read_stream((await http.get(f"/v1/responses/{name}?stream=true")).content)
        gates.open("work")
        seen = await look(http, name, row(served))
        again = read_stream((await http.get(f"/v1/responses/{name}?stream=true")).content)

    assert told[-1]["type"] == "response.failed"
    assert told[-1]["response"]["error"]["message"] == MESSAGE
    assert [frame["type"] for frame in told].count("response.failed") == 1
    assert again == told
    assert set(seen) == {"failed", "timeout"}
    assert gates.count("work finished") == 0
    log = read_log(served.database_url, row(served)["name"])
    assert [event.mode for event in log].count("end") == 1
