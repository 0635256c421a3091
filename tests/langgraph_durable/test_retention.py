"""What has ended goes when it was kept long enough; what runs or waits for a person stays."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState
from langgraph.types import interrupt

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import ProjectError, RunNotFound, StoreUnavailable, ThreadNotFound
from langgraph_durable.model import BEGINNING
from langgraph_durable.postgres import transaction
from langgraph_durable.project import Project, read_config
from langgraph_durable.retention_config import RetentionConfig
from langgraph_durable.settings import Settings
from protocol_adapter.app import create_app
from protocol_adapter.langgraph import protocol_events
from tests.contract.frames import read_frames
from tests.graphs import Gate, State, chain, eventually, run, says, submit, wired
from tests.logs import query
from tests.protocol_adapter.asgi import Conversation

DAYS = 30


async def asks(state: State) -> State:
    return {"said": [interrupt("well?")]}


async def replies(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage(f"You said {state['messages'][-1].content}.")]}


GRAPHS = {
    "agent": chain(one=says("one"), two=says("two")),
    "asks": chain(ask=asks),
    "chat": wired({"reply": replies}, MessagesState).compile(),
}
MakeKeeping = Callable[..., Awaitable[DurableEngine]]


@pytest.fixture
async def keeping(database_url: str) -> AsyncIterator[MakeKeeping]:
    """Starts engines that keep things for some days."""
    async with AsyncExitStack() as stack:

        async def make(graphs: Any = GRAPHS, **days: Any) -> DurableEngine:
            project = replace(Project.from_graph(graphs), retention=RetentionConfig(**days))
            settings = Settings(database_url=database_url)
            return await stack.enter_async_context(
                DurableEngine(project=project, settings=settings)
            )

        yield make


def age(database_url: str, days: float = DAYS + 1) -> None:
    """Everything was made, used and ended some days before."""
    past = f"now() - interval '{days} days'"
    query(database_url, f"UPDATE runs SET finished_at = {past} WHERE finished_at IS NOT NULL")
    query(
        database_url,
        f"UPDATE threads SET created_at = {past}, updated_at = {past}, state_updated_at = {past}",
    )


async def sweep(engine: DurableEngine) -> None:
    """One round of everything that is asked for."""
    machinery = engine._machinery
    for each in machinery.retention.sweeps:
        while True:
            async with transaction(machinery.pool) as conn:
                if not await each(conn):
                    break


def events(database_url: str, run_id: str) -> list[str]:
    statement = "SELECT name FROM events WHERE run_id = %s ORDER BY seq"
    return [row["name"] for row in query(database_url, statement, (run_id,))]


async def test_of_an_old_log_the_first_and_the_last_event_are_left_and_the_run_stays(
    keeping: MakeKeeping, database_url: str
) -> None:
    engine = await keeping(events_days=DAYS)
    old = await run(engine, "old", input={"said": []})
    age(database_url)
    young = await run(engine, "young", input={"said": []})
    whole = events(database_url, young.run_id)
    assert len(whole) > 4
    await sweep(engine)
    assert events(database_url, old.run_id) == ["created", "end"]
    assert events(database_url, young.run_id) == whole
    kept = await engine.run(old.run_id)
    assert kept.events_deleted_at is not None
    assert replace(kept, events_deleted_at=None, finished_at=old.finished_at) == old
    told = [e.name async for batch in engine.batches(old.run_id, BEGINNING) for e in batch]
    assert told == ["created", "end"]
    assert (await engine.state("old")).values["said"] == ["one", "two"]
    assert (await run(engine, "old", input={"said": []})).status == "success"


@pytest.mark.parametrize("days", ["events_days", "runs_days", "checkpoints_days", "threads_days"])
async def test_nothing_goes_of_a_thread_that_runs_or_waits_for_a_person(
    keeping: MakeKeeping, database_url: str, days: str
) -> None:
    """aegra#545: a sweep of threads that have expired, some of which are in use."""
    gate = Gate()

    async def waits(state: State) -> State:
        await gate.wait()
        return {"said": ["done"]}

    engine = await keeping({**GRAPHS, "waits": chain(wait=waits)}, **{days: DAYS})
    for thread in ("runs", "asks", "queued"):
        await run(engine, thread, input={"said": []})
        await run(engine, thread, input={"said": []})
    await run(engine, "asks", assistant="asks", input={"said": []})
    await submit(engine, "runs", assistant="waits", input={"said": []})
    await submit(engine, "queued", input={"said": []}, after_seconds=3600)
    await gate.reached.wait()
    age(database_url)
    counted = (
        "SELECT (SELECT count(*) FROM events WHERE name <> 'x') AS events, count(*) AS runs,"
        " (SELECT count(*) FROM threads) AS threads,"
        " (SELECT count(*) FROM checkpoints) AS checkpoints FROM runs"
    )
    before = query(database_url, counted)
    await sweep(engine)
    assert query(database_url, counted) == before
    gate.open()
    await eventually(lambda: not query(database_url, RUNNING), "the run ends")


