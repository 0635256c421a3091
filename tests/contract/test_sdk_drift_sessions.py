"""``threads.stream`` of the installed SDK, a session of commands: what it sends acts too."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient
from websockets.exceptions import InvalidStatus

TAKEN = {
    "": {"thread_id", "assistant_id", "headers", "run_start_timeout", "transport"},
    "run.start": {"input", "config", "metadata", "langsmith_tracing"},
    "run.respond": {"response", "interrupt_id"},
    "agent.get_tree": {"xray", "headers", "params"},
    "subscribe": {"channels", "namespaces", "depth"},
    "interleave_projections": {"channels"},
    "close": set[str](),
}
"""The methods of a session and their parameters; "" is ``threads.stream`` itself.

Each is shown to act below or in ``test_protocol_v3`` and ``test_protocol_turns``; but for
``run_start_timeout``, how long the client waits for itself, and ``langsmith_tracing``, which is
inert.
"""
START = {
    "input": {"x": 1},
    "config": {"configurable": {"user": "ada"}},
    "metadata": {"m": 1},
    "langsmith_tracing": {"project_name": "p"},
}
SENT = {"assistant_id", "input", "config", "metadata", "langsmith_tracer"}
"""The parameters of ``run.start`` on the wire."""


def of_session(session: Any, method: str) -> Callable[..., Any]:
    for step in method.split("."):
        session = getattr(session, step)
    found: Callable[..., Any] = session
    return found


def public(session: Any) -> set[str]:
    """The methods that a session offers: its own, and those of its parts ``run`` and ``agent``."""
    places = {"": session, "run.": session.run, "agent.": session.agent}
    return {
        f"{prefix}{name}"
        for prefix, place in places.items()
        for name, _ in inspect.getmembers(type(place), inspect.isfunction)
        if not name.startswith(("_", "observe_"))
    }


@pytest.mark.parametrize("make", [get_client, get_sync_client])
async def test_a_session_has_the_known_methods_and_parameters(make: Any) -> None:
    stream = make(url="http://x").threads.stream
    session = stream(thread_id="t-1", assistant_id="a-1")
    assert public(session) == TAKEN.keys() - {""}
    for method, known in TAKEN.items():
        call = of_session(session, method) if method else stream
        new = set(inspect.signature(call).parameters) - known
        assert not new, f"{method or 'threads.stream'} has new parameters without a proof: {new}"


async def test_a_command_carries_the_known_parameters() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if not request.url.path.endswith("/commands"):
            return httpx.Response(404, json={"detail": "no"})
        result = {"type": "success", "id": 1, "result": {"run_id": "r-1"}}
        return httpx.Response(200, json=result)

    transport = httpx.MockTransport(answer)
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
        stream = LangGraphClient(http).threads.stream
        async with stream("t-1", assistant_id="a-1", headers={"x-probe": "1"}) as session:
            await session.run.start(**START)
    [command] = [request for request in seen if request.url.path == "/threads/t-1/commands"]
    body = json.loads(command.content)
    assert (body["method"], set(body["params"])) == ("run.start", SENT)
    assert command.headers["x-probe"] == "1"


async def test_a_run_is_started_with_all_that_was_said(
    client: LangGraphClient, thread_id: str
) -> None:
    async with client.threads.stream(thread_id, assistant_id="needy") as session:
        started = await session.run.start(**START)
        assert (await session.output)["value"] == "hello ada"
    run: Any = await client.runs.get(thread_id, started["run_id"])
    assert (run["metadata"]["m"], run["kwargs"]["input"]) == (1, {"x": 1})


async def test_a_subscription_is_narrowed_to_namespaces_and_depths(
    client: LangGraphClient,
) -> None:
    for narrowed, inside in (
        ({"namespaces": [["child"]]}, True),
        ({"namespaces": [[]], "depth": 0}, False),
    ):
        async with client.threads.stream(assistant_id="subgraph") as session:
            await session.run.start(input={"x": 1})
            events = session.subscribe(["values"], **narrowed)
            async with asyncio.timeout(20):
                places = [(await anext(events))["params"]["namespace"] for _ in range(3)]
        assert [bool(place) for place in places] == [inside] * 3


async def test_xray_draws_the_inside_of_subgraphs(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="subgraph") as session:
        trees = [await session.agent.get_tree(xray=asked) for asked in (False, True)]
    shown = [{node["id"] for node in tree["nodes"]} for tree in trees]
    assert ["child:c1" in names for names in shown] == [False, True]


async def test_the_transport_by_websocket_is_refused(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="echo", transport="websocket") as session:
        await session.run.start(input={"x": 1})
        with pytest.raises(InvalidStatus):
            await session.output


def test_the_synchronous_client_starts_a_run_with_all_that_was_said(
    sync_client: SyncLangGraphClient,
) -> None:
    thread_id = sync_client.threads.create()["thread_id"]
    with sync_client.threads.stream(thread_id, assistant_id="needy") as session:
        started = session.run.start(**START)
        assert session.output["value"] == "hello ada"
    run: Any = sync_client.runs.get(thread_id, started["run_id"])
    assert run["metadata"]["m"] == 1
