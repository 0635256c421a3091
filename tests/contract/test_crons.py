"""The stock Python clients and crons. Due dates are moved in the database, not waited for."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient
from langgraph_sdk.errors import BadRequestError, NotFoundError, UnprocessableEntityError

from tests.conftest import MakeServer
from tests.graphs import eventually
from tests.logs import query

NEVER = "0 0 1 1 *"


@pytest.fixture
def mark() -> dict[str, str]:
    """Metadata that no other test's crons have."""
    return {"mark": str(uuid.uuid4())}


def make_due(url: str, cron_id: str) -> None:
    statement = "UPDATE crons SET next_run_date = now() - interval '1 s' WHERE cron_id = %s"
    query(url, statement, (cron_id,))


def runs_of(url: str, cron_id: str) -> list[dict[str, Any]]:
    statement = "SELECT * FROM runs WHERE metadata->>'cron_id' = %s ORDER BY created_at"
    return query(url, statement, (cron_id,))


async def fired(url: str, cron_id: str) -> list[dict[str, Any]]:
    def done() -> bool:
        runs = runs_of(url, cron_id)
        return bool(runs) and all(run["status"] == "success" for run in runs)

    await eventually(done, "the cron's run has ended")
    return runs_of(url, cron_id)


async def test_a_cron_of_a_thread_runs_there(
    client: LangGraphClient, server: Any, mark: dict[str, str]
) -> None:
    thread = await client.threads.create()
    cron: Any = await client.crons.create_for_thread(
        thread["thread_id"], "steps", schedule=NEVER, input={"trail": []}, metadata=mark
    )
    assert (cron["thread_id"], cron["on_run_completed"]) == (thread["thread_id"], None)
    make_due(server.database_url, cron["cron_id"])
    assert len(await fired(server.database_url, cron["cron_id"])) == 1
    (run,) = await client.runs.list(thread["thread_id"])
    assert (run["status"], run["assistant_id"]) == ("success", cron["assistant_id"])
    metadata: Any = run["metadata"]
    assert (metadata["mark"], metadata["cron_id"]) == (mark["mark"], cron["cron_id"])
    assert (await client.crons.search(metadata=mark))[0]["next_run_date"] == cron["next_run_date"]
    await client.crons.delete(cron["cron_id"])


@pytest.mark.parametrize("kept", ["keep", "delete"])
async def test_a_stateless_cron_keeps_or_deletes_its_threads(
    client: LangGraphClient, server: Any, kept: Any
) -> None:
    cron: Any = await client.crons.create(
        "steps", schedule=NEVER, input={"trail": []}, on_run_completed=kept
    )
    assert (cron["thread_id"], cron["on_run_completed"]) == (None, kept)
    make_due(server.database_url, cron["cron_id"])
    (run,) = await fired(server.database_url, cron["cron_id"])
    statement = "SELECT temporary FROM threads WHERE thread_id = %s"
    rows = query(server.database_url, statement, (run["thread_id"],))
    assert [row["temporary"] for row in rows] == ([False] if kept == "keep" else [True])
    await client.crons.delete(cron["cron_id"])


def test_the_synchronous_client_makes_changes_finds_and_deletes(
    sync_client: SyncLangGraphClient, mark: dict[str, str]
) -> None:
    crons = sync_client.crons
    made: Any = crons.create("steps", schedule=NEVER, metadata=mark, input={"trail": []})
    changed = crons.update(made["cron_id"], schedule="30 6 * * 1", input={"note": "x"})
    assert (changed["schedule"], changed["metadata"]) == ("30 6 * * 1", mark)
    assert changed["payload"]["input"] == {"note": "x"}
    assert changed["next_run_date"] != made["next_run_date"]
    assert crons.search(metadata=mark) == [changed]
    assert crons.count(metadata=mark) == 1
    crons.delete(made["cron_id"])
    assert crons.count(metadata=mark) == 0
    with pytest.raises(NotFoundError):
        crons.delete(made["cron_id"])
    with pytest.raises(NotFoundError):
        crons.update(made["cron_id"], enabled=False)


async def test_a_search_is_filtered_sorted_paged_and_selected(
    client: LangGraphClient, mark: dict[str, str]
) -> None:
    thread = await client.threads.create()
    first: Any = await client.crons.create("steps", schedule="0 2 * * *", metadata=mark)
    second: Any = await client.crons.create_for_thread(
        thread["thread_id"], "echo", schedule="0 1 1 1 *", metadata=mark, enabled=False
    )
    names = {first["cron_id"]: "first", second["cron_id"]: "second"}

    async def found(**asked: Any) -> list[str]:
        return [names[c["cron_id"]] for c in await client.crons.search(metadata=mark, **asked)]

    assert await found() == ["second", "first"]
    assert await found(sort_by="created_at", sort_order="asc") == ["first", "second"]
    assert await found(limit=1, offset=1) == ["first"]
    assert await found(enabled=True) == ["first"]
    assert await found(assistant_id="echo") == ["second"]
    assert await found(assistant_id=second["assistant_id"]) == ["second"]
    assert await found(thread_id=thread["thread_id"]) == ["second"]
    assert await found(assistant_id="nosuch") == await found(thread_id="nosuch") == []
    assert await client.crons.count(metadata=mark, thread_id=thread["thread_id"]) == 1
    picked = await client.crons.search(metadata=mark, select=["schedule", "enabled"], limit=1)
    assert picked == [{"schedule": "0 1 1 1 *", "enabled": False}]
    for cron_id in names:
        await client.crons.delete(cron_id)