RUNNING = "SELECT 1 FROM runs WHERE status = 'running'"


async def test_an_old_run_goes_with_all_that_is_its_own_and_its_thread_stays(
    keeping: MakeKeeping, database_url: str
) -> None:
    engine = await keeping(runs_days=DAYS)
    old = await run(engine, input={"said": []})
    age(database_url)
    young = await run(engine, input={"said": []})
    await sweep(engine)
    with pytest.raises(RunNotFound):
        await engine.run(old.run_id)
    assert events(database_url, old.run_id) == []
    assert (await engine.run(young.run_id)).status == "success"
    assert (await engine.state("t")).values["said"] == ["one", "two"] * 2


async def test_a_thread_that_nobody_uses_keeps_its_latest_checkpoint_and_goes_on_from_it(
    keeping: MakeKeeping, database_url: str
) -> None:
    engine = await keeping(checkpoints_days=DAYS)
    for thread in ("old", "young"):
        await run(engine, thread, input={"said": []})
    age(database_url)
    await run(engine, "young", input={"said": []})
    await sweep(engine)
    counts = query(
        database_url, "SELECT thread_id, count(*) AS n FROM checkpoints GROUP BY 1 ORDER BY 1"
    )
    assert counts[0] == {"thread_id": "old", "n": 1}
    assert counts[1]["n"] > 4
    await run(engine, "old", input={"said": []})
    assert (await engine.state("old")).values["said"] == ["one", "two"] * 2


async def test_a_thread_that_nobody_uses_goes_as_a_whole_in_the_end(
    keeping: MakeKeeping, database_url: str
) -> None:
    engine = await keeping(threads_days=DAYS)
    for number in range(60):  # more than one page of them
        await engine.create_thread(f"empty {number}")
    await run(engine, "old", input={"said": []})
    age(database_url)
    await run(engine, "young", input={"said": []})
    await sweep(engine)
    with pytest.raises(ThreadNotFound):
        await engine.thread("old")
    assert query(database_url, "SELECT thread_id FROM threads") == [{"thread_id": "young"}]
    left = "SELECT DISTINCT thread_id FROM {}"
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "runs"):
        assert query(database_url, left.format(table)) == [{"thread_id": "young"}]


