"""Proofs for the bodies that make runs, at every door that does."""

from __future__ import annotations

import asyncio
import uuid
import warnings
from typing import Any

import httpx
import pytest
from langgraph_sdk.schema import Command

from tests.contract.drift.proving import (
    ATTENDED,
    DOORS,
    OF_THREADS,
    STREAMED,
    WITHOUT,
    Door,
    Made,
    World,
    at_doors,
)

NOT_BATCH = [door for door in DOORS if door.how != "batch"]
WITHOUT_NOT_BATCH = [door for door in WITHOUT if door.how != "batch"]
BATCH = [door for door in DOORS if door.how == "batch"]
UNKNOWN_ID = "0" * 32


async def row(world: World, made: Made) -> dict[str, Any]:
    found: Any = await world.client.runs.get(made.thread_id, made.run_id)
    return dict(found)


async def replayed(world: World, made: Made) -> list[str]:
    """The names of all events of a run."""
    stream = world.client.runs.join_stream(made.thread_id, made.run_id, last_event_id="-")
    return [part.event async for part in stream]


async def refused(world: World, door: Door, status: int, **asked: Any) -> None:
    with pytest.raises(httpx.HTTPStatusError) as told:
        await door(world, **asked)
    assert told.value.response.status_code == status


@at_doors("assistant_id", "input")
async def the_named_graph_gets_the_input(world: World, door: Door) -> None:
    assert (await door(world, "echo", input={"x": 7})).values == {"x": 7, "y": 7}


@at_doors("metadata")
async def metadata_is_the_runs(world: World, door: Door) -> None:
    made = await door(world, input={"x": 1}, metadata={"m": 1})
    assert (await row(world, made))["metadata"]["m"] == 1


@at_doors("config")
async def config_reaches_a_factory(world: World, door: Door) -> None:
    made = await door(world, "needy", input={}, config={"configurable": {"user": "ada"}})
    assert made.values["value"] == "hello ada"


@at_doors("context")
async def context_reaches_the_nodes(world: World, door: Door) -> None:
    made = await door(world, "contextual", input={}, context={"secret": "12345"})
    assert made.values["value"] == "5 letters"


@at_doors("interrupt_before", "interrupt_after")
async def a_run_stops_before_and_after_nodes(world: World, door: Door) -> None:
    for asked, stands in (
        ({"interrupt_before": ["prepare"]}, "prepare"),
        ({"interrupt_after": ["prepare"]}, "ask"),
    ):
        made = await door(world, "approval", input={"request": "x"}, **asked)
        state = await world.client.threads.get_state(made.thread_id)
        assert state["next"] == [stands]


@at_doors("webhook")
async def a_webhook_is_called(world: World, door: Door) -> None:
    made = await door(world, input={"x": 1}, webhook=world.hook.url)
    calls = await asyncio.to_thread(world.hook.heard, 1)
    assert made.run_id in [call.said["run_id"] for call in calls]


@at_doors("stream_mode", doors=STREAMED)
async def only_what_was_asked_for_is_streamed(world: World, door: Door) -> None:
    made = await door(world, "tokens", input={"n": 2}, stream_mode="custom")
    assert await replayed(world, made) == ["metadata", "custom", "custom", "end"]


@at_doors("stream_subgraphs", doors=STREAMED)
async def subgraphs_are_shown_when_asked_for(world: World, door: Door) -> None:
    for asked in (True, False):
        made = await door(world, "subgraph", input={"x": 1}, stream_subgraphs=asked)
        assert any("|child" in name for name in await replayed(world, made)) is asked