async def test_an_end_time_is_set_kept_and_cleared(client: LangGraphClient) -> None:
    end = datetime.now(UTC) + timedelta(minutes=90)
    cron: Any = await client.crons.create("steps", schedule="0 * * * *", end_time=end)
    assert datetime.fromisoformat(cron["end_time"]) == end
    kept: Any = await client.crons.update(cron["cron_id"], metadata={"a": 1})
    assert (kept["end_time"], kept["next_run_date"]) == (cron["end_time"], cron["next_run_date"])
    past = datetime.now(UTC) - timedelta(minutes=1)
    over: Any = await client.crons.update(cron["cron_id"], end_time=past)
    assert over["next_run_date"] is None
    cleared: Any = await client.crons.update(cron["cron_id"], end_time=None)
    assert (cleared["end_time"], cleared["next_run_date"]) == (None, cron["next_run_date"])
    await client.crons.delete(cron["cron_id"])


async def test_a_schedule_is_read_in_its_time_zone(client: LangGraphClient) -> None:
    zone = ZoneInfo("Asia/Tokyo")
    cron: Any = await client.crons.create("steps", schedule="0 9 * * *", timezone=zone)
    assert cron["timezone"] == "Asia/Tokyo"
    date = datetime.fromisoformat(cron["next_run_date"])
    assert (date.astimezone(zone).hour, date.astimezone(UTC).hour) == (9, 0)
    await client.crons.delete(cron["cron_id"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"schedule": "bad"},
        {"schedule": "* * * * * *"},
        {"schedule": ""},
        {"schedule": 5},
        {"timezone": "Mars/Olympus"},
        {"end_time": "soon"},
        {"end_time": 12},
        {"enabled": "yes"},
        {"on_run_completed": "burn"},
        {"multitask_strategy": "queue"},
        {"stream_mode": "smoke"},
        {"metadata": []},
        {"webhook": "/relative"},
    ],
    ids=str,
)
async def test_what_makes_no_sense_is_refused_when_the_cron_is_made(
    server: Any, wrong: dict[str, Any]
) -> None:
    body: dict[str, Any] = {"assistant_id": "steps", "schedule": NEVER, **wrong}
    async with httpx.AsyncClient(base_url=server.url) as http:
        response = await http.post("/runs/crons", json=body)
        assert response.status_code == 422, response.text


async def test_a_change_may_name_its_assistant_and_no_other(
    http: httpx.AsyncClient, client: LangGraphClient
) -> None:
    cron: Any = await client.crons.create("steps", schedule=NEVER)
    path = f"/runs/crons/{cron['cron_id']}"
    for own in ("steps", cron["assistant_id"], None):
        changed = await http.patch(path, json={"assistant_id": own, "multitask_strategy": "reject"})
        assert changed.json()["payload"]["multitask_strategy"] == "reject"
        assert changed.json()["assistant_id"] == cron["assistant_id"]
    refused = await http.patch(path, json={"assistant_id": "echo", "enabled": False})
    assert refused.status_code == 422
    found: Any = await client.crons.search(select=["cron_id", "enabled", "now"])
    [row] = [each for each in found if each["cron_id"] == cron["cron_id"]]
    assert row["enabled"]
    assert datetime.fromisoformat(row["now"]).tzinfo is not None
    await client.crons.delete(cron["cron_id"])


async def test_a_wrong_change_changes_nothing(client: LangGraphClient) -> None:
    cron: Any = await client.crons.create("steps", schedule=NEVER)
    with pytest.raises(UnprocessableEntityError):
        await client.crons.update(cron["cron_id"], schedule="bad", enabled=False)
    with pytest.raises(UnprocessableEntityError):
        await client.crons.update(cron["cron_id"], webhook="ftp://elsewhere.example")
    with pytest.raises(BadRequestError):
        await client.crons.update(
            cron["cron_id"], context={"a": 1}, config={"configurable": {"b": 2}}
        )
    assert cron in await client.crons.search(limit=1000)
    await client.crons.delete(cron["cron_id"])


async def test_two_servers_fire_once_and_again_after_a_kill(
    make_server: MakeServer, database_url: str
) -> None:
    servers = [make_server("basic", database_url=database_url).start() for _ in range(2)]
    async with get_client(url=servers[0].url) as client:
        made: list[Any] = [
            await client.crons.create("steps", schedule=NEVER, input={"trail": []})
            for _ in range(5)
        ]
    for cron in made:
        make_due(database_url, cron["cron_id"])
    assert [len(await fired(database_url, cron["cron_id"])) for cron in made] == [1] * 5
    for server in servers:
        server.kill()
    for cron in made:
        make_due(database_url, cron["cron_id"])
    servers[1].start()
    await eventually(
        lambda: all(len(runs_of(database_url, cron["cron_id"])) == 2 for cron in made),
        "the restarted server fires what was due meanwhile",
    )
    assert [len(await fired(database_url, cron["cron_id"])) for cron in made] == [2] * 5
