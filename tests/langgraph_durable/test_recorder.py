"""Stream parts become rows; on re-entry what the log holds is dropped, what it lacks appended."""

from __future__ import annotations

from typing import Any

from langgraph.types import Interrupt

from langgraph_durable.recorder import Recorder
from langgraph_durable.serde import decode
from langgraph_durable.snapshot import FinishedTask
from langgraph_durable.store.events import Marks

Part = tuple[tuple[str, ...], str, Any]


def rows(recorder: Recorder, *parts: Part) -> list[tuple[str, Any, str | None, str | None]]:
    found = [p for part in parts for p in recorder.record(*part)] + list(recorder.flush())
    return [(p.name, decode(p.data), p.task_id, p.checkpoint_id) for p in found]


def finished(task_id: str, result: Any = None, *namespace: str) -> FinishedTask:
    return FinishedTask(namespace, task_id, "n", result or {})


def start(task_id: str, name: str = "n") -> Part:
    return (), "tasks", {"id": task_id, "name": name, "input": None, "triggers": ["x"]}


def result(task_id: str, name: str = "n") -> Part:
    return (), "tasks", {"id": task_id, "name": name, "result": {}, "interrupts": []}


def update(value: Any, *namespace: str) -> Part:
    return namespace, "updates", value


def checkpoint(checkpoint_id: str, *namespace: str) -> Part:
    config = {"configurable": {"checkpoint_id": checkpoint_id}}
    return namespace, "checkpoints", {"config": config, "next": ["n"]}


def values(value: Any, *namespace: str) -> Part:
    return namespace, "values", value


def marks(*held: dict[str, Any]) -> Marks:
    blank = {"name": "", "task_id": None, "checkpoint_id": None, "starts": False, "questions": None}
    return Marks([blank | h for h in held])


CACHED = {"__metadata__": {"cached": True}}


def test_ids_come_from_the_part_behind() -> None:
    recorder = Recorder({"values"})
    assert rows(
        recorder,
        start("t1"),
        ((), "custom", {"x": 1}),
        update({"n": 1}),
        result("t1"),
        values({"v": 1}),
        checkpoint("c1"),
    ) == [
        ("custom", {"x": 1}, None, None),
        ("updates", {"n": 1}, "t1", None),
        ("values", {"v": 1}, None, "c1"),
    ]
    assert recorder.values == {"v": 1}
    assert recorder.next == ["n"]


def test_what_was_not_asked_is_not_logged_but_known() -> None:
    recorder = Recorder({"updates"})
    assert rows(recorder, values({"v": 2}), checkpoint("c1"), start("t")) == []
    assert recorder.values == {"v": 2}


def test_subgraph_parts_carry_their_namespace() -> None:
    recorder = Recorder({"values"})
    assert rows(recorder, values({"v": 1}, "sub:1"), checkpoint("c", "sub:1")) == [
        ("values|sub:1", {"v": 1}, None, "c")
    ]
    assert recorder.values is None


def test_a_finished_task_is_told_once_and_one_that_the_log_lacks_is_healed() -> None:
    held = marks({"name": "updates", "task_id": "t1"})
    recorder = Recorder(set(), marks=held, cached=[finished("t1"), finished("t2")])
    assert rows(
        recorder,
        start("t1"),
        start("t2"),
        update({"n": "known", **CACHED}),
        update({"n": "lost", **CACHED}),
        update({"n": "new"}),
        result("t3"),
    ) == [("updates", {"n": "lost"}, "t2", None), ("updates", {"n": "new"}, "t3", None)]


def test_a_resume_in_a_first_attempt_keeps_the_cached_marker() -> None:
    assert rows(Recorder(set()), update({"n": 1, **CACHED})) == [
        ("updates", {"n": 1, **CACHED}, None, None)
    ]


