"""Every endpoint of the LangGraph door once: what it answers when all is well."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.contract.matching import SOME, Exactly, Matches
from tests.contract.recordings.calls import delete, get, patch, post, put
from tests.contract.recordings.shapes import AGENT_ID, UUID
from tests.contract.replaying import Answer, check, play, send
from tests.protocol_adapter.test_openapi import app_of, routed

ELSEWHERE = ("/responses", "/conversations", "/models", "/invocations", "/agent/", "/v1/")
"""Where the other doors are."""
NEVER = "0 0 1 1 *"
ECHO = {"assistant_id": "echo", "input": {"x": 1}}
VALUES = {"x": 1, "y": 1}
DONE = [("metadata", dict), ("values", {"x": 1}), ("values", VALUES)]
ITEM = {"namespace": ["{unique}"], "key": "k"}
RUN = {"run_id": UUID, "kwargs": dict, "status": str}
CRON = {"cron_id": UUID, "schedule": str, "next_run_date": str}
STATE = {"values": VALUES, "next": [], "tasks": [], "checkpoint": dict}
LATER: dict[str, Any] = {"assistant_id": "echo", "input": {}, "after_seconds": 3600}
PREPARED = [
    post("/threads", {}, keep={"thread": "thread_id"}),
    post("/threads", {}, keep={"other": "thread_id"}),
    post("/threads/{thread}/runs/wait", ECHO),
    get("/threads/{thread}/runs", keep={"run": "0.run_id"}),
    get("/threads/{thread}/state", keep={"checkpoint": "checkpoint.checkpoint_id"}),
    post("/threads/{other}/runs", LATER, keep={"waiting": "run_id"}),
    post("/assistants", {"graph_id": "echo"}, keep={"assistant": "assistant_id"}),
    post("/runs/crons", {"assistant_id": "echo", "schedule": NEVER}, keep={"cron": "cron_id"}),
    put("/store/items", {**ITEM, "value": {"v": 1}}, status=204),
]
PAGE = {"x-pagination-total": str}
LISTED = {"location": SOME, "content-location": SOME}
FOLLOWED = {**LISTED, "content-type": Matches("text/event-stream.*")}

CALLS = {
    "GET /": get("/", shape={"ok": True}),
    "GET /ok": get("/ok?check_db=1", shape={"ok": True}),
    "GET /health": get("/health", shape=dict),
    "GET /info": get("/info", shape={"version": str, "flags": dict}),
    "GET /metrics": get("/metrics?format=json", shape={"queue": dict, "workers": dict}),
    "POST /assistants": post("/assistants", {"graph_id": "echo"}, shape={"version": 1}),
    "POST /assistants/count": post("/assistants/count", {"graph_id": "agent"}, shape=int),
    "POST /assistants/search": post("/assistants/search", {}, shape=list, headers=PAGE),
    "GET /assistants/{assistant_id}": get(
        f"/assistants/{AGENT_ID}", shape={"graph_id": "agent", "metadata": {"created_by": "system"}}
    ),
    "PATCH /assistants/{assistant_id}": patch(
        "/assistants/{assistant}", {"name": "n"}, shape={"name": "n", "version": 2}
    ),
    "DELETE /assistants/{assistant_id}": delete("/assistants/{assistant}", status=204),
    "GET /assistants/{assistant_id}/graph": get(
        "/assistants/echo/graph", shape={"nodes": list, "edges": list}
    ),
    "POST /assistants/{assistant_id}/latest": post(
        "/assistants/{assistant}/latest", {"version": 1}, shape={"version": 1}
    ),
    "GET /assistants/{assistant_id}/schemas": get(
        "/assistants/echo/schemas", shape={"graph_id": "echo", "input_schema": dict}
    ),
    "GET /assistants/{assistant_id}/subgraphs": get(
        "/assistants/subgraph/subgraphs", shape={"child": dict}
    ),
    "GET /assistants/{assistant_id}/subgraphs/{namespace}": get(
        "/assistants/subgraph/subgraphs/child", shape={"child": dict}
    ),
    "POST /assistants/{assistant_id}/versions": post(
        "/assistants/{assistant}/versions", {}, shape=[{"version": 1}]
    ),
    "POST /threads": post("/threads", {"metadata": {"m": 1}}, shape={"metadata": {"m": 1}}),
    "POST /threads/count": post("/threads/count", {"status": "idle"}, shape=int),
    "POST /threads/prune": post(
        "/threads/prune", {"thread_ids": ["{thread}"]}, shape={"pruned_count": 1}
    ),
    "POST /threads/search": post(
        "/threads/search", {"ids": ["{thread}"]}, shape=[{"values": VALUES}], headers=PAGE
    ),
    "GET /threads/{thread_id}": get("/threads/{thread}", shape={"values": VALUES}),
    "PATCH /threads/{thread_id}": patch(
        "/threads/{thread}", {"metadata": {"v": 2}}, shape={"metadata": {"v": 2}}
    ),
    "DELETE /threads/{thread_id}": delete("/threads/{thread}", status=204),
    "POST /threads/{thread_id}/commands": post(
        "/threads/{thread}/commands",
        {"id": 7, "method": "run.start", "params": {"assistant_id": "echo", "input": {"x": 1}}},
        shape={"type": "success", "id": 7, "result": {"run_id": UUID}},
    ),
    "POST /threads/{thread_id}/copy": post("/threads/{thread}/copy", shape={"status": "idle"}),
    "GET /threads/{thread_id}/history": get("/threads/{thread}/history?limit=1", shape=[STATE]),
    "POST /threads/{thread_id}/history": post(
        "/threads/{thread}/history", {"limit": 1}, shape=[STATE]
    ),
    "GET /threads/{thread_id}/runs": get("/threads/{thread}/runs", shape=[RUN]),
    "POST /threads/{thread_id}/runs": post(
        "/threads/{thread}/runs", ECHO, shape=RUN, headers={"content-location": SOME}
    ),
    "POST /threads/{thread_id}/runs/crons": post(
        "/threads/{thread}/runs/crons", {"assistant_id": "echo", "schedule": NEVER}, shape=CRON
    ),
    "POST /threads/{thread_id}/runs/stream": post(
        "/threads/{other}/runs/stream", ECHO, frames=DONE, headers=FOLLOWED
    ),
    "POST /threads/{thread_id}/runs/wait": post(
        "/threads/{thread}/runs/wait", ECHO, shape=VALUES, headers=LISTED
    ),
    "GET /threads/{thread_id}/runs/{run_id}": get("/threads/{thread}/runs/{run}", shape=RUN),
    "DELETE /threads/{thread_id}/runs/{run_id}": delete("/threads/{thread}/runs/{run}", status=204),
    "POST /threads/{thread_id}/runs/{run_id}/cancel": post(
        "/threads/{other}/runs/{waiting}/cancel", status=202
    ),
    "GET /threads/{thread_id}/runs/{run_id}/join": get(
        "/threads/{thread}/runs/{run}/join", shape=VALUES, headers=LISTED
    ),
    "GET /threads/{thread_id}/runs/{run_id}/stream": get(
        "/threads/{thread}/runs/{run}/stream",
        sent={"last-event-id": "-1"},
        frames=DONE,
        headers=FOLLOWED,
    ),
    "POST /threads/{thread_id}/signals/{name}": post(
        "/threads/{thread}/signals/paid?id=1",
        [None, 1],
        shape=Exactly({"thread_id": "{thread}", "name": "paid", "new": True}),
    ),
    "GET /threads/{thread_id}/state": get("/threads/{thread}/state", shape=STATE),
    "POST /threads/{thread_id}/state": post(
        "/threads/{thread}/state",
        {"values": {"x": 2}, "as_node": "echo"},
        shape={"checkpoint": {"thread_id": "{thread}", "checkpoint_id": str}},
    ),
    "POST /threads/{thread_id}/state/checkpoint": post(
        "/threads/{thread}/state/checkpoint", {"checkpoint": {}}, shape=STATE
    ),
    "GET /threads/{thread_id}/state/{checkpoint_id}": get(
        "/threads/{thread}/state/{checkpoint}", shape=STATE
    ),
    "POST /runs": post("/runs", ECHO, shape=RUN, headers={"content-location": SOME}),
    "POST /runs/batch": post("/runs/batch", [ECHO, ECHO], shape=[RUN, RUN]),
    "POST /runs/cancel": post(
        "/runs/cancel", {"thread_id": "{other}", "run_ids": ["{waiting}"]}, status=204
    ),
    "POST /runs/stream": post("/runs/stream", ECHO, frames=DONE, headers=FOLLOWED),
    "POST /runs/wait": post("/runs/wait", ECHO, shape=VALUES, headers=LISTED),
    "GET /runs/{run_id}": get("/runs/{run}", shape=RUN),
    "GET /runs/{run_id}/join": get("/runs/{run}/join", shape=VALUES, headers=LISTED),
    "GET /runs/{run_id}/stream": get(
        "/runs/{run}/stream", sent={"last-event-id": "-1"}, frames=DONE, headers=FOLLOWED
    ),
    "POST /runs/crons": post(
        "/runs/crons", {"assistant_id": "echo", "schedule": NEVER}, shape=CRON
    ),
    "POST /runs/crons/count": post("/runs/crons/count", {}, shape=int),
    "POST /runs/crons/search": post("/runs/crons/search", {}, shape=list, headers=PAGE),
    "GET /runs/crons/{cron_id}": get("/runs/crons/{cron}", shape=CRON),
    "PATCH /runs/crons/{cron_id}": patch(
        "/runs/crons/{cron}", {"enabled": False}, shape={**CRON, "enabled": False}
    ),
    "DELETE /runs/crons/{cron_id}": delete("/runs/crons/{cron}", status=204),
    "PUT /store/items": put("/store/items", {**ITEM, "value": {}}, status=204),
    "GET /store/items": get("/store/items?namespace={unique}&key=k", shape={"value": {"v": 1}}),
    "DELETE /store/items": delete("/store/items", body=ITEM, status=204),
    "POST /store/items/search": post(
        "/store/items/search",
        {"namespace_prefix": ["{unique}"]},
        shape={"items": [{"key": "k", "value": {"v": 1}}]},
    ),
    "POST /store/namespaces": post(
        "/store/namespaces", {"prefix": ["{unique}"]}, shape=Exactly({"namespaces": [["{unique}"]]})
    ),
}
ENDLESS = {
    "GET /threads/{thread_id}/stream": get("/threads/{thread}/stream", sent={"last-event-id": "-"}),
    "POST /threads/{thread_id}/stream/events": post(
        "/threads/{thread}/stream/events", {"channels": ["values", "lifecycle"]}
    ),
}
ENDPOINTS = {*CALLS, *ENDLESS}


@pytest.fixture
async def known(http: httpx.AsyncClient) -> AsyncIterator[dict[str, str]]:
    """Ids of things of every kind; the run that still waits is cancelled in the end."""
    kept = await play(http, PREPARED, "prepared")
    yield kept
    await send(http, post("/threads/{other}/runs/{waiting}/cancel"), kept)


@pytest.mark.parametrize("endpoint", CALLS)
async def test_an_endpoint_answers(
    http: httpx.AsyncClient, known: dict[str, str], endpoint: str
) -> None:
    call = CALLS[endpoint]
    check(await Answer.of(await send(http, call, known)), call, known, endpoint)
    assert endpoint.split()[0] == call.method


@pytest.mark.parametrize("endpoint", ENDLESS)
async def test_an_endless_stream_tells_what_a_thread_did(
    http: httpx.AsyncClient, known: dict[str, str], endpoint: str
) -> None:
    response = await send(http, ENDLESS[endpoint], known)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    async for line in response.aiter_lines():
        if line.startswith("data:") and ('"run_done"' in line or '"completed"' in line):
            break
    await response.aclose()


def test_every_route_of_the_door_is_one_of_these() -> None:
    served = {f"{method} {path}" for method, path in routed(app_of().routes)}
    ours = {each for each in served if not each.split()[1].startswith(ELSEWHERE)}
    assert ours == ENDPOINTS
