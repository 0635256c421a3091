"""The plan of an attempt: a table over what the checkpointer shows."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_durable.recovery import Act, Baseline, Head, Plan, Task, Wish, plan, stored_error

RUN = "run"
BASE = Baseline(head="c1", null_writes=0)
INPUT = Wish(run_id=RUN)
JUMP = Wish(run_id=RUN, edits=True)
ANSWER = Wish(run_id=RUN, answers={"q1": "yes"})
WAITING = Task(name="ask", asks=True)
DONE = Task(name="done", finished=True)
OPEN = Task(name="next")


def before(**shown: Any) -> Head:
    """The head of before the run."""
    return Head(**{"checkpoint_id": "c1", "run_id": "another", **shown})


def mine(**shown: Any) -> Head:
    """A head that the run wrote."""
    return Head(**{"checkpoint_id": "c2", "run_id": RUN, **shown})


@pytest.mark.parametrize(
    ("wish", "head", "expected"),
    [
        (INPUT, before(), Plan(act=Act.INPUT)),
        (INPUT, before(tasks=[WAITING], questions={"q0"}), Plan(act=Act.INPUT)),
        (INPUT, before(tasks=[Task(name="x", error="old", finished=True)]), Plan(act=Act.INPUT)),
        (INPUT, mine(), Plan(act=Act.COMPLETE)),
        (INPUT, mine(tasks=[OPEN], next=["next"]), Plan(act=Act.CONTINUE)),
        (INPUT, mine(tasks=[DONE]), Plan(act=Act.CONTINUE)),
        (INPUT, mine(tasks=[WAITING], questions={"q1"}), Plan(act=Act.INTERRUPTED)),
        (INPUT, mine(tasks=[WAITING, DONE], questions={"q1"}), Plan(act=Act.INTERRUPTED)),
        (INPUT, mine(tasks=[WAITING, OPEN], questions={"q1"}), Plan(act=Act.CONTINUE)),
        (
            INPUT,
            mine(tasks=[Task(name="edge", error="ValueError('x')", finished=True)]),
            Plan(act=Act.FAILED, error="ValueError('x')"),
        ),
        (INPUT, mine(tasks=[Task(name="n", error="ValueError('x')")]), Plan(act=Act.CONTINUE)),
        (JUMP, before(), Plan(act=Act.COMMAND, edit=True)),
        (JUMP, before(null_writes=2), Plan(act=Act.CONTINUE)),
        (JUMP, mine(tasks=[OPEN]), Plan(act=Act.CONTINUE)),
        (
            ANSWER,
            before(tasks=[WAITING], questions={"q1"}),
            Plan(act=Act.COMMAND, resume={"q1": "yes"}),
        ),
        (ANSWER, before(tasks=[WAITING], questions={"q2"}), Plan(act=Act.INTERRUPTED)),
        (ANSWER, before(tasks=[Task(name="ask")]), Plan(act=Act.CONTINUE)),
        (ANSWER, before(), Plan(act=Act.COMPLETE)),
        (ANSWER, mine(tasks=[WAITING], questions={"q2"}), Plan(act=Act.INTERRUPTED)),
    ],
)
def test_a_recovery_is_decided_by_what_is_durable(wish: Wish, head: Head, expected: Plan) -> None:
    assert plan(wish, BASE, head, first=False) == expected


@pytest.mark.parametrize(
    ("wish", "head"),
    [
        (ANSWER, before(gone=["ask"])),
        (Wish(run_id=RUN, answers={}), before(gone=["ask"])),
        (Wish(run_id=RUN, continues=True), before(gone=["ask"])),
        (INPUT, mine(gone=["ask"])),
    ],
)
def test_a_run_that_cannot_go_on_where_its_thread_stands_fails(wish: Wish, head: Head) -> None:
    failed = plan(wish, BASE, head, first=True)
    assert failed.act is Act.FAILED
    assert stored_error(failed.error or "")["error"] == "GraphChanged"
    assert "no longer has: ask." in stored_error(failed.error or "")["message"]


def test_a_new_turn_and_an_edit_do_not_mind_that_a_node_is_gone() -> None:
    assert plan(INPUT, BASE, before(gone=["ask"]), first=True).act is Act.INPUT
    assert plan(JUMP, BASE, before(gone=["ask"]), first=True).act is Act.COMMAND


def test_an_answer_whose_edit_is_durable_does_not_edit_again() -> None:
    wish = Wish(run_id=RUN, answers={"q1": "yes"}, edits=True)
    asked = before(tasks=[WAITING], questions={"q1"}, null_writes=1)
    assert plan(wish, BASE, asked, first=False) == Plan(act=Act.COMMAND, resume={"q1": "yes"})
    fresh = before(tasks=[WAITING], questions={"q1"})
    assert plan(wish, BASE, fresh, first=True).edit


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (before(tasks=[WAITING], questions={"q2"}), Act.INTERRUPTED),
        (before(), Act.COMPLETE),
    ],
)
def test_an_answer_to_no_open_question_never_calls_the_graph(head: Head, expected: Act) -> None:
    assert plan(ANSWER, BASE, head, first=True).act is expected


def test_a_plain_answer_without_any_question_passes_a_breakpoint() -> None:
    wish = Wish(run_id=RUN, answers={})
    assert plan(wish, BASE, before(tasks=[OPEN], next=["next"]), first=True).act is Act.CONTINUE


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("tasks", [[], [OPEN]], ids=["finished", "at a breakpoint"])
def test_an_edit_beside_an_answer_that_no_question_waits_for_is_not_lost(
    tasks: list[Task], first: bool
) -> None:
    wish = Wish(run_id=RUN, answers={}, edits=True)
    assert plan(wish, BASE, before(tasks=tasks), first=first) == Plan(act=Act.COMMAND, edit=True)
    applied = before(tasks=tasks, null_writes=1)
    assert plan(wish, BASE, applied, first=first) == Plan(act=Act.CONTINUE)
    ended = Act.CONTINUE if tasks else Act.COMPLETE
    assert plan(wish, BASE, mine(tasks=tasks), first=first).act is ended


@pytest.mark.parametrize(
    ("stops", "act"),
    [
        ({"before": ["next"]}, Act.INTERRUPTED),
        ({"before": "*"}, Act.INTERRUPTED),
        ({"before": ["other"]}, Act.CONTINUE),
        ({"after": ["last"]}, Act.INTERRUPTED),
        ({"after": "*"}, Act.INTERRUPTED),
        ({"after": ["next"]}, Act.CONTINUE),
    ],
)
def test_a_recovery_never_passes_a_breakpoint(stops: dict[str, Any], act: Act) -> None:
    """aegra#448, #442: where to stop was stored with the run, and no run ever stopped."""
    head = mine(tasks=[OPEN], next=["next"], last_nodes=["last"])
    assert plan(Wish(run_id=RUN, **stops), BASE, head, first=False).act is act
    old = before(tasks=[OPEN], next=["next"], last_nodes=["last"])
    assert plan(Wish(run_id=RUN, **stops), BASE, old, first=False).act is Act.INPUT


def test_the_first_step_of_a_run_is_no_node_to_stop_behind() -> None:
    head = mine(tasks=[OPEN], next=["next"], last_nodes=["__start__"])
    assert plan(Wish(run_id=RUN, after="*"), BASE, head, first=False).act is Act.CONTINUE


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("ValueError('boom')", "ValueError", "boom"),
        ("KeyError()", "KeyError", ""),
        ('TimeoutError("it\'s late")', "TimeoutError", "it's late"),
        ("Odd(1, <object>)", "Odd", "1, <object>"),
    ],
)
def test_a_stored_error_is_told_by_type_and_message(text: str, error: str, message: str) -> None:
    assert stored_error(text) == {"error": error, "message": message}
