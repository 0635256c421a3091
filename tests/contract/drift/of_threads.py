"""Proofs for ``/threads``, their state, their history and the runs they have."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import httpx
import pytest
from langgraph_sdk.errors import ConflictError

from tests.contract.drift.proving import World, proves

MAKE, ONE, SEARCH = "POST /threads", "/threads/{thread_id}", "POST /threads/search"
STATES = (f"GET {ONE}/state", f"GET {ONE}/state/{{checkpoint_id}}", f"POST {ONE}/state/checkpoint")


async def ran(world: World, *xs: int, **asked: Any) -> str:
    """A thread with a run of ``echo`` for each value."""
    thread_id = await world.thread(**asked)
    for x in xs:
        await world.client.runs.wait(thread_id, "echo", input={"x": x})
    return thread_id


@proves(MAKE, "body.thread_id", "body.metadata", "body.if_exists")
async def a_thread_has_the_id_and_metadata_it_was_given(world: World) -> None:
    thread_id = str(uuid.uuid4())
    threads = world.client.threads
    made = await threads.create(thread_id=thread_id, metadata={"m": 1})
    assert (made["thread_id"], made["metadata"]) == (thread_id, {"m": 1})
    again = await threads.create(thread_id=thread_id, if_exists="do_nothing")
    assert again["metadata"] == {"m": 1}
    with pytest.raises(ConflictError):
        await threads.create(thread_id=thread_id)


@proves(MAKE, "body.supersteps")
async def a_thread_is_built_of_supersteps(world: World) -> None:
    steps = [{"updates": [{"values": {"x": 4}, "as_node": "echo"}]}]
    thread_id = await world.thread(graph_id="echo", supersteps=steps)
    assert (await world.client.threads.get_state(thread_id))["values"] == {"x": 4}


@proves(MAKE, "body.ttl")
@proves(f"GET {ONE}", "query.include")
@proves(f"PATCH {ONE}", "body.ttl", "body.metadata", "header.prefer")
async def a_life_time_is_kept_told_and_changed(world: World) -> None:
    threads: Any = world.client.threads
    thread_id = await world.thread(ttl=5)
    assert (await threads.get(thread_id, include=["ttl"]))["ttl"]["ttl_minutes"] == 5
    assert "ttl" not in await threads.get(thread_id)
    quiet = await threads.update(thread_id, metadata={"m": 1}, ttl=7, return_minimal=True)
    assert quiet is None
    found = await threads.get(thread_id, include=["ttl"])
    assert (found["metadata"], found["ttl"]["ttl_minutes"]) == ({"m": 1}, 7)


@proves("POST /threads/count", "body.metadata", "body.status", "body.values")
@proves(SEARCH, "body.metadata", "body.status", "body.values", "body.ids")
async def threads_are_found_by_what_they_hold(world: World) -> None:
    mark: Any = {"m": str(uuid.uuid4())}
    thread_id = await ran(world, 1, metadata=mark)
    asked: Any
    for asked, found in (
        ({}, 1),
        ({"status": "idle"}, 1),
        ({"status": "busy"}, 0),
        ({"values": {"y": 1}}, 1),
        ({"values": {"y": 2}}, 0),
    ):
        assert await world.client.threads.count(metadata=mark, **asked) == found
        assert len(await world.client.threads.search(metadata=mark, **asked)) == found
    [only] = await world.client.threads.search(ids=[thread_id])
    assert only["thread_id"] == thread_id


@proves(SEARCH, "body.limit", "body.offset", "body.sort_by", "body.sort_order", "body.select")
@proves(SEARCH, "body.extract")
async def a_page_of_threads_is_sorted_and_selected(world: World) -> None:
    mark: Any = {"m": str(uuid.uuid4())}
    made = [await ran(world, x, metadata=mark) for x in (1, 2, 3)]
    found: Any = await world.client.threads.search(
        metadata=mark,
        sort_by="created_at",
        sort_order="asc",
        limit=1,
        offset=1,
        select=["thread_id"],
        extract={"n": "values.y"},
    )
    assert found == [{"thread_id": made[1], "extracted": {"n": 2}}]


@proves("POST /threads/prune", "body.thread_ids", "body.strategy")
async def threads_are_pruned_or_deleted(world: World) -> None:
    thread_id = await ran(world, 1)
    await world.client.threads.prune([thread_id], strategy="keep_latest")
    assert len(await world.client.threads.get_history(thread_id)) == 1
    await world.client.threads.prune([thread_id])
    assert (await world.http.get(f"/threads/{thread_id}")).status_code == 404


@proves(STATES[0], "query.select", "query.subgraphs")
@proves(STATES[1], "query.select", "query.subgraphs")
@proves(STATES[2], "body.checkpoint", "body.select", "body.subgraphs")
async def a_state_is_selected_and_shows_its_subgraphs(world: World) -> None:
    threads: Any = world.client.threads
    thread_id = await world.thread()
    await world.client.runs.wait(thread_id, "nested", input={"q": "?"})
    checkpoint_id = (await threads.get_state(thread_id))["checkpoint"]["checkpoint_id"]
    ways: Any = (
        {},
        {"checkpoint_id": checkpoint_id},
        {"checkpoint": {"checkpoint_id": checkpoint_id}},
    )
    for way in ways:
        shown = await threads.get_state(thread_id, subgraphs=True, **way)
        assert shown["checkpoint"]["checkpoint_id"] == checkpoint_id
        assert shown["tasks"][0]["state"] is not None
        plain = await threads.get_state(thread_id, **way)
        assert plain["tasks"][0]["state"] is None
        assert await threads.get_state(thread_id, select=["next"], **way) == {"next": ["middle"]}


@proves(f"POST {ONE}/state", "body.values", "body.as_node", "body.checkpoint", "body.checkpoint_id")
async def a_state_is_changed_as_a_node_and_at_a_checkpoint(world: World) -> None:
    threads: Any = world.client.threads
    thread_id = await world.thread()
    await world.client.runs.wait(thread_id, "approval", input={"request": "x"})
    held = (await threads.get_state(thread_id))["checkpoint"]
    changes: Any = ({}, {"checkpoint": held}, {"checkpoint_id": held["checkpoint_id"]})
    for way in changes:
        await threads.update_state(thread_id, {"decision": "d"}, as_node="ask", **way)
        state = await threads.get_state(thread_id)
        assert (state["values"]["decision"], state["next"]) == ("d", ["finish"])
        if way:
            assert state["parent_checkpoint"]["checkpoint_id"] == held["checkpoint_id"]


@proves(f"POST {ONE}/history", "body.limit", "body.before", "body.metadata", "body.select")
@proves(f"POST {ONE}/history", "body.checkpoint")
async def a_history_is_cut_filtered_and_selected(world: World) -> None:
    threads: Any = world.client.threads
    thread_id = await ran(world, 1, 2)
    whole = await threads.get_history(thread_id)
    assert len(whole) == 6
    assert await threads.get_history(thread_id, limit=2) == whole[:2]
    before = whole[2]["checkpoint"]["checkpoint_id"]
    assert await threads.get_history(thread_id, before=before) == whole[3:]
    steps = await threads.get_history(thread_id, metadata={"source": "input"}, select=["metadata"])
    assert [list(each) for each in steps] == [["metadata"]] * 2
    nested = await world.thread()
    await world.client.runs.wait(nested, "subgraph", input={"x": 1})
    inside = await threads.get_history(nested, checkpoint={"checkpoint_ns": "child"})
    assert inside != await threads.get_history(nested)


@proves(f"GET {ONE}/stream", "header.last-event-id", "query.stream_mode")
async def a_threads_stream_begins_and_shows_as_asked(world: World) -> None:
    thread_id = await ran(world, 1)
    stream = await world.client.threads.join_stream(
        thread_id, stream_mode="lifecycle", last_event_id="-"
    )
    seen = []
    async for part in stream:
        seen.append(part.event)
        if part.data.get("status") == "run_done":
            break
    assert seen == ["metadata", "metadata"]


@proves(f"GET {ONE}/runs", "query.limit", "query.offset", "query.status", "query.select")
async def a_list_of_runs_is_paged_filtered_and_selected(world: World) -> None:
    thread_id = await ran(world, 1, 2)
    runs: Any = world.client.runs
    first = (await runs.list(thread_id))[1]
    page = await runs.list(thread_id, limit=1, offset=1, status="success", select=["run_id"])
    assert page == [{"run_id": first["run_id"]}]
    assert await runs.list(thread_id, status="error") == []


@proves(f"GET {ONE}/runs/{{run_id}}/stream", "header.last-event-id", "query.stream_mode")
@proves(f"GET {ONE}/runs/{{run_id}}/stream", "query.cancel_on_disconnect")
async def a_run_is_followed_from_a_place_in_a_mode(world: World) -> None:
    """That a hang-up cancels takes longer, and is shown by ``test_recorded_live``."""
    thread_id = await world.thread()
    run = await world.client.runs.create(
        thread_id, "tokens", input={"n": 1}, stream_mode=["custom", "updates"]
    )
    stream = world.client.runs.join_stream(
        thread_id, run["run_id"], last_event_id="0", stream_mode="custom"
    )
    assert [part.event async for part in stream] == ["custom", "end"]
    path = f"/threads/{thread_id}/runs/{run['run_id']}/stream"
    bad = await world.http.get(path, params={"cancel_on_disconnect": "maybe"})
    assert bad.status_code == 422


async def waiting(world: World) -> tuple[str, str]:
    thread_id = await world.thread()
    run = await world.client.runs.create(thread_id, "echo", input={}, after_seconds=3600)
    return thread_id, run["run_id"]


@proves(f"POST {ONE}/runs/{{run_id}}/cancel", "query.action", "query.wait")
async def a_cancel_keeps_or_undoes_and_waits(world: World) -> None:
    action: Any
    for action, status in (("interrupt", 200), ("rollback", 404)):
        thread_id, run_id = await waiting(world)
        await world.client.runs.cancel(thread_id, run_id, action=action, wait=True)
        path = f"/threads/{thread_id}/runs/{run_id}"
        assert (await world.http.get(path)).status_code == status
    thread_id, run_id = await waiting(world)
    path = f"/threads/{thread_id}/runs/{run_id}/cancel"
    assert (await world.http.post(path, params={"wait": "1"})).json() == {}


@proves("POST /runs/cancel", "body.run_ids", "body.thread_id", "body.status", "query.action")
async def many_are_cancelled_by_id_or_by_status(world: World) -> None:
    runs: Any = world.client.runs
    (thread_id, run_id), (other, kept) = await asyncio.gather(waiting(world), waiting(world))
    await runs.cancel_many(thread_id=thread_id, run_ids=[run_id], action="rollback")
    path = f"/threads/{thread_id}/runs/{run_id}"
    assert (await world.http.get(path)).status_code == 404
    assert (await runs.get(other, kept))["status"] == "pending"
    await runs.cancel_many(status="pending")
    assert (await runs.get(other, kept))["status"] == "interrupted"
    with pytest.raises(httpx.HTTPStatusError):
        await runs.cancel_many(status="running")
