"""The agent streaming protocol on the wire: what is told, and which bodies are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from langchain_protocol import protocol
from langgraph_sdk.client import LangGraphClient
from openai import AsyncOpenAI
from pydantic import TypeAdapter

from tests.contract.protocol import data_of, over, phase, start, until
from tests.contract.test_protocol_v3 import asks
from tests.logs import query
from tests.servers import Server

EVENT: TypeAdapter[Any] = TypeAdapter(protocol.Event)
DATA = {
    "lifecycle": TypeAdapter(protocol.LifecycleData),
    "messages": TypeAdapter(protocol.MessagesData),
    "tools": TypeAdapter(protocol.ToolsData),
    "updates": TypeAdapter(protocol.UpdatesData),
    "custom": TypeAdapter(protocol.CustomData),
    "checkpoints": TypeAdapter(protocol.Checkpoint),
}


async def test_behind_every_event_comes_exactly_the_rest(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    await start(http, thread_id, "toolbox", asks("sky"))
    whole = await until(http, thread_id)
    places = [event["seq"] for event in whole]
    assert places == sorted(set(places))
    assert len({event["event_id"] for event in whole}) == len(whole)
    for at, event in enumerate(whole[:-1]):
        assert await until(http, thread_id, since=event["seq"]) == whole[at + 1 :]


async def test_every_event_has_the_shape_of_the_protocol(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    await start(http, thread_id, "toolbox", asks("sky"))
    whole = await until(http, thread_id)
    for event in whole:
        EVENT.validate_python(event, strict=True)
        if event["method"] in DATA:
            DATA[event["method"]].validate_python(event["params"]["data"])
    assert {event["method"] for event in whole} >= DATA.keys()


async def test_events_and_their_ids_do_not_depend_on_the_subscription(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    await start(http, thread_id, "toolbox", asks("sky"))
    whole = await until(http, thread_id)
    few = await until(http, thread_id, channels=["messages", "lifecycle"])
    assert few == [event for event in whole if event["method"] in ("messages", "lifecycle")]
    root = await until(http, thread_id, namespaces=[[]], depth=0)
    assert root == [event for event in whole if not event["params"]["namespace"]]
    inside = {"channels": ["updates", "lifecycle"], "namespaces": [["tools"]], "depth": 0}
    told = await until(http, thread_id, lambda event: event["method"] == "updates", **inside)
    assert {len(event["params"]["namespace"]) for event in told} == {1}


async def test_a_late_subscriber_sees_a_finished_run_whole(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    await start(http, thread_id, "agent", asks("hello"))
    live = await until(http, thread_id)
    assert await until(http, thread_id) == live
    await start(http, thread_id, "agent", asks("again"))
    assert [phase(e) for e in await until(http, thread_id) if phase(e)] == ["running", "completed"]


async def test_a_cut_client_may_name_its_place_in_the_header(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    await start(http, thread_id, "echo", {"x": 1})
    whole = await until(http, thread_id)
    http.headers["last-event-id"] = str(whole[1]["seq"])
    assert await until(http, thread_id) == whole[2:]


def make_due(url: str, run_id: str) -> None:
    query(url, "UPDATE runs SET available_at = now() WHERE run_id = %s", (run_id,))
    query(url, "SELECT pg_notify('langgraph_durable', 'work')")


async def test_a_delayed_run_is_told_behind_the_younger_one_that_began_before_it(
    http: httpx.AsyncClient, client: LangGraphClient, thread_id: str, server: Server
) -> None:
    late = await client.runs.create(thread_id, "slow", input={"tag": "a"}, after_seconds=3600)
    given = {"tag": "b", "delay": 0.1}
    young = await start(http, thread_id, "slow", given)
    first = await until(http, thread_id)
    assert young in first[0]["event_id"]
    assert await until(http, thread_id) == first  # also for one who comes when it is over
    make_due(server.database_url, late["run_id"])
    for at, ends in (0, [young, late["run_id"]]), (-1, [late["run_id"]]):
        told = await until(
            http,
            thread_id,
            lambda event: over(event) and late["run_id"] in event["event_id"],
            since=first[at]["seq"],
        )
        seen = [event["event_id"].split(":")[1] for event in told if over(event)]
        assert seen == ends


async def test_a_run_of_the_ordinary_door_is_told_as_far_as_it_is_logged(
    http: httpx.AsyncClient, client: LangGraphClient, thread_id: str
) -> None:
    modes: Any = ["values", "messages-tuple"]
    await client.runs.create(thread_id, "chat", input=asks("hello"), stream_mode=modes)
    told = await until(http, thread_id)
    assert [phase(event) for event in told if phase(event)] == ["running", "completed"]
    said = data_of(told, "messages")
    assert (said[0]["event"], said[-1]["event"]) == ("message-start", "message-finish")
    assert data_of(told, "values")[-1]["messages"][-1]["content"] == "You said something."


async def test_a_run_of_the_responses_door_is_told(http: httpx.AsyncClient, server: Server) -> None:
    async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none") as openai:
        conversation = await openai.conversations.create()
        answer = await openai.responses.create(
            model="chat", input="hello", conversation=conversation.id
        )
    told = await until(http, conversation.id)
    assert answer.output_text == "You said something."
    assert [phase(event) for event in told if phase(event)] == ["running", "completed"]
    blocks = [d for d in data_of(told, "messages") if d["event"] == "content-block-finish"]
    assert blocks[-1]["content"] == {"type": "text", "text": "You said something."}


async def test_a_cancelled_run_is_interrupted(
    http: httpx.AsyncClient, client: LangGraphClient, thread_id: str
) -> None:
    run_id = await start(http, thread_id, "slow", {"delay": 30})
    await until(http, thread_id, lambda event: event["method"] == "custom")
    await client.runs.cancel(thread_id, run_id, wait=True)
    assert phase((await until(http, thread_id))[-1]) == "interrupted"


BAD: dict[str, tuple[str, Any, int]] = {
    "no id": ("commands", {"method": "run.start", "params": {}}, 422),
    "an id that is no number": ("commands", {"id": "1", "method": "run.start"}, 422),
    "an id that is a flag": ("commands", {"id": True, "method": "run.start"}, 422),
    "no method": ("commands", {"id": 1}, 422),
    "a list": ("commands", [], 422),
    "an unknown channel": ("stream/events", {"channels": ["values", "dance"]}, 400),
    "a custom channel without a name": ("stream/events", {"channels": ["custom:"]}, 400),
    "no channel": ("stream/events", {"channels": []}, 400),
    "channels that are none": ("stream/events", {"channels": "values"}, 422),
    "a place that is none": ("stream/events", {"channels": ["values"], "since": -1}, 422),
    "a depth that is none": ("stream/events", {"channels": ["values"], "depth": "1"}, 422),
    "namespaces that are none": ("stream/events", {"channels": ["values"], "namespaces": 1}, 422),
    "a namespace that is none": ("stream/events", {"channels": ["values"], "namespaces": [1]}, 422),
}


@pytest.mark.parametrize("kind", BAD)
async def test_a_body_that_makes_no_sense_is_refused_in_the_doors_words(
    http: httpx.AsyncClient, thread_id: str, kind: str
) -> None:
    path, body, status = BAD[kind]
    answer = await http.post(f"/threads/{thread_id}/{path}", json=body)
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"detail"}


async def test_a_thread_that_is_not_there_has_no_events(http: httpx.AsyncClient) -> None:
    answer = await http.post("/threads/nowhere/stream/events", json={"channels": ["values"]})
    assert (answer.status_code, answer.json().keys()) == (404, {"detail"})


async def test_the_stream_of_an_idle_thread_stays_open(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    await start(http, thread_id, "echo", {"x": 1})
    [*_, last] = await until(http, thread_id)
    waiting = asyncio.create_task(until(http, thread_id, since=last["seq"]))
    second = await start(http, thread_id, "echo", {"x": 2})
    assert second in (await waiting)[0]["event_id"]
