"""Guarded calls, killed in the middle: what has returned never runs again."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient

from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query
from tests.servers import Server, until

ASK = {"messages": [{"role": "user", "content": "pay"}]}


class Killed:
    """A run whose server was killed in its last call, and started again."""

    def __init__(self, client: LangGraphClient, thread_id: str, gates: Gates) -> None:
        self.client = client
        self.thread_id = thread_id
        self._gates = gates

    def made(self) -> list[tuple[str, str]]:
        """Every call that was begun, and the idempotency key it had."""
        lines = [line.rsplit(" ", 1) for line in self._gates.executions()]
        return [(name, key) for name, key in lines]

    async def end(self) -> list[str]:
        """The messages when the run has ended."""
        runs = await self.client.runs.list(self.thread_id)
        join = self.client.runs.join(self.thread_id, runs[0]["run_id"])
        values: Any = await asyncio.wait_for(join, 30)
        return [message["content"] for message in values["messages"]]


async def killed(
    server: Server, gates: Gates, sdk: Sdk, database_url: str, graph: str, *, gate: str, done: int
) -> Killed:
    client = sdk(server.url)
    thread = await client.threads.create()
    await client.runs.create(thread["thread_id"], graph, input=ASK)
    await asyncio.to_thread(gates.reached, gate)
    confirmed = "SELECT count(*) AS n FROM tool_calls WHERE status = 'confirmed'"
    await asyncio.to_thread(
        until, lambda: query(database_url, confirmed)[0]["n"] == done, "the others are confirmed"
    )
    server.kill()
    gates.open(gate)
    server.start()
    return Killed(client, thread["thread_id"], gates)


@pytest.mark.parametrize("recovery", ["agent_session", "event_log"])
async def test_only_the_call_that_had_not_returned_is_made_again_under_the_same_key(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str, recovery: str
) -> None:
    server = crash_server(recovery_by_graph=f"payments_retry={recovery}").start()
    run = await killed(server, gates, sdk, database_url, "payments_retry", gate="pay", done=2)
    assert (await run.end())[-4:] == ["paid 1", "paid 2", "paid 3", "done"]
    assert Counter(name for name, _ in run.made()) == {"pay 1": 1, "pay 2": 1, "pay 3": 2}
    assert len({key for name, key in run.made() if name == "pay 3"}) == 1
    assert len({key for _, key in run.made()}) == 3


@pytest.mark.parametrize(
    ("answer", "said", "times"),
    [({"retry": True}, "paid 3", 2), ({"result": "it was"}, "it was", 1)],
)
async def test_a_person_is_asked_about_a_call_that_may_have_happened(
    crash_server: CrashServer,
    gates: Gates,
    sdk: Sdk,
    database_url: str,
    answer: dict[str, Any],
    said: str,
    times: int,
) -> None:
    server = crash_server().start()
    run = await killed(server, gates, sdk, database_url, "payments_ask", gate="pay", done=2)
    await run.end()
    thread = await run.client.threads.get(run.thread_id)
    [[question]] = thread["interrupts"].values()
    assert question["value"]["type"] == "unconfirmed_call"
    assert question["value"]["args"] == {"amount": 3}
    assert question["value"]["idempotency_key"][:16] in dict(run.made())["pay 3"]
    await run.client.runs.wait(run.thread_id, "payments_ask", command={"resume": answer})
    assert (await run.end())[-2:] == [said, "done"]
    assert Counter(name for name, _ in run.made()) == {"pay 1": 1, "pay 2": 1, "pay 3": times}


@pytest.mark.parametrize("happened", [True, False])
async def test_a_function_may_find_out_whether_a_call_has_happened(
    crash_server: CrashServer,
    gates: Gates,
    sdk: Sdk,
    database_url: str,
    happened: bool,
) -> None:
    if happened:
        (gates.folder / "happened").touch()
    server = crash_server().start()
    run = await killed(server, gates, sdk, database_url, "payments_found_out", gate="pay", done=2)
    assert (await run.end())[-2:] == ["was paid" if happened else "paid 3", "done"]
    made = Counter(name for name, _ in run.made())
    assert made["pay 3"] == (1 if happened else 2)
    assert made["find out 3"] == 1
    assert (made["pay 1"], made["pay 2"]) == (1, 1)


async def test_a_call_made_once_in_a_node_is_not_made_again_when_the_node_is(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str
) -> None:
    server = crash_server().start()
    run = await killed(server, gates, sdk, database_url, "purchases", gate="shop", done=2)
    assert (await run.end())[-1] == "1 and 2"
    assert [name for name, _ in run.made()] == ["charge 1", "charge 2"]
