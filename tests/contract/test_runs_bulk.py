"""Runs through the stock SDK: batches, cancelling many, multitask, rollback, delays."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import NotFoundError, UnprocessableEntityError

SLOW: dict[str, Any] = {"delay": 30}


async def running(client: LangGraphClient, thread_id: str) -> str:
    """A slow run that has begun."""
    run = await client.runs.create(thread_id, "slow", input=SLOW, stream_mode="updates")
    async for part in client.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"):
        if part.event == "metadata":
            break
    return str(run["run_id"])


async def test_a_batch_makes_all_runs_or_none(client: LangGraphClient) -> None:
    payloads: list[Any] = [{"assistant_id": "echo", "input": {"x": i}} for i in range(3)]
    made = await client.runs.create_batch(payloads)
    assert len({r["run_id"] for r in made}) == 3
    with pytest.raises(UnprocessableEntityError):
        await client.runs.create_batch([*payloads, {"assistant_id": "nope"}])


async def test_cancel_many_by_id_and_what_it_refuses(client: LangGraphClient) -> None:
    """langchain-ai/open-swe#1843: a thread with a status is refused, and never all of the runs."""
    thread = await client.threads.create()
    run_id = await running(client, thread["thread_id"])
    await client.runs.cancel_many(thread_id=thread["thread_id"], run_ids=[run_id])
    await client.runs.join(thread["thread_id"], run_id)
    found = await client.runs.get(thread["thread_id"], run_id)
    assert found["status"] == "interrupted"
    with pytest.raises(NotFoundError):
        await client.runs.cancel_many(thread_id=thread["thread_id"], run_ids=[run_id])
    with pytest.raises(UnprocessableEntityError):
        await client.runs.cancel_many()
    with pytest.raises(UnprocessableEntityError, match="either status"):
        await client.runs.cancel_many(thread_id=thread["thread_id"], status="running")
    with pytest.raises(UnprocessableEntityError):
        await client.runs.cancel_many(thread_id=thread["thread_id"], run_ids=[run_id], status="all")


async def test_a_rolled_back_run_is_gone_and_its_thread_idle(client: LangGraphClient) -> None:
    thread = await client.threads.create()
    run_id = await running(client, thread["thread_id"])
    await client.runs.cancel(thread["thread_id"], run_id, wait=True, action="rollback")
    with pytest.raises(NotFoundError):
        await client.runs.get(thread["thread_id"], run_id)
    assert await client.runs.list(thread["thread_id"]) == []
    assert (await client.threads.get(thread["thread_id"]))["status"] == "idle"
    state = await client.threads.get_state(thread["thread_id"])
    assert state["checkpoint"] is None


@pytest.mark.parametrize("strategy", ["interrupt", "rollback"])
async def test_a_newer_run_takes_the_thread_over(client: LangGraphClient, strategy: Any) -> None:
    thread = await client.threads.create()
    run_id = await running(client, thread["thread_id"])
    result = await asyncio.wait_for(
        client.runs.wait(thread["thread_id"], "echo", input={"x": 5}, multitask_strategy=strategy),
        15,
    )
    assert isinstance(result, dict)
    assert result["y"] == 5
    if strategy == "rollback":
        with pytest.raises(NotFoundError):
            await client.runs.get(thread["thread_id"], run_id)
    else:
        found = await client.runs.get(thread["thread_id"], run_id)
        assert found["status"] == "interrupted"


async def test_a_delayed_run_is_pending(client: LangGraphClient) -> None:
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "echo", input={"x": 1}, after_seconds=3600)
    assert run["status"] == "pending"
    assert (await client.threads.get(thread["thread_id"]))["status"] == "busy"
    await client.runs.cancel(thread["thread_id"], run["run_id"], wait=True)
    assert (await client.threads.get(thread["thread_id"]))["status"] == "idle"