async def test_a_round_does_little_at_a_time_and_still_all_of_it(
    keeping: MakeKeeping, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from langgraph_durable import retention

    monkeypatch.setattr(retention, "EVENTS", 1)
    engine = await keeping(events_days=DAYS)
    ended = [await run(engine, f"t{n}", input={"said": []}) for n in range(3)]
    age(database_url)
    async with transaction(engine._machinery.pool) as conn:
        assert await engine._machinery.retention.logs(conn) == 1
    await sweep(engine)
    assert [events(database_url, r.run_id) for r in ended] == [["created", "end"]] * 3


# -- streams ---------------------------------------------------------------------------------------


async def test_a_stream_with_a_hole_in_it_is_refused_and_no_door_hides_one(
    keeping: MakeKeeping, database_url: str
) -> None:
    """manaflow-ai/cmux#10699, kenn-io/forge#360: old cursors got streams with a silent hole."""
    engine = await keeping(events_days=DAYS)
    old = await run(engine, "t", input={"said": []})
    last = old.next_seq - 1
    age(database_url)
    await sweep(engine)
    transport = httpx.ASGITransport(create_app(engine))
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:

        async def follow(path: str, last_event_id: object = None, **body: Any) -> httpx.Response:
            seen = {} if last_event_id is None else {"last-event-id": str(last_event_id)}
            method = "POST" if body else "GET"
            return await client.request(method, path, headers=seen, json=body or None)

        for runs in ("/threads/t/runs", "/runs"):
            stream = f"{runs}/{old.run_id}/stream"
            for cursor in ("-1", "-", 0, 1, last - 2):
                refused = await follow(stream, cursor)
                assert (refused.status_code, refused.json().keys()) == (404, {"detail"})
                assert "not kept any more" in refused.json()["detail"]
            refused = await follow(f"{stream}?last_event_id=-1")
            assert refused.status_code == 404
            for cursor, told in ((None, ["values", "end"]), (last - 1, ["end"]), (last, [])):
                whole = await follow(stream, cursor)
                assert (whole.status_code, names(whole)) == (200, told)
        place = f"{old.ticket}-1"
        assert (await follow("/threads/t/stream", place)).status_code == 404
        behind = ("/threads/t/stream/events", None)
        since = protocol_events.place(old.ticket, 1)
        refused = await follow(*behind, channels=["values"], since=since)
        assert refused.status_code == 404
        page = f"/invocations/{old.run_id}/events"
        refused = await follow(page)
        assert refused.status_code == 410
        assert refused.json()["error"]["code"] == "events_not_kept"
        assert names(await follow(f"{page}?after={last - 1}")) == ["run.completed"]


def names(answer: httpx.Response) -> list[str]:
    return re.findall("^event: (.*?)\r?$", answer.text, re.MULTILINE)


async def test_a_thread_that_is_told_from_its_beginning_says_which_logs_it_has_lost(
    keeping: MakeKeeping, database_url: str
) -> None:
    engine = await keeping(events_days=DAYS)
    old = await run(engine, "t", input={"said": []})
    age(database_url)
    await sweep(engine)
    young = await run(engine, "t", input={"said": []})
    app = create_app(engine)
    async with Conversation(app, "GET", "/threads/t/stream", last_event_id="-") as talk:
        told = b""
        while told.count(b"run_done") < 2:
            told += await talk.chunk() or b""
    data = [json.loads(line[6:]) for line in told.decode().splitlines() if line[:5] == "data:"]
    done = [each for each in data if each.get("status") == "run_done"]
    assert [each["run_id"] for each in done] == [old.run_id, young.run_id]
    assert [each.keys() >= {"events_deleted_at"} for each in done] == [True, False]


async def test_the_events_of_a_thread_begin_with_its_next_run_when_the_last_is_not_kept(
    keeping: MakeKeeping, database_url: str
) -> None:
    engine = await keeping(events_days=DAYS)
    await run(engine, "t", input={"said": []})
    age(database_url)
    await sweep(engine)
    body = b'{"channels": ["lifecycle", "values"]}'
    app = create_app(engine)
    async with Conversation(app, "POST", "/threads/t/stream/events", body) as talk:
        young = await run(engine, "t", input={"said": []})
        told = b""
        while b'"completed"' not in told:
            told += await talk.chunk() or b""
    ids = {frame.data["event_id"] for frame in read_frames(told)}
    assert ids
    assert all(young.run_id in event_id for event_id in ids)


# -- responses -------------------------------------------------------------------------------------


async def test_a_response_whose_events_are_gone_answers_as_before_and_is_not_streamed(
    keeping: MakeKeeping, database_url: str
) -> None:
    engine = await keeping(events_days=DAYS)
    transport = httpx.ASGITransport(create_app(engine))
    await engine.stop()
    await engine.start()  # the app's keepers count from the start
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        turn = {"model": "chat", "input": "hello", "background": True}
        names = [(await client.post("/v1/responses", json=turn)).json()["id"] for _ in range(2)]
        await eventually(
            lambda: (
                query(database_url, "SELECT count(*) AS n FROM runs WHERE status = 'success'")
                == [{"n": 2}]
            ),
            "both have ended",
        )
        seen, unseen = names
        before = (await client.get(f"/v1/responses/{seen}")).json()
        age(database_url)
        await sweep(engine)
        assert (await client.get(f"/v1/responses/{seen}")).json() == before
        found = (await client.get(f"/v1/responses/{unseen}")).json()
        assert found["status"] == "completed"
        assert found["output"][0]["content"][0]["text"] == "You said hello."
        refused = await client.get(f"/v1/responses/{unseen}?stream=true")
        assert refused.status_code == 400
        assert "not kept any more" in refused.json()["error"]["message"]


async def test_without_a_door_that_stores_them_logs_of_responses_stay(
    keeping: MakeKeeping, database_url: str
) -> None:
    engine = await keeping(events_days=DAYS)
    ended = await run(engine, input={"said": []}, door="responses")
    age(database_url)
    await sweep(engine)
    assert len(events(database_url, ended.run_id)) > 4


# -- archive ---------------------------------------------------------------------------------------


def archived(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Every line of the files of one kind."""
    assert not list(folder.glob("*.part"))
    files = sorted(folder.glob(f"{kind}-*.jsonl.gz"))
    return [json.loads(line) for file in files for line in gzip.open(file, "rt", encoding="utf-8")]


async def test_everything_is_archived_before_it_goes(
    keeping: MakeKeeping, database_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "far" / "archive"
    engine = await keeping(events_days=1, runs_days=10, threads_days=20, archive=folder)
    ended = await run(engine, input={"said": []})
    statement = "SELECT data FROM events WHERE run_id = %s ORDER BY seq"
    whole = [row["data"] for row in query(database_url, statement, (ended.run_id,))]
    age(database_url, 2)
    await sweep(engine)
    logs = archived(folder, "logs")
    assert [line["row"]["data"] for line in logs if line["table"] == "events"] == whole
    age(database_url, 11)
    await sweep(engine)
    (told,) = [line["row"] for line in archived(folder, "runs") if line["table"] == "runs"]
    assert (told["run_id"], told["status"]) == (ended.run_id, "success")
    age(database_url, 21)
    await sweep(engine)
    tables = [line["table"] for line in archived(folder, "threads")]
    assert tables.count("threads") == 1
    assert {"checkpoints", "checkpoint_writes"} <= set(tables)
    assert query(database_url, "SELECT 1 FROM threads") == []


async def test_a_deletion_that_fails_leaves_everything_where_it_is(
    keeping: MakeKeeping, database_url: str, tmp_path: Path
) -> None:
    engine = await keeping(threads_days=DAYS, archive=tmp_path / "archive")
    await run(engine, input={"said": []})
    age(database_url)
    query(
        database_url,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'no' USING errcode = '54000'; END $$",
    )
    query(
        database_url,
        "CREATE TRIGGER refuse BEFORE DELETE ON threads EXECUTE FUNCTION refuse()",
    )
    with pytest.raises(StoreUnavailable):
        await sweep(engine)
    assert (await engine.state("t")).values["said"] == ["one", "two"]


async def test_threads_that_end_by_their_own_life_time_are_archived_too(
    keeping: MakeKeeping, database_url: str, tmp_path: Path
) -> None:
    engine = await keeping(archive=tmp_path / "archive")
    await run(engine, None, input={"said": []})
    query(database_url, "UPDATE threads SET expires_at = now()")
    async with transaction(engine._machinery.pool) as conn:
        assert await engine._machinery.sweeper.temporary(conn) == 1
    tables = {line["table"] for line in archived(tmp_path / "archive", "threads")}
    assert {"threads", "runs", "events", "checkpoints"} <= tables


# -- configuration ---------------------------------------------------------------------------------


def config_of(folder: Path, retention: Any) -> RetentionConfig:
    path = folder / "langgraph.json"
    graphs = {"agent": "./agent.py:graph"}
    path.write_text(json.dumps({"graphs": graphs, "durable": {"retention": retention}}))
    return read_config(path).durable.retention


def test_retention_is_read_from_langgraph_json(tmp_path: Path) -> None:
    told = {"events_days": 30, "runs_days": 90, "archive": "./archive", "sweep_minutes": 0.5}
    assert config_of(tmp_path, told) == RetentionConfig(
        events_days=30, runs_days=90, archive=Path("archive"), sweep_minutes=0.5
    )


@pytest.mark.parametrize(
    ("retention", "told"),
    [
        ([], "durable.retention: must be an object"),
        ({"event_days": 3}, "durable.retention.event_days: unknown; there are events_days, runs_"),
        ({"events_days": 0}, "durable.retention.events_days: must be a number of days above 0"),
        ({"runs_days": "9"}, "durable.retention.runs_days: must be a number of days above 0"),
        ({"sweep_minutes": True}, "durable.retention.sweep_minutes: must be a number of minutes"),
        ({"archive": 3}, "durable.retention.archive: must be a folder"),
        ({"events_days": 9, "runs_days": 3}, "durable.retention.events_days: a log goes with its"),
    ],
)
def test_what_is_wrong_with_retention_is_told_at_the_start(
    tmp_path: Path, retention: Any, told: str
) -> None:
    with pytest.raises(ProjectError) as caught:
        config_of(tmp_path, retention)
    assert f"langgraph.json: {told}" in caught.value.message


async def test_an_archive_that_cannot_be_written_stops_the_start(
    keeping: MakeKeeping, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ProjectError, match=r"durable\.retention\.archive"):
        await keeping(archive=tmp_path / "file")
