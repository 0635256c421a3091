"""Runs that sleep, seen by stock clients of every door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import ConflictError

from tests.conftest import APPS
from tests.contract.stock import stock
from tests.crash.gates import Gates
from tests.logs import query
from tests.servers import Databases, Server
from tests.waiting import HOUR, pass_time, until_asleep

HELLO = {"messages": [{"role": "user", "content": "hello"}]}
UNKNOWN = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(scope="module")
def served(databases: Databases, template: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("waits")
    gates = Gates(folder)
    gates.open("hear")
    running = Server(
        APPS / "crash" / "langgraph.json",
        database_url=databases.create(template),
        env=gates.env,
        log=folder / "log",
    )
    yield running.start()
    running.close()


@pytest.fixture
async def client(served: Server) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=served.url) as client:
        yield client


@pytest.fixture
async def thread_id(client: LangGraphClient) -> str:
    return str((await client.threads.create())["thread_id"])


async def asleep(served: Server, run_id: str) -> None:
    await asyncio.to_thread(until_asleep, served.database_url, run_id)


def said(values: Any) -> list[str]:
    return [m["content"] for m in values["messages"] if m["type"] == "ai"]


async def test_wait_waits_and_everything_else_shows_a_thread_at_work(
    served: Server, client: LangGraphClient, thread_id: str
) -> None:
    waiting = asyncio.create_task(client.runs.wait(thread_id, "napping", input=HELLO))
    run_id = await run_of(client, thread_id)
    await asleep(served, run_id)
    thread, state = await client.threads.get(thread_id), await client.threads.get_state(thread_id)
    assert (thread["status"], thread["interrupts"]) == ("busy", {})
    assert said(thread["values"]) == said(state["values"]) == ["Waiting."]
    assert (state["next"], state["interrupts"]) == (["nap"], [])
    assert [task["interrupts"] for task in state["tasks"]] == [[]]
    assert "langgraph_durable.wait" not in str(await client.threads.get_history(thread_id))
    assert (await client.runs.get(thread_id, run_id))["status"] == "pending"
    with pytest.raises(ConflictError):
        await client.threads.update_state(thread_id, {"messages": []})
    with pytest.raises(ConflictError):
        await client.runs.create(thread_id, "napping", multitask_strategy="reject")
    pass_time(served.database_url, HOUR, thread_id)
    assert said(await waiting) == ["Waiting.", "Slept.", "Done."]


async def run_of(client: LangGraphClient, thread_id: str) -> str:
    for _ in range(500):
        if found := await client.runs.list(thread_id):
            return str(found[0]["run_id"])
        await asyncio.sleep(0.01)
    raise AssertionError("there is no run")


@pytest.mark.parametrize("action", ["interrupt", "rollback"])
async def test_a_cancelled_sleeper_has_ended_when_the_cancel_is_answered(
    served: Server, client: LangGraphClient, thread_id: str, action: Any
) -> None:
    run = await client.runs.create(thread_id, "napping", input=HELLO)
    await asleep(served, run["run_id"])
    await client.runs.cancel(thread_id, run["run_id"], action=action)
    thread = await client.threads.get(thread_id)
    assert thread["status"] == ("interrupted" if action == "interrupt" else "idle")
    state: Any = await client.threads.get_state(thread_id)
    left = ["Waiting."] if action == "interrupt" else []
    assert said(state["values"] or {"messages": []}) == left


async def test_a_person_answers_a_run_that_sleeps(
    served: Server, client: LangGraphClient, thread_id: str
) -> None:
    run = await client.runs.create(thread_id, "asking", input=HELLO)
    parts: list[Any] = []

    async def follow() -> None:
        async with aclosing(
            client.runs.join_stream(
                thread_id, run["run_id"], stream_mode="updates", last_event_id="-1"
            )
        ) as stream:
            parts.extend([part async for part in stream])

    following = asyncio.create_task(follow())
    await asleep(served, run["run_id"])
    thread = await client.threads.get(thread_id)
    [[question]] = thread["interrupts"].values()
    assert question["value"] == "ok?"
    resumed = await client.runs.create(thread_id, "asking", command={"resume": "yes"})
    await following
    assert [p.data["__interrupt__"][0]["value"] for p in parts if p.event == "updates"] == ["ok?"]
    assert parts[-1].event == "end"
    assert (await client.runs.get(thread_id, run["run_id"]))["status"] == "success"
    await asleep(served, resumed["run_id"])
    pass_time(served.database_url, HOUR, thread_id)
    values = await client.runs.join(thread_id, resumed["run_id"])
    assert said(values) == ["Answered yes.", "Slept.", "Done."]


async def test_a_click_that_nobody_asked_for_ends_at_once_at_every_door(
    served: Server, client: LangGraphClient, thread_id: str
) -> None:
    sleeping = await client.runs.create(thread_id, "napping", input=HELLO)
    await asleep(served, sleeping["run_id"])
    click = await client.runs.create(thread_id, "napping", command={"resume": "yes"})
    async with asyncio.timeout(5):
        joined: Any = await client.runs.join(thread_id, click["run_id"])
        stream = client.runs.join_stream(thread_id, click["run_id"], last_event_id="-1")
        names = [part.event async for part in stream]
    assert said(joined) == ["Waiting."]
    assert names == ["metadata", "end"]
    assert (await client.runs.get(thread_id, click["run_id"]))["status"] == "success"
    assert (await client.runs.get(thread_id, sleeping["run_id"]))["status"] == "pending"
    assert (await client.threads.get(thread_id))["status"] == "busy"
    async with httpx.AsyncClient(base_url=served.url) as http:
        told = (await http.get(f"/v1/responses/resp_{click['run_id'].replace('-', '')}")).json()
    assert (told["status"], told["error"]) == ("completed", None)


async def test_an_approval_is_asked_for_and_given_while_a_response_sleeps(served: Server) -> None:
    async with stock(served) as client:
        asking = await client.responses.create(model="asking", input="hello", background=True)
        await asleep(served, asking.id.removeprefix("resp_"))
        polled = await client.responses.retrieve(asking.id)
        assert polled.status == "in_progress"
        [request] = polled.output
        assert request.type == "mcp_approval_request"
        stream = await client.responses.retrieve(asking.id, stream=True)
        async for event in stream:
            if event.type == "response.output_item.done":
                assert event.item.to_dict() == request.to_dict()
                break
        await stream.close()
        answer: Any = {
            "type": "mcp_approval_response",
            "approval_request_id": request.id,
            "approve": True,
        }
        resumed = await client.responses.create(
            model="asking", previous_response_id=asking.id, input=[answer], background=True
        )
        await asleep(served, resumed.id.removeprefix("resp_"))
        asked = await client.responses.retrieve(asking.id)
        assert (asked.status, [item.to_dict() for item in asked.output]) == (
            "completed",
            [request.to_dict()],
        )
        pass_time(served.database_url, HOUR)
        async for _ in await client.responses.retrieve(resumed.id, stream=True):
            pass
        last = await client.responses.retrieve(resumed.id)
        assert last.status == "completed"
        assert last.output_text.endswith("Slept.Done.")


async def test_a_cancelled_response_sleeps_no_more(served: Server) -> None:
    async with stock(served) as client:
        response = await client.responses.create(model="napping", input="hello", background=True)
        await asleep(served, response.id.removeprefix("resp_"))
        cancelled = await client.responses.cancel(response.id)
        assert cancelled.status == "cancelled"


async def test_a_signal_may_be_any_json_or_nothing(
    served: Server, client: LangGraphClient, thread_id: str
) -> None:
    async with httpx.AsyncClient(base_url=served.url) as http:
        path = f"/threads/{thread_id}/signals/"
        for body in (b"", b"null", b'"text"', b"[1,2]", b'{"a":1}', b"1.5", b"false"):
            assert (await http.post(f"{path}many", content=body)).json()["new"]
        assert (await http.post(f"{path}go%2Fon", content=b"1")).status_code == 404
        named = await http.post(f"{path}Grüße 1", content=b"1")
        assert named.json() == {"thread_id": thread_id, "name": "Grüße 1", "new": True}
        assert (await http.post(f"{path}go", content=b"{")).status_code == 422
        assert (await http.post(f"{path}go?id=", content=b"1")).status_code == 422
        assert (await http.post(f"{path}{'n' * 256}", content=b"1")).status_code == 422
        unknown = await http.post(f"/threads/{UNKNOWN}/signals/go")
        assert (unknown.status_code, list(unknown.json())) == (404, ["detail"])
    values = query(
        served.database_url,
        "SELECT value FROM signals WHERE thread_id = %s AND name = 'many' ORDER BY position",
        (thread_id,),
    )
    assert [each["value"] for each in values] == [
        *("null", "null", '"text"', "[1,2]", '{"a":1}', "1.5", "false")
    ]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/responses/resp_{UNKNOWN}/signals/go", 404),
        (f"/v1/responses/resp_{UNKNOWN}/signals/go", 404),
        ("/invocations/nobody/signals/go", 404),
    ],
)
async def test_a_signal_to_nobody_is_told_so(served: Server, path: str, status: int) -> None:
    async with httpx.AsyncClient(base_url=served.url) as http:
        answer = await http.post(path, json=1)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
