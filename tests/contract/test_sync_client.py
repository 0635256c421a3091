"""The synchronous client does all that the asynchronous one does: a tour of its calls."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.errors import ConflictError, NotFoundError

STEPS = ["1", "2", "3", "4", "5"]


@pytest.fixture
def thread_id(sync_client: SyncLangGraphClient) -> str:
    return str(sync_client.threads.create()["thread_id"])


def begun(client: SyncLangGraphClient, thread_id: str) -> str:
    """The id of a run that has begun and would work for a minute."""
    run = client.runs.create(thread_id, "slow", input={"delay": 60}, stream_mode="custom")
    for part in client.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"):
        if part.event == "custom":
            break
    return str(run["run_id"])


# -- runs -----------------------------------------------------------------------------------------


def test_a_run_is_streamed_followed_joined_and_read(
    sync_client: SyncLangGraphClient, thread_id: str
) -> None:
    runs, made = sync_client.runs, []
    modes: Any = ["updates", "custom"]
    whole = list(
        runs.stream(
            thread_id, "slow", input={"delay": 0}, stream_mode=modes, on_run_created=made.append
        )
    )
    told = [part.event for part in whole]
    assert told == ["metadata", *["custom", "custom", "updates"] * 5, "end"]
    run_id = made[0]["run_id"]
    assert made == [{"run_id": run_id, "thread_id": thread_id}]
    for place, part in enumerate(whole):
        rest = list(runs.join_stream(thread_id, run_id, last_event_id=part.id))
        assert [(p.event, p.data) for p in rest] == [(p.event, p.data) for p in whole[place + 1 :]]
    updates = runs.join_stream(thread_id, run_id, last_event_id="-1", stream_mode="updates")
    assert [part.data for part in updates][:-1] == [
        {f"n{step}": {"steps": [step]}} for step in STEPS
    ]
    assert runs.join(thread_id, run_id)["steps"] == STEPS
    assert runs.get(thread_id, run_id)["status"] == "success"
    assert runs.list(thread_id, status="success")[0]["run_id"] == run_id
    runs.delete(thread_id, run_id)
    with pytest.raises(NotFoundError):
        runs.get(thread_id, run_id)


def test_a_run_is_waited_for_with_and_without_a_thread(
    sync_client: SyncLangGraphClient, thread_id: str
) -> None:
    runs = sync_client.runs
    assert runs.wait(thread_id, "echo", input={"x": 1}) == {"x": 1, "y": 1}
    assert runs.wait(None, "echo", input={"x": 2}) == {"x": 2, "y": 2}
    streamed = list(runs.stream(None, "echo", input={"x": 3}))
    assert streamed[-2].data == {"x": 3, "y": 3}
    created: Any = runs.create(None, "echo", input={"x": 4})
    assert runs.join(created["thread_id"], created["run_id"]) == {"x": 4, "y": 4}
    batch = runs.create_batch([{"assistant_id": "echo", "input": {"x": x}} for x in range(2)])
    assert [runs.join(run["thread_id"], run["run_id"])["y"] for run in batch] == [0, 1]
    with pytest.raises(Exception, match="ValueError: boom"):
        runs.wait(thread_id, "boom", input={"x": 1})
    failed = runs.wait(thread_id, "boom", input={"x": 1}, raise_error=False)
    assert failed == {"__error__": {"error": "ValueError", "message": "boom"}}


def test_a_question_is_asked_and_answered(sync_client: SyncLangGraphClient, thread_id: str) -> None:
    asked: Any = sync_client.runs.wait(thread_id, "hitl", input={"q": "ok?"})
    [question] = asked["__interrupt__"]
    [open_one] = sync_client.threads.get_state(thread_id)["interrupts"]
    assert (open_one["id"], open_one["value"]) == (question["id"], {"question": "ok?"})
    answer: Any = {"resume": {question["id"]: "yes"}}
    parts = list(sync_client.runs.stream(thread_id, "hitl", command=answer))
    assert parts[-2].data == {"q": "ok?", "a": "yes"}


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_a_run_is_cancelled(sync_client: SyncLangGraphClient, thread_id: str, many: bool) -> None:
    run_id = begun(sync_client, thread_id)
    with pytest.raises(ConflictError):
        sync_client.runs.create(thread_id, "echo", multitask_strategy="reject")
    if many:
        sync_client.runs.cancel_many(thread_id=thread_id, run_ids=[run_id])
    else:
        sync_client.runs.cancel(thread_id, run_id, wait=True)
    sync_client.runs.join(thread_id, run_id)
    assert sync_client.runs.get(thread_id, run_id)["status"] == "interrupted"
    assert sync_client.threads.get(thread_id)["status"] == "interrupted"


def test_a_newer_run_takes_over(sync_client: SyncLangGraphClient, thread_id: str) -> None:
    run_id = begun(sync_client, thread_id)
    done: Any = sync_client.runs.wait(
        thread_id, "echo", input={"x": 1}, multitask_strategy="rollback"
    )
    assert done["y"] == 1
    with pytest.raises(NotFoundError):
        sync_client.runs.get(thread_id, run_id)


# -- threads --------------------------------------------------------------------------------------


def test_a_thread_is_made_changed_found_copied_pruned_and_deleted(
    sync_client: SyncLangGraphClient, thread_id: str
) -> None:
    threads, mark = sync_client.threads, {"mark": thread_id}
    changed = threads.update(thread_id, metadata=mark, ttl=10)
    assert changed["metadata"] == mark
    assert threads.get(thread_id, include=["ttl"])["ttl"]["ttl_minutes"] == 10  # type: ignore[typeddict-item]
    assert threads.search(metadata=mark) == [threads.get(thread_id)]
    assert threads.count(metadata=mark) == 1
    sync_client.runs.wait(thread_id, "echo", input={"x": 1})
    copy: Any = threads.copy(thread_id)
    assert threads.get_state(copy["thread_id"])["values"] == {"x": 1, "y": 1}
    assert threads.prune([copy["thread_id"]], strategy="keep_latest") == {"pruned_count": 1}
    assert len(threads.get_history(copy["thread_id"])) == 1
    again = threads.create(thread_id=thread_id, if_exists="do_nothing")
    assert again["thread_id"] == thread_id
    with pytest.raises(ConflictError):
        threads.create(thread_id=thread_id)
    threads.delete(thread_id)
    with pytest.raises(NotFoundError):
        threads.get(thread_id)


def test_a_state_is_read_edited_and_forked(
    sync_client: SyncLangGraphClient, thread_id: str
) -> None:
    threads, runs = sync_client.threads, sync_client.runs
    runs.wait(thread_id, "approval", input={"request": "pay"})
    newest, *_, oldest = threads.get_history(thread_id, limit=10)
    assert (newest["next"], oldest["next"]) == (["ask"], ["__start__"])
    [before] = threads.get_history(thread_id, before=newest["checkpoint"], limit=1)
    assert before["checkpoint"] == newest["parent_checkpoint"]
    made: Any = threads.update_state(thread_id, {"decision": "mine"}, as_node="ask")
    at = threads.get_state(thread_id, checkpoint=made["checkpoint"], subgraphs=True)
    assert (at["values"], at["next"]) == (
        {"request": "pay", "decision": "mine", "log": ["prepared"]},
        ["finish"],
    )
    checkpoint_id: Any = newest["checkpoint"]["checkpoint_id"]
    assert threads.get_state(thread_id, checkpoint_id=checkpoint_id)["next"] == ["ask"]
    forked: Any = runs.wait(thread_id, "approval", checkpoint_id=checkpoint_id)
    assert forked["__interrupt__"][0]["value"]["request"] == "pay"


def test_a_thread_is_followed_over_its_runs(
    sync_client: SyncLangGraphClient, thread_id: str
) -> None:
    for x in (1, 2):
        sync_client.runs.wait(thread_id, "echo", input={"x": x})
    told, values = 0, []
    for part in sync_client.threads.join_stream(thread_id, last_event_id="-"):
        values += [part.data.get("y")] if part.event == "values" else []
        told += part.event == "metadata" and part.data.get("status") == "run_done"
        if told == 2:
            break
    assert values == [None, 1, 1, 2]


def test_a_thread_without_an_id_is_followed_from_now_on(
    sync_client: SyncLangGraphClient, thread_id: str
) -> None:
    seen: list[Any] = []

    def read() -> None:
        for part in sync_client.threads.join_stream(thread_id, stream_mode="lifecycle"):
            seen.append(part.data)
            if part.data.get("status") == "run_done":
                break

    reading = threading.Thread(target=read)
    reading.start()
    run = sync_client.runs.create(thread_id, "echo", input={"x": 1}, after_seconds=2)
    reading.join(20)
    assert seen == [
        {"run_id": run["run_id"], "attempt": 1},
        {"run_id": run["run_id"], "status": "run_done"},
    ]


# -- what stands beside them ----------------------------------------------------------------------


def test_assistants_show_their_graph(sync_client: SyncLangGraphClient) -> None:
    assistants = sync_client.assistants
    drawn: Any = assistants.get_graph("subgraph", xray=True)
    assert {node["id"] for node in drawn["nodes"]} >= {"p1", "child:c1", "p2"}
    assert assistants.get_schemas("echo")["input_schema"]["title"] == "Echo"
    assert list(assistants.get_subgraphs("subgraph", recurse=True)) == ["child"]


def test_crons_are_made_for_threads_and_without(
    sync_client: SyncLangGraphClient, thread_id: str
) -> None:
    crons, mark = sync_client.crons, {"mark": thread_id}
    alone: Any = crons.create("echo", schedule="0 0 1 1 *", input={"x": 1}, metadata=mark)
    there: Any = crons.create_for_thread(thread_id, "echo", schedule="0 0 1 1 *", metadata=mark)
    assert (alone["thread_id"], there["thread_id"]) == (None, thread_id)
    assert {cron["cron_id"] for cron in crons.search(metadata=mark)} == {
        alone["cron_id"],
        there["cron_id"],
    }
    assert crons.count(metadata=mark, thread_id=thread_id) == 1
    crons.update(alone["cron_id"], enabled=False)
    assert crons.search(metadata=mark, enabled=False)[0]["cron_id"] == alone["cron_id"]
    for cron in (alone, there):
        crons.delete(cron["cron_id"])
    assert crons.search(metadata=mark) == []
