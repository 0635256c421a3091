"""Copying, pruning and building threads through the stock SDK."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import (
    BadRequestError,
    ConflictError,
    NotFoundError,
    UnprocessableEntityError,
)


async def new_thread(client: LangGraphClient, **more: Any) -> str:
    return str((await client.threads.create(**more))["thread_id"])


async def test_a_copy_has_state_and_history_and_goes_its_own_way(client: LangGraphClient) -> None:
    source = await new_thread(client, metadata={"team": "a"})
    for x in (1, 2):
        await client.runs.wait(source, "echo", input={"x": x})
    made: Any = await client.threads.copy(source)
    copy = made["thread_id"]
    assert made["metadata"]["team"] == "a"
    assert made["status"] == "idle"
    assert await client.runs.list(copy) == []
    histories = [await client.threads.get_history(t, limit=20) for t in (source, copy)]
    assert [h["values"] for h in histories[0]] == [h["values"] for h in histories[1]]
    assert {h["checkpoint"]["thread_id"] for h in histories[1]} == {copy}
    await client.runs.wait(copy, "echo", input={"x": 3})
    states = [await client.threads.get_state(t) for t in (source, copy)]
    assert [s["values"]["y"] for s in states] == [2, 3]


async def test_a_copy_of_a_waiting_thread_asks_the_same_question(client: LangGraphClient) -> None:
    source = await new_thread(client)
    await client.runs.wait(source, "hitl", input={"q": "ok?"})
    made: Any = await client.threads.copy(source)
    assert made["status"] == "interrupted"
    answered: Any = await client.runs.wait(made["thread_id"], "hitl", command={"resume": "yes"})
    assert answered["a"] == "yes"
    assert (await client.threads.get(source))["status"] == "interrupted"


async def test_a_copy_has_every_namespace_and_goes_on_in_each(client: LangGraphClient) -> None:
    source = await new_thread(client)
    await client.runs.wait(source, "nested", input={"q": "ok?"})
    made: Any = await client.threads.copy(source)
    copy = made["thread_id"]
    depths = [
        nested_states(await client.threads.get_state(t, subgraphs=True)) for t in (source, copy)
    ]
    assert [state["values"] for state in depths[1]] == [state["values"] for state in depths[0]]
    assert len(depths[1]) == 3
    assert {state["checkpoint"]["thread_id"] for state in depths[1]} == {copy}
    answered: Any = await client.runs.wait(copy, "nested", command={"resume": "yes"})
    assert answered["a"] == "yes!!"
    assert (await client.threads.get(source))["status"] == "interrupted"


def nested_states(state: Any) -> list[Any]:
    """A state, and those within it that wait, outermost first."""
    inner = [task["state"] for task in state["tasks"] if task["state"]]
    return [state, *(deeper for each in inner for deeper in nested_states(each))]


@pytest.mark.parametrize("form", ["id", "checkpoint", "config"])
async def test_history_goes_on_before_a_place_in_any_form(
    client: LangGraphClient, form: str
) -> None:
    thread_id = await new_thread(client)
    await client.runs.wait(thread_id, "echo", input={"x": 1})
    whole: Any = await client.threads.get_history(thread_id)
    place = whole[0]["checkpoint"]
    forms = {"id": place["checkpoint_id"], "checkpoint": place, "config": {"configurable": place}}
    rest: Any = await client.threads.get_history(thread_id, before=forms[form])
    assert rest == whole[1:]
    assert rest


@pytest.mark.parametrize("prefer", ["return=minimal", "Return=Minimal", "wait=1, return=minimal"])
async def test_a_change_is_not_shown_to_who_prefers_that(
    http: httpx.AsyncClient, client: LangGraphClient, prefer: str
) -> None:
    path = f"/threads/{await new_thread(client)}"
    changed = await http.patch(path, json={"metadata": {"a": 1}}, headers={"prefer": prefer})
    assert (changed.status_code, changed.content) == (204, b"")


async def test_columns_of_other_rows_and_what_no_thread_shows_are_refused(
    http: httpx.AsyncClient, client: LangGraphClient
) -> None:
    thread_id = await new_thread(client)
    await client.runs.wait(thread_id, "echo", input={"x": 1})
    found: Any = await client.threads.search(ids=[thread_id], select=["status", "context"])
    assert found == [{"status": "idle", "context": None}]
    [run] = await client.runs.list(thread_id, select=["status", "cancel_reason"])
    assert run == {"status": "success", "cancel_reason": None}
    for kind, wrong in (("threads", "cancel_reason"), ("assistants", "now"), ("runs/crons", "x")):
        refused = await http.post(f"/{kind}/search", json={"select": [wrong]})
        assert refused.status_code == 422
    for path in (f"/threads/{thread_id}?include=nope", f"/threads/{thread_id}/runs?select=now"):
        assert (await http.get(path)).status_code == 422


async def test_an_unknown_thread_cannot_be_copied(client: LangGraphClient) -> None:
    with pytest.raises(NotFoundError):
        await client.threads.copy("nobody")


async def test_prune_keeps_the_latest_or_deletes(client: LangGraphClient) -> None:
    thread = await new_thread(client)
    for x in (1, 2):
        await client.runs.wait(thread, "echo", input={"x": x})
    kept = await client.threads.prune([thread, "nobody"], strategy="keep_latest")
    assert kept == {"pruned_count": 1}
    history = await client.threads.get_history(thread, limit=20)
    assert [h["values"]["y"] for h in history] == [2]
    result: Any = await client.runs.wait(thread, "echo", input={"x": 3})
    assert result["y"] == 3
    assert await client.threads.prune([thread]) == {"pruned_count": 1}
    with pytest.raises(NotFoundError):
        await client.threads.get(thread)


async def test_a_busy_thread_is_not_pruned(client: LangGraphClient) -> None:
    thread = await new_thread(client)
    run = await client.runs.create(thread, "echo", input={"x": 1}, after_seconds=3600)
    for strategy in ("delete", "keep_latest"):
        with pytest.raises(ConflictError):
            await client.threads.prune([thread], strategy=strategy)
    await client.runs.cancel(thread, run["run_id"], wait=True)


async def test_a_thread_can_be_built_of_supersteps(client: LangGraphClient) -> None:
    """aegra#254: a new thread had lost its graph, and nothing could be written to its state."""
    steps: Any = [
        {"updates": [{"values": {"x": 5}, "as_node": "__start__"}]},
        {"updates": [{"values": {"y": 6}, "as_node": "echo"}]},
    ]
    made: Any = await client.threads.create(graph_id="echo", supersteps=steps)
    assert made["values"] == {"x": 5, "y": 6}
    assert made["status"] == "idle"
    state = await client.threads.get_state(made["thread_id"])
    assert state["values"] == {"x": 5, "y": 6}
    assert len(await client.threads.get_history(made["thread_id"])) == 2
    with pytest.raises(UnprocessableEntityError):
        await client.threads.create(supersteps=steps)
    bad: Any = [{"updates": [{"values": {"y": 6}, "as_node": "nope"}]}]
    with pytest.raises(BadRequestError):
        await client.threads.create(thread_id="never-made", graph_id="echo", supersteps=bad)
    with pytest.raises(NotFoundError):
        await client.threads.get("never-made")


async def test_a_thread_lives_as_long_as_it_was_given(client: LangGraphClient) -> None:
    plain = await new_thread(client)
    mortal = await new_thread(client, ttl=10)
    found: Any = await client.threads.get(mortal, include=["ttl"])
    assert (found["ttl"]["ttl_minutes"], found["ttl"]["strategy"]) == (10, "delete")
    assert found["ttl"]["expires_at"] is not None
    assert "ttl" not in await client.threads.get(plain, include=["ttl"])
    await client.threads.update(plain, metadata={}, ttl={"ttl": 5, "strategy": "keep_latest"})
    changed: Any = await client.threads.get(plain, include=["ttl"])
    assert changed["ttl"]["strategy"] == "keep_latest"
    with pytest.raises(UnprocessableEntityError):
        await client.threads.create(ttl=-1)