@at_doors("durability", "checkpoint_during", doors=NOT_BATCH)
async def only_the_last_checkpoint_is_kept_when_asked_for(world: World, door: Door) -> None:
    asked: Any
    for asked in ({"durability": "exit"}, {"checkpoint_during": False}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            made = await door(world, "steps", input={"delay": 0}, **asked)
        assert len(await world.client.threads.get_history(made.thread_id)) == 1


@at_doors("after_seconds", doors=NOT_BATCH)
async def a_run_starts_later(world: World, door: Door) -> None:
    began = asyncio.get_running_loop().time()
    await door(world, input={"x": 1}, after_seconds=1)
    assert asyncio.get_running_loop().time() - began >= 1


@at_doors("command", "strict_resume", doors=OF_THREADS)
async def a_command_answers_and_may_be_strict(world: World, door: Door) -> None:
    thread_id = await world.thread()
    await world.client.runs.wait(thread_id, "hitl", input={"q": "?"})
    wrong = Command(resume={UNKNOWN_ID: "yes"})
    strict = await door(world, "hitl", thread_id=thread_id, command=wrong, strict_resume=True)
    assert strict.values["__error__"]["error"] == "UnknownInterruptError"
    loose = await door(world, "hitl", thread_id=thread_id, command=wrong)
    assert "__interrupt__" in loose.values
    right = await door(world, "hitl", thread_id=thread_id, command=Command(resume="yes"))
    assert right.values["a"] == "yes"


@at_doors("command", "strict_resume", doors=WITHOUT_NOT_BATCH)
async def there_is_nothing_to_answer_without_a_thread(world: World, door: Door) -> None:
    command = Command(resume="yes")
    await refused(world, door, 400, command=command, strict_resume=True)
    await refused(world, door, 422, input={}, strict_resume="maybe")


@at_doors("checkpoint", "checkpoint_id", doors=OF_THREADS)
async def a_run_starts_from_a_checkpoint(world: World, door: Door) -> None:
    thread_id = await world.thread()
    asked: Any
    for x in (1, 2):
        await world.client.runs.wait(thread_id, "echo", input={"x": x})
    first = (await world.client.threads.get_history(thread_id))[-1]["checkpoint"]["checkpoint_id"]
    for asked in ({"checkpoint": {"checkpoint_id": first}}, {"checkpoint_id": first}):
        await door(world, thread_id=thread_id, input={"x": 3}, **asked)
        *_, oldest = [
            state
            for state in await world.client.threads.get_history(thread_id, limit=3)
            if state["values"] != {"x": 2, "y": 2}
        ]
        assert oldest["parent_checkpoint"] is not None
        assert oldest["parent_checkpoint"]["checkpoint_id"] == first


@at_doors("checkpoint_id", doors=BATCH)
@at_doors("checkpoint", "checkpoint_id", doors=WITHOUT_NOT_BATCH)
async def a_new_thread_has_no_checkpoints(world: World, door: Door) -> None:
    nowhere = str(uuid.uuid4())
    asked: Any
    for asked in ({"checkpoint": {"checkpoint_id": nowhere}}, {"checkpoint_id": nowhere}):
        await refused(world, door, 404, input={"x": 1}, **asked)


@at_doors("multitask_strategy", doors=OF_THREADS)
async def a_busy_thread_rejects(world: World, door: Door) -> None:
    thread_id = await world.thread()
    busy = await world.client.runs.create(thread_id, "slow", input={"delay": 2})
    await refused(world, door, 409, thread_id=thread_id, multitask_strategy="reject")
    await world.client.runs.cancel(thread_id, busy["run_id"], wait=True)


@at_doors("multitask_strategy", doors=WITHOUT)
async def a_new_thread_is_never_busy(world: World, door: Door) -> None:
    made = await door(world, input={"x": 1}, multitask_strategy="reject")
    assert (await row(world, made))["multitask_strategy"] == "reject"
    await refused(world, door, 422, input={"x": 1}, multitask_strategy="zzz")


@at_doors("if_not_exists", doors=OF_THREADS)
async def a_missing_thread_is_made_only_if_asked(world: World, door: Door) -> None:
    thread_id = str(uuid.uuid4())
    await refused(world, door, 404, thread_id=thread_id, input={"x": 1})
    made = await door(world, thread_id=thread_id, input={"x": 1}, if_not_exists="create")
    assert made.thread_id == thread_id


@at_doors("if_not_exists", doors=WITHOUT_NOT_BATCH)
async def a_run_without_a_thread_always_makes_one(world: World, door: Door) -> None:
    made = await door(world, input={"x": 1}, if_not_exists="reject")
    assert made.values["y"] == 1
    await refused(world, door, 422, input={"x": 1}, if_not_exists="zzz")


@at_doors("on_completion", doors=WITHOUT_NOT_BATCH)
async def a_temporary_thread_goes_unless_it_is_kept(world: World, door: Door) -> None:
    for asked, shown in (("keep", 1), ("delete", 0)):
        made = await door(world, input={"x": 1}, on_completion=asked)
        assert len(await world.client.threads.search(ids=[made.thread_id])) == shown


@at_doors("on_completion", doors=OF_THREADS)
async def a_thread_of_the_clients_own_stays(world: World, door: Door) -> None:
    made = await door(world, input={"x": 1}, on_completion="delete")
    assert (await world.client.threads.get(made.thread_id))["status"] == "idle"


@at_doors("on_disconnect", doors=ATTENDED)
async def how_to_take_a_hang_up_is_checked(world: World, door: Door) -> None:
    """That it acts takes longer, and is shown by ``test_recorded_live`` and ``test_disconnect``."""
    assert (await door(world, input={"x": 1}, on_disconnect="cancel")).values["y"] == 1
    await refused(world, door, 422, input={"x": 1}, on_disconnect="zzz")


@at_doors("thread_id", doors=BATCH)
async def a_batch_is_without_threads(world: World, door: Door) -> None:
    await refused(world, door, 422, input={"x": 1}, thread_id=await world.thread())
