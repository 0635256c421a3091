"""``strict_resume``: an answer to what is not asked fails its run and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.errors import UnknownInterruptError
from langgraph.types import interrupt

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Run
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, ended, run, said, submit, wired


def ask(name: str) -> Any:
    def node(state: State) -> State:
        return {"said": [f"{name}={interrupt(name)}"]}

    return node


def chain(**nodes: Any) -> Any:
    return wired(nodes).compile()


async def asked(engine: DurableEngine) -> list[str]:
    thread = await engine.thread("t")
    return [str(q["id"]) for listed in thread.interrupts.values() for q in listed]


def refused(found: Run) -> bool:
    return bool(found.error) and found.error["error"] == UnknownInterruptError.__name__


@pytest.mark.parametrize("answer", [{}, {"0" * 32: "yes"}])
async def test_an_answer_to_nothing_that_is_asked_fails_and_the_thread_stays_as_it_was(
    make_engine: MakeEngine, answer: Any
) -> None:
    engine = await make_engine(chain(one=ask("q?")))
    await run(engine, input={"said": []})
    before = (await asked(engine), await said(engine))
    wrong = await run(engine, command={"resume": answer}, strict_resume=True)
    assert (wrong.status, refused(wrong)) == ("error", True)
    thread = await engine.thread("t")
    assert (thread.status, thread.error) == ("interrupted", None)
    assert (await asked(engine), await said(engine)) == before
    await run(engine, command={"resume": {before[0][0]: "yes"}}, strict_resume=True)
    assert await said(engine) == ["q?=yes"]


async def test_the_second_of_two_clicks_fails(make_engine: MakeEngine) -> None:
    gates = {"delete?": Gate(), "send?": Gate()}

    def slowly(name: str) -> Any:
        async def node(state: State) -> State:
            answer = interrupt(name)
            await gates[name].wait()
            return {"said": [f"{name}={answer}"]}

        return node

    engine = await make_engine(chain(one=slowly("delete?"), two=slowly("send?")))
    await run(engine, input={"said": []})
    for name, gate in gates.items():
        resume = {(await asked(engine))[0]: "yes"} if name == "send?" else "yes"
        clicks = [
            await submit(engine, command={"resume": resume}, strict_resume=True) for _ in range(2)
        ]
        gate.open()
        first, second = [await ended(engine, click) for click in clicks]
        assert (first.status, second.status) == ("success", "error")
        assert refused(second)
    assert await said(engine) == ["delete?=yes", "send?=yes"]


async def test_a_plain_answer_to_several_questions_fails_by_that_name(
    make_engine: MakeEngine,
) -> None:
    builder = wired({"one": ask("l?")})
    builder.add_node("two", ask("r?"))
    builder.add_edge("__start__", "two")
    engine = await make_engine(builder.compile())
    await run(engine, input={"said": []})
    assert refused(await run(engine, command={"resume": "yes"}, strict_resume=True))
    assert len(await asked(engine)) == 2


async def test_a_plain_answer_goes_on_behind_a_breakpoint(make_engine: MakeEngine) -> None:
    engine = await make_engine(chain(one=ask("q?")))
    stopped = await run(engine, input={"said": ["go"]}, interrupt_before=["one"])
    assert stopped.status == "success"
    assert (await run(engine, command={"resume": 1}, strict_resume=True)).status == "success"
    assert len(await asked(engine)) == 1
