"""Proofs for crons. Due dates are moved in the database, not waited for."""

from __future__ import annotations

import uuid
import warnings
from datetime import UTC, datetime
from typing import Any

import orjson

from tests.contract.drift.proving import World, proves
from tests.graphs import eventually
from tests.logs import query

MAKE, OF_THREAD = "POST /runs/crons", "POST /threads/{thread_id}/runs/crons"
CHANGE, SEARCH, COUNT = (
    "PATCH /runs/crons/{cron_id}",
    "POST /runs/crons/search",
    "POST /runs/crons/count",
)
NEVER, OTHER = "0 0 1 1 *", "0 6 1 1 *"
LATER = datetime(2035, 1, 1, tzinfo=UTC)
OF_THE_RUN: dict[str, Any] = {
    "input": {"request": "x"},
    "interrupt_before": ["ask"],
    "interrupt_after": ["finish"],
    "stream_mode": ["updates"],
    "stream_subgraphs": True,
    "durability": "exit",
}
BODY = [f"body.{key}" for key in OF_THE_RUN]


async def made(world: World, thread_id: str | None = None, **asked: Any) -> dict[str, Any]:
    crons: Any = world.client.crons
    asked = {"schedule": NEVER, "input": {"request": "x"}, **asked}
    if thread_id is None:
        return dict(await crons.create("approval", **asked))
    return dict(await crons.create_for_thread(thread_id, "approval", **asked))


async def fired(world: World, cron_id: str) -> dict[str, Any]:
    """The run of a cron that is made due."""
    due = "UPDATE crons SET next_run_date = now() - interval '1 s' WHERE cron_id = %s"
    query(world.database_url, due, (cron_id,))
    ended = (
        "SELECT * FROM runs WHERE metadata->>'cron_id' = %s AND status = 'success'"
        " ORDER BY created_at DESC"
    )
    await eventually(lambda: bool(query(world.database_url, ended, (cron_id,))), "a run ended")
    row = query(world.database_url, ended, (cron_id,))[0]
    return {**row, "request": orjson.loads(row["request"])}


def shows(run: dict[str, Any], hook: str, **more: Any) -> None:
    """The run was made as the cron asked."""
    expected = {**OF_THE_RUN, "stream_modes": ["updates"], "webhook": hook, **more}
    del expected["stream_mode"]
    assert {key: run["request"].get(key) for key in expected} == expected


