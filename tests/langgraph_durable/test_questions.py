"""A person's answers: bound to the question that was read, never to another one."""

from __future__ import annotations

from contextlib import aclosing
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from langgraph_durable.answers import bind, decision_problem
from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Run, RunRequest
from langgraph_durable.serde import decode
from tests.conftest import MakeEngine
from tests.graphs import Gate


def joined(held: list[str], new: list[str]) -> list[str]:
    return held + new


class State(TypedDict, total=False):
    said: Annotated[list[str], joined]


def ask(name: str, *, picky: bool = False) -> Any:
    def node(state: State) -> State:
        answer = interrupt(name)
        if picky and answer != "good":
            raise ValueError(f"not {answer!r}")
        return {"said": [f"{name}={answer}"]}

    return node


def chain(**nodes: Any) -> Any:
    builder = StateGraph(State)
    before = START
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    builder.add_edge(before, END)
    return builder.compile()


def beside(**nodes: Any) -> Any:
    builder = StateGraph(State)
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    return builder.compile()


async def run(engine: DurableEngine, **wish: Any) -> Run:
    wish.setdefault("thread_id", "t")
    request = RunRequest(assistant="agent", if_not_exists="create", **wish)
    return await engine.wait((await engine.submit(request)).run_id)


async def open_questions(engine: DurableEngine) -> list[str]:
    thread = await engine.thread("t")
    return [q["value"] for listed in thread.interrupts.values() for q in listed]


async def question_id(engine: DurableEngine, value: str) -> str:
    thread = await engine.thread("t")
    found = [q for listed in thread.interrupts.values() for q in listed if q["value"] == value]
    return str(found[0]["id"])


async def said(engine: DurableEngine) -> list[str]:
    return list(decode((await engine.thread("t")).values or "{}").get("said", []))


async def test_an_answer_at_an_earlier_checkpoint_is_for_the_question_asked_there(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(chain(first=ask("first"), second=ask("second")))
    await run(engine, input={"said": ["go"]})
    stands = await engine.state("t")
    assert stands is not None
    asked = stands.config["configurable"]["checkpoint_id"]
    await run(engine, input={"said": ["again"]})
    await run(engine, command={"resume": "b"}, checkpoint={"checkpoint_id": asked})
    assert await said(engine) == ["go", "first=b"]
    assert await open_questions(engine) == ["second"]


async def test_a_double_click_does_not_answer_the_next_question(make_engine: MakeEngine) -> None:
    engine = await make_engine(chain(one=ask("delete?"), two=ask("send?")))
    await run(engine, input={"said": []})
    clicks = [
        await engine.submit(RunRequest(assistant="agent", thread_id="t", command={"resume": "yes"}))
        for _ in range(2)
    ]
    first, second = [await engine.wait(c.run_id) for c in clicks]
    assert first.status == second.status == "success"
    assert await said(engine) == ["delete?=yes"]
    assert await open_questions(engine) == ["send?"]
    assert decode(second.output or "")["__interrupt__"][0]["value"] == "send?"


async def test_an_answer_to_a_question_whose_run_has_not_ended_yet_is_heard(
    make_engine: MakeEngine,
) -> None:
    """Whoever reads the stream may answer before the run that asks has its end."""
    gate = Gate()

    async def slow(state: State) -> State:
        await gate.wait()
        return {"said": ["slow"]}

    engine = await make_engine(beside(ask=ask("q?"), slow=slow))
    asking = await engine.submit(
        RunRequest(assistant="agent", thread_id="t", if_not_exists="create", input={"said": []})
    )
    async with aclosing(engine.batches(asking.run_id)) as log:
        async for events in log:
            if any("__interrupt__" in event.data for event in events):
                break
    assert await open_questions(engine) == []
    answer = await engine.submit(
        RunRequest(assistant="agent", thread_id="t", command={"resume": "yes"})
    )
    gate.open()
    assert (await engine.wait(answer.run_id)).status == "success"
    assert sorted(await said(engine)) == ["q?=yes", "slow"]


async def test_a_plain_answer_to_several_questions_ends_without_calling_the_graph(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(beside(left=ask("l?"), right=ask("r?")))
    await run(engine, input={"said": []})
    refused = await run(engine, command={"resume": "yes"})
    assert refused.status == "error"
    assert "interrupt id" in (refused.error or {})["message"]
    assert sorted(await open_questions(engine)) == ["l?", "r?"]
    left = await question_id(engine, "l?")
    right = await question_id(engine, "r?")
    await run(engine, command={"resume": {left: "a"}})
    assert await open_questions(engine) == ["r?"]
    await run(engine, command={"resume": {left: "again", right: "b"}})
    assert sorted(await said(engine)) == ["l?=a", "r?=b"]
    assert (await engine.thread("t")).status == "idle"


async def test_an_answer_to_nothing_ends_without_calling_the_graph(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(chain(one=ask("q?")))
    await run(engine, input={"said": []})
    stale = await question_id(engine, "q?")
    await run(engine, command={"resume": "yes"})
    again = await run(engine, command={"resume": {stale: "no"}})
    assert again.status == "success"
    assert await said(engine) == ["q?=yes"]


@pytest.mark.parametrize("nested", [False, True], ids=["in a node", "in a subgraph"])
async def test_an_answer_that_fails_its_node_can_be_given_again(
    make_engine: MakeEngine, nested: bool
) -> None:
    graph = chain(one=ask("q?", picky=True))
    engine = await make_engine(chain(outer=graph) if nested else graph)
    await run(engine, input={"said": []})
    failed = await run(engine, command={"resume": "bad"})
    assert failed.status == "error"
    assert failed.error == {"error": "ValueError", "message": "not 'bad'"}
    assert (await engine.thread("t")).status == "error"
    assert await open_questions(engine) == ["q?"]
    better = await run(engine, command={"resume": "good"})
    assert better.status == "success"
    assert await said(engine) == ["q?=good"]


async def test_a_new_input_on_an_open_question_starts_a_new_turn(make_engine: MakeEngine) -> None:
    engine = await make_engine(chain(one=ask("q?")))
    await run(engine, input={"said": ["first"]})
    await run(engine, input={"said": ["second"]})
    assert await open_questions(engine) == ["q?"]
    await run(engine, command={"resume": "yes"})
    assert await said(engine) == ["first", "second", "q?=yes"]


HITL = {
    "action_requests": [{"name": "send", "args": {}}, {"name": "delete", "args": {}}],
    "review_configs": [
        {"action_name": "send", "allowed_decisions": ["approve", "reject"]},
        {"action_name": "delete", "allowed_decisions": ["reject"]},
    ],
}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"decisions": [{"type": "approve"}, {"type": "reject"}]}, None),
        ({"decisions": [{"type": "approve"}]}, "2 decisions"),
        ({"decisions": [{"type": "approve"}, {"type": "approve"}]}, "not allowed for delete"),
        ({"decisions": "approve"}, "list of decisions"),
        ("yes", "list of decisions"),
    ],
)
def test_decisions_must_fit_the_actions_they_decide(answer: Any, problem: str | None) -> None:
    found = decision_problem(HITL, answer)
    assert (found is None) if problem is None else (problem in (found or ""))
    bound = bind(answer, [{"id": "0" * 32, "value": HITL}])
    assert ("refused" in bound) is (problem is not None)
