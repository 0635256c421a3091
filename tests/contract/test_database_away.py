"""The database is gone for a while: every door says so in its own shape, and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import MakeServer
from tests.proxies import PostgresProxy
from tests.servers import Server, until

MESSAGE = "The database cannot be reached at the moment."
RUN = {"assistant_id": "echo", "input": {"x": 1}}
TURN = {"model": "chat", "input": "hi"}


@pytest.fixture
def proxy(database_url: str) -> Iterator[PostgresProxy]:
    made = PostgresProxy(database_url)
    yield made
    made.close()


@pytest.fixture
def server(proxy: PostgresProxy, make_server: MakeServer) -> Server:
    return make_server("basic", database_url=proxy.conninfo).start()


@pytest.fixture
async def client(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        yield client


def langgraph_requests(thread: str, run: str) -> list[tuple[str, str, Any]]:
    return [
        ("GET", "/ok?check_db=1", None),
        ("GET", "/metrics?format=json", None),
        ("POST", "/threads", {}),
        ("POST", "/threads/search", {}),
        ("GET", f"/threads/{thread}", None),
        ("PATCH", f"/threads/{thread}", {"metadata": {"a": 1}}),
        ("DELETE", f"/threads/{thread}", None),
        ("GET", f"/threads/{thread}/state", None),
        ("POST", f"/threads/{thread}/state", {"values": {"x": 2}}),
        ("POST", f"/threads/{thread}/history", {}),
        ("GET", f"/threads/{thread}/runs", None),
        ("PUT", "/store/items", {"namespace": ["a"], "key": "k", "value": {}}),
        ("GET", "/store/items?namespace=a&key=k", None),
        ("DELETE", "/store/items", {"namespace": ["a"], "key": "k"}),
        ("POST", "/store/items/search", {"namespace_prefix": ["a"]}),
        ("POST", "/store/namespaces", {}),
        *(("POST", f"/threads/{thread}/runs{tail}", RUN) for tail in ("", "/wait", "/stream")),
        *(("POST", f"/runs{tail}", RUN) for tail in ("", "/wait", "/stream")),
        *(("GET", f"/threads/{thread}/runs/{run}{tail}", None) for tail in ("", "/join")),
        ("GET", f"/threads/{thread}/runs/{run}/stream", None),
        ("POST", f"/threads/{thread}/runs/{run}/cancel", None),
        ("DELETE", f"/threads/{thread}/runs/{run}", None),
    ]


def responses_requests(response: str) -> list[tuple[str, str, Any]]:
    one = f"/v1/responses/{response}"
    return [
        ("POST", "/v1/responses", TURN),
        ("POST", "/v1/responses", {**TURN, "stream": True}),
        ("POST", "/v1/responses", {**TURN, "background": True}),
        ("POST", "/v1/responses", {**TURN, "previous_response_id": response}),
        ("GET", one, None),
        ("GET", f"{one}?stream=true", None),
        ("POST", f"{one}/cancel", None),
        ("DELETE", one, None),
    ]


def invocations_requests(name: str) -> list[tuple[str, str, Any]]:
    one, body = f"/invocations/{name}", {"graph": "echo", "input": {"x": 1}}
    return [
        ("POST", "/invocations", body),
        ("POST", "/invocations", {**body, "stream": True}),
        ("POST", "/invocations", {**body, "background": False}),
        ("POST", "/invocations", TURN),
        ("GET", one, None),
        ("GET", f"{one}/events", None),
        ("POST", f"{one}/cancel", None),
    ]


async def test_every_request_is_told_to_come_again_and_later_served(
    client: httpx.AsyncClient, proxy: PostgresProxy
) -> None:
    thread = (await client.post("/threads", json={})).json()["thread_id"]
    made = await client.post(f"/threads/{thread}/runs/wait", json=RUN)
    run = made.headers["location"].split("/")[-2]
    turn = await client.post("/v1/responses", json={**TURN, "background": True})
    response = turn.json()["id"]

    async def ask(door: list[tuple[str, str, Any]]) -> list[httpx.Response]:
        requests = (client.request(method, path, json=body) for method, path, body in door)
        return await asyncio.gather(*requests)

    proxy.leave()
    at_one, at_other = await asyncio.gather(
        ask(langgraph_requests(thread, run)),
        ask([*responses_requests(response), *invocations_requests(run)]),
    )

    for answer in [*at_one, *at_other]:
        assert answer.status_code == 503, f"{answer.request.method} {answer.url}: {answer.text}"
        assert int(answer.headers["retry-after"]) >= 1
    assert [answer.json() for answer in at_one] == [{"detail": MESSAGE}] * len(at_one)
    error = {
        "message": MESSAGE,
        "type": "server_error",
        "param": None,
        "code": "service_unavailable",
    }
    assert [answer.json() for answer in at_other] == [{"error": error}] * len(at_other)
    assert (await client.get("/ok")).status_code == 200
    assert "langgraph_durable_database_up 0\n" in (await client.get("/metrics")).text

    proxy.come_back()
    # At once, however long it was away: pauses between attempts that double would take seconds.
    assert (await client.get("/ok?check_db=1", timeout=4)).json() == {"ok": True}
    assert (await client.get(f"/threads/{thread}/state")).json()["values"] == {"x": 1, "y": 1}
    done = await client.post(f"/threads/{thread}/runs/wait", json={**RUN, "input": {"x": 3}})
    assert done.json() == {"x": 3, "y": 3}
    assert (await client.post("/v1/responses", json=TURN)).json()["status"] == "completed"


async def test_what_was_in_flight_is_served_when_the_database_is_back(
    client: httpx.AsyncClient, proxy: PostgresProxy
) -> None:
    """A stream and a wait that began before the outage."""
    slow = {"assistant_id": "slow", "input": {"delay": 0.3}}
    threads = [(await client.post("/threads", json={})).json()["thread_id"] for _ in range(2)]
    streamed = {**slow, "stream_mode": "updates"}
    path = f"/threads/{threads[0]}/runs/stream"
    async with client.stream("POST", path, json=streamed) as stream:
        waiting = asyncio.create_task(client.post(f"/threads/{threads[1]}/runs/wait", json=slow))
        lines = stream.aiter_lines()
        async for line in lines:
            if line.startswith("event: updates"):
                break
        proxy.leave()
        await asyncio.to_thread(until, lambda: proxy.refused > 5, "the server looks for it")
        proxy.come_back()
        rest = [line async for line in lines]
    assert rest[-4].startswith("event: end"), rest[-6:]
    assert sum(line.startswith("event: updates") for line in rest) == 4
    assert (await waiting).json()["steps"] == ["1", "2", "3", "4", "5"]