async def a_cron_makes_runs_as_it_was_asked(world: World, thread_id: str | None) -> None:
    given = {**OF_THE_RUN, "webhook": world.hook.url, "metadata": {"m": 1}}
    cron = await made(world, thread_id, context={"k": 1}, multitask_strategy="reject", **given)
    run = await fired(world, cron["cron_id"])
    shows(run, world.hook.url)
    assert (run["metadata"]["m"], run["multitask"]) == (1, "reject")
    assert run["request"]["context"] == {"k": 1}
    assert world.hook.heard(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        during = await made(world, thread_id, checkpoint_during=False, config={"tags": ["t"]})
    run = await fired(world, during["cron_id"])
    assert run["request"]["durability"] == "exit"
    assert run["request"]["config"]["tags"] == ["t"]
    for each in (cron, during):
        await world.client.crons.delete(each["cron_id"])


@proves(MAKE, "body.assistant_id", *BODY, "body.webhook", "body.metadata", "body.context")
@proves(MAKE, "body.multitask_strategy", "body.checkpoint_during", "body.config")
async def a_cron_without_a_thread_makes_runs_as_it_was_asked(world: World) -> None:
    await a_cron_makes_runs_as_it_was_asked(world, None)


@proves(OF_THREAD, "body.assistant_id", *BODY, "body.webhook", "body.metadata", "body.context")
@proves(OF_THREAD, "body.multitask_strategy", "body.checkpoint_during", "body.config")
async def a_cron_of_a_thread_makes_runs_as_it_was_asked(world: World) -> None:
    await a_cron_makes_runs_as_it_was_asked(world, await world.thread())


@proves(MAKE, "body.schedule", "body.timezone", "body.end_time", "body.enabled")
@proves(OF_THREAD, "body.schedule", "body.timezone", "body.end_time", "body.enabled")
async def a_cron_has_the_dates_it_was_given(world: World) -> None:
    for thread_id in (None, await world.thread()):
        plain = await made(world, thread_id)
        there = await made(world, thread_id, timezone="Asia/Tokyo")
        assert datetime.fromisoformat(there["next_run_date"]).hour == 15
        assert datetime.fromisoformat(plain["next_run_date"]).hour == 0
        other = await made(world, thread_id, schedule=OTHER, end_time=LATER, enabled=False)
        assert datetime.fromisoformat(other["end_time"]) == LATER
        assert (other["enabled"], other["schedule"]) == (False, OTHER)
        for each in (plain, there, other):
            await world.client.crons.delete(each["cron_id"])


async def keeps_its_thread(world: World, cron_id: str) -> bool:
    run = await fired(world, cron_id)
    held = "SELECT temporary FROM threads WHERE thread_id = %s"
    return not query(world.database_url, held, (run["thread_id"],))[0]["temporary"]


@proves(MAKE, "body.on_run_completed")
@proves(CHANGE, "body.on_run_completed")
async def threads_of_a_cron_are_kept_if_asked(world: World) -> None:
    kept = await made(world, on_run_completed="keep")
    assert await keeps_its_thread(world, kept["cron_id"])
    turned = await made(world)
    await world.client.crons.update(turned["cron_id"], on_run_completed="keep")
    assert await keeps_its_thread(world, turned["cron_id"])
    for each in (kept, turned):
        await world.client.crons.delete(each["cron_id"])


@proves(CHANGE, *BODY, "body.webhook", "body.metadata", "body.context", "body.schedule")
@proves(CHANGE, "body.timezone", "body.end_time", "body.enabled", "body.config")
async def a_changed_cron_makes_other_runs(world: World) -> None:
    crons: Any = world.client.crons
    cron = await made(world)
    given = {**OF_THE_RUN, "webhook": world.hook.url, "metadata": {"m": 2}, "context": {"k": 2}}
    dates = {"schedule": OTHER, "timezone": "Asia/Tokyo", "end_time": LATER, "enabled": True}
    changed = await crons.update(cron["cron_id"], **given, **dates)
    assert (changed["schedule"], changed["timezone"]) == (OTHER, "Asia/Tokyo")
    assert datetime.fromisoformat(changed["end_time"]) == LATER
    run = await fired(world, cron["cron_id"])
    shows(run, world.hook.url, context={"k": 2})
    assert run["metadata"]["m"] == 2
    assert (await crons.update(cron["cron_id"], enabled=False))["enabled"] is False
    other = await made(world)
    told = await crons.update(other["cron_id"], config={"tags": ["t"]})
    assert told["payload"]["config"]["tags"] == ["t"]
    for each in (cron, other):
        await crons.delete(each["cron_id"])


@proves(COUNT, "body.assistant_id", "body.metadata", "body.thread_id")
@proves(SEARCH, "body.assistant_id", "body.metadata", "body.thread_id", "body.enabled")
@proves(SEARCH, "body.limit", "body.offset", "body.sort_by", "body.sort_order", "body.select")
async def crons_are_found_paged_and_selected(world: World) -> None:
    crons: Any = world.client.crons
    mark, thread_id = {"m": str(uuid.uuid4())}, await world.thread()
    first = await made(world, metadata=mark)
    second = await made(world, thread_id, metadata=mark, enabled=False)
    for asked, found in (
        ({}, [second, first]),
        ({"thread_id": thread_id}, [second]),
        ({"assistant_id": first["assistant_id"]}, [second, first]),
        ({"assistant_id": str(uuid.uuid4())}, []),
    ):
        ids = [each["cron_id"] for each in await crons.search(metadata=mark, **asked)]
        assert ids == [each["cron_id"] for each in found]
        assert await crons.count(metadata=mark, **asked) == len(found)
    assert len(await crons.search(metadata=mark, enabled=True)) == 1
    page = await crons.search(
        metadata=mark, sort_by="created_at", sort_order="asc", limit=1, offset=1, select=["cron_id"]
    )
    assert page == [{"cron_id": second["cron_id"]}]
    for each in (first, second):
        await crons.delete(each["cron_id"])