def test_values_and_checkpoints_that_the_log_holds_are_not_repeated() -> None:
    held = marks(
        {"name": "values|s:1", "checkpoint_id": "c1"},
        {"name": "checkpoints", "checkpoint_id": "c2"},
    )
    recorder = Recorder({"values", "checkpoints"}, marks=held, head_id="c2")
    assert rows(
        recorder,
        values({"v": 1}, "s:1"),
        checkpoint("c1", "s:1"),
        values({"v": 2}),
        checkpoint("c2"),
        values({"v": 3}),
        checkpoint("c3"),
    ) == [
        ("checkpoints|s:1", checkpoint("c1", "s:1")[2], None, "c1"),
        ("values", {"v": 3}, None, "c3"),
        ("checkpoints", checkpoint("c3")[2], None, "c3"),
    ]


def test_a_question_is_asked_once() -> None:
    question = {"__interrupt__": (Interrupt(value="q?", id="i1"),)}
    asked = '{"__interrupt__":[{"value":"q?","id":"i1"}]}'
    held = marks({"name": "updates", "questions": asked})
    parts = (update(question), values({"v": 1, **question}), result("t1"))
    assert rows(Recorder({"values"}, marks=held), *parts) == []
    told = rows(Recorder({"values"}), *parts)
    assert [(name, task) for name, _, task, _ in told] == [("updates", "t1"), ("values", None)]


def test_task_starts_are_told_once_and_results_always() -> None:
    held = marks({"name": "tasks", "task_id": "t1", "starts": True})
    recorder = Recorder({"tasks"}, marks=held)
    found = rows(recorder, start("t1"), start("t2"), result("t1"))
    assert [(data["id"], "triggers" in data) for _, data, _, _ in found] == [
        ("t2", True),
        ("t1", False),
    ]


# -- stopped in the middle ------------------------------------------------------------------------


def missing(recorder: Recorder, *tasks: FinishedTask) -> list[tuple[str, Any, str | None]]:
    found = list(recorder.missing(tasks)) + list(recorder.flush())
    return [(p.name, decode(p.data), p.task_id) for p in found]


def test_what_a_stopped_graph_could_not_tell_is_told_once() -> None:
    recorder = Recorder(set())
    rows(recorder, start("t1"), update({"n": {"v": 1}}), result("t1"), start("t2"))
    told = [("updates", {"n": {"v": 2}}, "t2"), ("updates|sub:1", {"n": None}, "t3")]
    tasks = finished("t1", {"v": 1}), finished("t2", {"v": 2}), finished("t3", {}, "sub:1")
    assert missing(recorder, *tasks) == told
    assert missing(recorder, *tasks) == []


def test_an_update_that_waits_for_its_id_finds_it_in_the_state() -> None:
    recorder = Recorder(set())
    list(recorder.record(*update({"n": {"v": 1}})))
    assert missing(recorder, finished("t1", {"v": 1})) == [("updates", {"n": {"v": 1}}, "t1")]


def test_several_writes_to_one_channel_are_listed() -> None:
    recorder = Recorder(set(), marks=marks())
    result = {"v": {"$writes": [1, 2]}, "w": 3}
    assert missing(recorder, finished("t1", result)) == [
        ("updates", {"n": [{"v": 1}, {"v": 2}, {"w": 3}]}, "t1")
    ]


def test_a_graph_that_has_not_begun_tells_nothing_of_an_older_run() -> None:
    assert missing(Recorder(set()), finished("t1", {"v": 1})) == []


def test_what_earlier_attempts_told_is_not_told() -> None:
    recorder = Recorder(set(), marks=marks({"name": "updates", "task_id": "t1"}))
    assert missing(recorder, finished("t1", {"v": 1})) == []


def test_what_a_task_of_a_function_returned_is_told_when_the_function_comes_to_it_again() -> None:
    recorder = Recorder(set(), marks=marks({"name": "updates", "task_id": "t1"}))
    recorder.returned = {"t1": 1, "t2": 2}
    told = [("updates", {"f": 2}, "t2", None)]
    assert rows(recorder, start("t1", "f"), start("t2", "f"), start("t2", "f")) == told
