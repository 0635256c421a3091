"""Crons fire: once for each date, however many processes look. Dates are moved, not waited for."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import CronNotFound
from langgraph_durable.firing import Firing
from langgraph_durable.model import CronWish, RunRequest, RunStatus
from langgraph_durable.postgres import transaction
from tests.conftest import MakeEngine
from tests.graphs import chain, eventually, says
from tests.logs import query

NEVER = "0 0 1 1 *"


def wish(thread_id: str | None = None, **more: Any) -> CronWish:
    asked = {k: more.pop(k) for k in list(more) if k in RunRequest.__slots__}
    return CronWish(
        request=RunRequest(assistant="agent", thread_id=thread_id, **asked),
        **{"schedule": NEVER, **more},
    )


def make_due(url: str, cron_id: str, ago: str = "1 second") -> None:
    query(
        url,
        "UPDATE crons SET next_run_date = now() - %s::interval WHERE cron_id = %s",
        (ago, cron_id),
    )


def runs_of(url: str, cron_id: str) -> list[dict[str, Any]]:
    statement = "SELECT * FROM runs WHERE metadata->>'cron_id' = %s ORDER BY created_at"
    return query(url, statement, (cron_id,))


async def fired(url: str, cron_id: str, times: int = 1) -> list[dict[str, Any]]:
    await eventually(lambda: len(runs_of(url, cron_id)) >= times, f"{times} runs of the cron")
    return runs_of(url, cron_id)


async def look(engine: DurableEngine) -> int:
    """One look for due crons, as a working process takes every second."""
    firing = Firing(engine.project, engine.settings)
    async with transaction(engine._machinery.pool) as conn:
        return await firing.fire(conn)


@pytest.fixture
async def engine(make_engine: MakeEngine) -> Any:
    """Asks only: what fires is what a test lets fire."""
    return await make_engine(chain(a=says("a")), works=False)


async def test_a_due_cron_runs_on_its_thread_and_moves_on(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(a=says("a")))
    await engine.create_thread("t")
    cron = await engine.create_cron(wish("t", input={"said": ["go"]}))
    make_due(database_url, cron.cron_id)
    (row,) = await fired(database_url, cron.cron_id)
    run = await engine.wait(str(row["run_id"]))
    assert (run.status, run.thread_id) == (RunStatus.SUCCESS, "t")
    state = await engine.state("t")
    assert state is not None
    assert state.values["said"] == ["go", "a"]
    assert state.metadata["cron_id"] == cron.cron_id
    assert (await engine.cron(cron.cron_id)).next_run_date == cron.next_run_date


async def test_two_processes_that_look_at_once_fire_each_date_once(
    make_engine: MakeEngine, database_url: str
) -> None:
    one = await make_engine(chain(a=says("a")))
    two = await make_engine(chain(a=says("a")))
    await one.create_thread("t")
    crons = [await one.create_cron(wish(place)) for place in (None, "t", None, "t", None)]
    for cron in crons:
        make_due(database_url, cron.cron_id)
    await asyncio.gather(*(look(engine) for engine in (one, two, one, two)))
    for cron in crons:
        assert len(await fired(database_url, cron.cron_id)) == 1
    assert [await look(one), await look(two)] == [0, 0]


async def test_missed_dates_fire_once_after_a_restart(
    make_engine: MakeEngine, database_url: str
) -> None:
    first = await make_engine(chain(a=says("a")))
    cron = await first.create_cron(wish(schedule="* * * * *", enabled=False))
    await first.stop()
    query(database_url, "UPDATE crons SET enabled = true")
    make_due(database_url, cron.cron_id, ago="3 hours")
    second = await make_engine(chain(a=says("a")))
    assert len(await fired(database_url, cron.cron_id)) == 1
    following = (await second.cron(cron.cron_id)).next_run_date
    assert following is not None
    assert following > datetime.now(UTC)


async def test_a_crash_before_the_commit_has_fired_nothing_and_the_date_stays(
    engine: DurableEngine, database_url: str
) -> None:
    cron = await engine.create_cron(wish())
    make_due(database_url, cron.cron_id)
    firing = Firing(engine.project, engine.settings)

    async def crash() -> None:
        async with transaction(engine._machinery.pool) as conn:
            assert await firing.fire(conn) == 1
            raise RuntimeError("crash")

    with pytest.raises(RuntimeError):
        await crash()
    assert runs_of(database_url, cron.cron_id) == []
    assert await look(engine) == 1
    assert len(runs_of(database_url, cron.cron_id)) == 1


async def test_a_paused_cron_does_not_fire_and_forgets_what_it_missed(
    engine: DurableEngine, database_url: str
) -> None:
    cron = await engine.create_cron(wish(enabled=False))
    make_due(database_url, cron.cron_id)
    assert await look(engine) == 0
    woken = await engine.update_cron(cron.cron_id, lambda held: wish(enabled=True))
    assert woken.next_run_date == cron.next_run_date
    assert await look(engine) == 0


async def test_no_run_starts_behind_the_end(engine: DurableEngine, database_url: str) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    cron = await engine.create_cron(wish(schedule="* * * * *", end_time=soon))
    assert cron.next_run_date is not None
    make_due(database_url, cron.cron_id, ago="2 hours")
    query(database_url, "UPDATE crons SET end_time = now() - interval '1 hour'")
    assert await look(engine) == 1
    assert runs_of(database_url, cron.cron_id) == []
    assert (await engine.cron(cron.cron_id)).next_run_date is None
    again = await engine.update_cron(cron.cron_id, lambda held: wish(schedule="* * * * *"))
    assert again.next_run_date is not None


async def test_the_last_date_within_the_end_fires_and_then_none(
    engine: DurableEngine, database_url: str
) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    cron = await engine.create_cron(wish(end_time=soon))
    assert cron.next_run_date is None
    make_due(database_url, cron.cron_id)
    assert await look(engine) == 1
    assert len(runs_of(database_url, cron.cron_id)) == 1
    assert (await engine.cron(cron.cron_id)).next_run_date is None


async def test_a_cron_that_cannot_be_submitted_is_passed_over_and_holds_up_no_other(
    engine: DurableEngine, database_url: str
) -> None:
    await engine.create_thread("t")
    await engine.submit(RunRequest(assistant="agent", thread_id="t"))
    refused = await engine.create_cron(wish("t", multitask="reject"))
    other = await engine.create_cron(wish())
    make_due(database_url, refused.cron_id, ago="1 hour")
    make_due(database_url, other.cron_id)
    assert await look(engine) == 2
    assert runs_of(database_url, refused.cron_id) == []
    assert len(runs_of(database_url, other.cron_id)) == 1
    assert (await engine.cron(refused.cron_id)).next_run_date == refused.next_run_date


async def test_the_threads_of_stateless_runs_are_temporary_unless_they_are_to_be_kept(
    engine: DurableEngine, database_url: str
) -> None:
    dropped = await engine.create_cron(wish())
    kept = await engine.create_cron(wish(keep_thread=True))
    for cron in (dropped, kept):
        make_due(database_url, cron.cron_id)
    assert await look(engine) == 2
    temporary = {}
    for cron in (dropped, kept):
        (run,) = runs_of(database_url, cron.cron_id)
        temporary[cron.cron_id] = (await engine.thread(run["thread_id"])).temporary
    assert temporary == {dropped.cron_id: True, kept.cron_id: False}


async def test_a_process_leaves_the_crons_of_graphs_it_does_not_serve(
    make_engine: MakeEngine, engine: DurableEngine, database_url: str
) -> None:
    other = await make_engine({"other": chain(a=says("a"))}, works=False)
    cron = await engine.create_cron(wish())
    make_due(database_url, cron.cron_id)
    assert await look(other) == 0
    assert await look(engine) == 1


async def test_a_thread_in_other_hands_is_not_waited_for(
    engine: DurableEngine, database_url: str
) -> None:
    await engine.create_thread("t")
    cron = await engine.create_cron(wish("t"))
    make_due(database_url, cron.cron_id)
    async with transaction(engine._machinery.pool) as conn:
        await conn.execute("SELECT 1 FROM threads FOR NO KEY UPDATE")
        assert await look(engine) == 0
    assert await look(engine) == 1


async def test_a_thread_takes_its_crons_with_it(engine: DurableEngine) -> None:
    await engine.create_thread("t")
    cron = await engine.create_cron(wish("t"))
    await engine.delete_thread("t")
    with pytest.raises(CronNotFound):
        await engine.cron(cron.cron_id)


async def test_a_change_that_is_not_one_of_dates_keeps_the_next_one(
    engine: DurableEngine, database_url: str
) -> None:
    cron = await engine.create_cron(wish())
    make_due(database_url, cron.cron_id)
    due = (await engine.cron(cron.cron_id)).next_run_date
    changed = await engine.update_cron(cron.cron_id, lambda held: wish(input={"said": ["b"]}))
    assert changed.next_run_date == due
    moved = await engine.update_cron(cron.cron_id, lambda held: wish(schedule="0 0 2 1 *"))
    assert moved.next_run_date != due
