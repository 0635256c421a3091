"""The commands of the agent streaming protocol, on the wire."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from langchain_protocol import protocol
from langgraph_sdk.client import LangGraphClient
from pydantic import TypeAdapter

from tests.contract.protocol import command, data_of, start, until


async def test_a_run_starts_on_a_thread_that_it_creates(http: httpx.AsyncClient) -> None:
    told = await command(
        http,
        "made-by-a-command",
        "run.start",
        assistant_id="echo",
        input={"x": 1},
        metadata={"from": "here"},
    )
    TypeAdapter(protocol.CommandResponse).validate_python(told, strict=True)
    events = await until(http, "made-by-a-command", since=told["meta"]["applied_through_seq"])
    assert data_of(events, "values")[-1] == {"x": 1, "y": 1}
    [run] = (await http.get("/threads/made-by-a-command/runs")).json()
    assert run["metadata"]["from"] == "here"


async def test_a_run_forks_from_the_checkpoint_that_it_names(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    await start(http, thread_id, "subgraph", {"x": 1})
    points = data_of(await until(http, thread_id, namespaces=[[]], depth=0), "checkpoints")
    [behind_p1] = [each["id"] for each in points if each["step"] == 1]
    forked = await command(
        http,
        thread_id,
        "run.start",
        assistant_id="subgraph",
        config={"configurable": {"checkpoint_id": behind_p1}},
    )
    for told in (forked, await command(http, thread_id, "state.fork", checkpoint_id=behind_p1)):
        events = await until(http, thread_id, since=told["meta"]["applied_through_seq"])
        nodes = [d["node"] for d in data_of(events, "updates")]
        assert (nodes, data_of(events, "values")[-1]) == (["c1", "c2", "child", "p2"], {"x": 29})
    assert told["result"]["thread_id"] == thread_id


async def test_state_and_checkpoints_can_be_read(http: httpx.AsyncClient, thread_id: str) -> None:
    await start(http, thread_id, "approval", {"request": "pay"})
    await until(http, thread_id)
    told = await command(http, thread_id, "state.get", namespace=[])
    TypeAdapter(protocol.StateGetResult).validate_python(told["result"], strict=True)
    assert told["result"]["values"] == {"request": "pay", "log": ["prepared"]}
    few = await command(http, thread_id, "state.get", namespace=[], keys=["log", "other"])
    assert few["result"]["values"] == {"log": ["prepared"]}
    listed = (await command(http, thread_id, "state.listCheckpoints"))["result"]
    TypeAdapter(protocol.ListCheckpointsResult).validate_python(listed, strict=True)
    assert [each["step"] for each in listed["checkpoints"]] == [1, 0, -1]
    assert listed["checkpoints"][0]["id"] == told["result"]["checkpoint"]["id"]
    newest = listed["checkpoints"][0]["id"]
    older = await command(http, thread_id, "state.listCheckpoints", limit=1, before=newest)
    assert [each["step"] for each in older["result"]["checkpoints"]] == [0]


NO_POINT = "1f000000-0000-6000-8000-000000000000"
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "an unknown command": ("run.dance", {}, "unknown_command"),
    "a subscription": ("subscription.subscribe", {"channels": ["values"]}, "not_supported"),
    "a message in mid-run": ("input.inject", {"namespace": []}, "not_supported"),
    "the tree": ("agent.getTree", {}, "not_supported"),
    "an unknown assistant": ("run.start", {"assistant_id": "nobody"}, "invalid_argument"),
    "no assistant": ("run.start", {"input": {}}, "invalid_argument"),
    "a wrong configuration": (
        "run.start",
        {"assistant_id": "echo", "config": 1},
        "invalid_argument",
    ),
    "a wrong strategy": (
        "run.start",
        {"assistant_id": "echo", "multitask_strategy": "dance"},
        "invalid_argument",
    ),
    "a checkpoint that is not there": (
        "run.start",
        {"assistant_id": "echo", "config": {"configurable": {"checkpoint_id": NO_POINT}}},
        "no_such_checkpoint",
    ),
    "a fork from nowhere": ("state.fork", {"checkpoint_id": NO_POINT}, "no_such_checkpoint"),
    "a fork from nothing": ("state.fork", {}, "invalid_argument"),
    "no answer": ("input.respond", {}, "invalid_argument"),
    "answers that are none": ("input.respond", {"responses": [1]}, "invalid_argument"),
    "keys that are none": ("state.get", {"keys": [1]}, "invalid_argument"),
    "too few checkpoints": ("state.listCheckpoints", {"limit": 0}, "invalid_argument"),
}


@pytest.mark.parametrize("kind", REFUSED)
async def test_a_command_that_cannot_be_carried_out_is_answered(
    http: httpx.AsyncClient, client: LangGraphClient, thread_id: str, kind: str
) -> None:
    await client.runs.wait(thread_id, "echo", input={"x": 1})
    method, params, code = REFUSED[kind]
    told = await command(http, thread_id, method, **params)
    TypeAdapter(protocol.ErrorResponse).validate_python(told, strict=True)
    assert told["error"] == code
    assert told["message"]
    assert len(await client.runs.list(thread_id)) == 1


async def test_a_fork_of_a_thread_that_never_ran_is_refused(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    told = await command(http, thread_id, "state.fork", checkpoint_id=NO_POINT)
    assert (told["type"], told["error"]) == ("error", "no_such_run")
