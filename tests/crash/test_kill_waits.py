"""kill -9 of the server while runs sleep, and behind their waking, at every door."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import openai
import pytest

from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query, read_log
from tests.servers import Server
from tests.waiting import HOUR, pass_time, row, until_asleep

STRATEGIES = ["agent_session", "event_log"]
HELLO = {"messages": [{"role": "user", "content": "hello"}]}


def served(crash_server: CrashServer, strategy: str) -> Server:
    graphs = ("hearing", "napping", "asking")
    return crash_server(recovery_by_graph=",".join(f"{g}={strategy}" for g in graphs)).start()


def texts(values: dict[str, Any]) -> list[str]:
    return [m["content"] for m in values["messages"] if m["type"] == "ai"]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_crash_while_it_sleeps_is_nothing_to_a_run(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str, strategy: str
) -> None:
    server = served(crash_server, strategy)
    client = sdk(server.url)
    thread_id = (await client.threads.create())["thread_id"]
    run = await client.runs.create(thread_id, "napping", input=HELLO)
    await asyncio.to_thread(until_asleep, database_url, run["run_id"])
    server.kill()
    pass_time(database_url, HOUR)
    server.start()
    values: Any = await client.runs.join(thread_id, run["run_id"])
    assert texts(values) == ["Waiting.", "Slept.", "Done."]
    assert gates.executions() == ["begin", "nap", "finish"]
    assert row(database_url, run["run_id"])["crashes"] == 0
    log = read_log(database_url, run["run_id"])
    assert "recovered" not in [event.name for event in log]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_crash_behind_the_waking_goes_on_from_there(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str, strategy: str
) -> None:
    server = served(crash_server, strategy)
    client = sdk(server.url)
    thread_id = (await client.threads.create())["thread_id"]
    stream = client.runs.stream(thread_id, "hearing", input=HELLO, stream_mode=["updates"])

    async def read() -> list[Any]:
        return [part async for part in stream]

    reading = asyncio.create_task(read())
    run_id = await _run_id(client, thread_id)
    await asyncio.to_thread(until_asleep, database_url, run_id)
    async with httpx.AsyncClient(base_url=server.url) as http:
        answer = await http.post(f"/threads/{thread_id}/signals/go", json="it")
    assert answer.json() == {"thread_id": thread_id, "name": "go", "new": True}
    await asyncio.to_thread(gates.reached, "hear")
    server.kill()
    gates.close("hear")
    gates.open("hear")
    server.start()
    parts = await asyncio.wait_for(reading, 40)
    updates = [next(iter(p.data)) for p in parts if p.event == "updates"]
    assert updates == ["begin", "hear", "finish"]
    assert [p.data["attempt"] for p in parts if p.event == "metadata"] == [1, 3]
    assert parts[-1].event == "end"
    assert gates.executions() == ["begin", "hear", "hear", "finish"]
    state: Any = await client.threads.get_state(thread_id)
    assert texts(state["values"]) == ["Waiting.", "Heard it.", "Done."]
    evidence = [m for m in state["values"]["messages"] if m["content"].startswith("[RECOVERY]")]
    assert len(evidence) == (1 if strategy == "event_log" else 0)


async def _run_id(client: Any, thread_id: str) -> str:
    """The id of the thread's run, once it is there."""
    for _ in range(200):
        if found := await client.runs.list(thread_id):
            return str(found[0]["run_id"])
        await asyncio.sleep(0.02)
    raise AssertionError("the run is not there")


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_response_sleeps_is_killed_behind_its_signal_and_keeps_what_it_said(
    crash_server: CrashServer, gates: Gates, database_url: str, strategy: str
) -> None:
    server = served(crash_server, strategy)
    async with openai.AsyncOpenAI(base_url=server.url, api_key="-", max_retries=0) as client:
        response = await client.responses.create(model="hearing", input="hello", background=True)
        run_id = await asyncio.to_thread(_run_of, database_url)
        await asyncio.to_thread(until_asleep, database_url, run_id)
        waiting = await client.responses.retrieve(response.id)
        assert waiting.status == "in_progress"
        await client.post(f"/responses/{response.id}/signals/go", body="it", cast_to=object)
        await asyncio.to_thread(gates.reached, "hear")
        server.kill()
        gates.open("hear")
        server.start()
        told = [e async for e in await client.responses.retrieve(response.id, stream=True)]
        last = await client.responses.retrieve(response.id)
        assert [e.type for e in told].count("response.resumed") == 1
        assert [e.type for e in told].count("response.in_progress") == 2
        assert told[-1].type == "response.completed"
        assert [e.sequence_number for e in told] == list(range(len(told)))
        assert [item.content[0].text for item in last.output] == [
            "Waiting.",
            "Heard it.",
            "Done.",
        ]
        assert gates.executions() == ["begin", "hear", "hear", "finish"]


def _run_of(database_url: str) -> str:
    """The only run there is."""
    [found] = query(database_url, "SELECT run_id::text FROM runs")
    return str(found["run_id"])


async def test_a_follower_of_a_sleeper_is_told_nothing_until_it_wakes(
    crash_server: CrashServer, gates: Gates, database_url: str
) -> None:
    """Its stream stays open and says that it is alive, over a deploy too."""
    server = served(crash_server, "agent_session")
    gates.open("hear")
    created = {"id": "inv", "graph": "hearing", "input": HELLO, "background": True}
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as http:
        await http.post("/invocations", json=created)
        run_id = await asyncio.to_thread(_run_of, database_url)
        await asyncio.to_thread(until_asleep, database_url, run_id)
        assert (await http.get("/invocations/inv")).json()["status"] == "in_progress"
        async with http.stream("GET", "/invocations/inv/events") as stream:
            lines = stream.aiter_lines()
            while not (await anext(lines)).startswith(":"):
                pass
            answer = await http.post("/invocations/inv/signals/go?id=1", json={"n": 1})
            assert answer.json() == {"id": "inv", "name": "go", "new": True}
            again = await http.post("/invocations/inv/signals/go?id=1", json={"n": 2})
            assert again.json()["new"] is False
            rest = [line async for line in lines]
    events = [line.removeprefix("event: ") for line in rest if line.startswith("event:")]
    assert events[-1] == "run.completed"
    assert "run.recovered" not in events
    assert "Heard {'n': 1}." in "".join(rest)
