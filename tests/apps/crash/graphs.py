"""Graphs that a test can stop at any point, and that count what they execute.

A node waits at a gate: it writes ``<GATES>/<name>.reached`` and goes on when ``<name>.open`` is
there.
Every execution of a node is one line ``<node> <pid>`` in ``<GATES>/executions``.
"""

import asyncio
import operator
import os
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send, interrupt

GATES = Path(os.environ["GATES"])


def executed(node: str) -> None:
    with (GATES / "executions").open("a") as file:
        file.write(f"{node} {os.getpid()}\n")


async def gate(name: str) -> None:
    (GATES / f"{name}.reached").touch()
    while not (GATES / f"{name}.open").exists():
        await asyncio.sleep(0.01)


class State(TypedDict, total=False):
    items: Annotated[list[str], operator.add]
    given: Any
    note: str


def chain(*names: str, gated: frozenset[str] = frozenset()) -> Any:
    """Nodes one behind the other; gated ones wait at a gate of their own name."""
    builder = StateGraph(State)
    before = START
    for name in names:
        builder.add_node(name, step(name, gated=name in gated))
        builder.add_edge(before, name)
        before = name
    builder.add_edge(before, END)
    return builder.compile()


def step(name: str, *, gated: bool = False) -> Any:
    async def node(state: State) -> State:
        executed(name)
        get_stream_writer()({"at": name})
        if gated:
            await gate(name)
        return {"items": [name]}

    return node


steps = chain("one", "two", "three", gated=frozenset({"two"}))
first = chain("only", gated=frozenset({"only"}))


# -- parallel branches and fan-out -----------------------------------------------------------------

_builder = StateGraph(State)
for _name in ("fast", "slow", "join"):
    _builder.add_node(_name, step(_name, gated=_name == "slow"))
_builder.add_edge(START, "fast")
_builder.add_edge(START, "slow")
_builder.add_edge(["fast", "slow"], "join")
_builder.add_edge("join", END)
parallel = _builder.compile()


async def branch(given: dict[str, str]) -> State:
    name = given["name"]
    executed(name)
    if name == "last":
        await gate("last")
    return {"items": [name]}


def fan_out(_: State) -> list[Send]:
    return [Send("branch", {"name": n}) for n in ("b1", "b2", "last")]


_builder = StateGraph(State)
_builder.add_node("begin", step("begin"))
_builder.add_node("branch", branch)
_builder.add_node("join", step("join"))
_builder.add_edge(START, "begin")
_builder.add_conditional_edges("begin", fan_out, ["branch"])
_builder.add_edge("branch", "join")
_builder.add_edge("join", END)
sends = _builder.compile()


# -- a subgraph ------------------------------------------------------------------------------------

_builder = StateGraph(State)
_builder.add_node("before", step("before"))
_builder.add_node("inner", chain("in1", "in2", gated=frozenset({"in2"})))
_builder.add_node("after", step("after"))
_builder.add_edge(START, "before")
_builder.add_edge("before", "inner")
_builder.add_edge("inner", "after")
_builder.add_edge("after", END)
nested = _builder.compile()


# -- questions -------------------------------------------------------------------------------------


def asking(name: str, *questions: str) -> Any:
    async def node(state: State) -> State:
        executed(name)
        answers = [interrupt(q) for q in questions]
        executed(f"{name} answered")
        await gate(name)
        return {"items": [f"{q}={a}" for q, a in zip(questions, answers, strict=True)]}

    return node


def questions(**nodes: tuple[str, ...]) -> Any:
    builder = StateGraph(State)
    before = START
    for name, asked in nodes.items():
        builder.add_node(name, asking(name, *asked))
        builder.add_edge(before, name)
        before = name
    builder.add_node("end", step("end", gated=True))
    builder.add_edge(before, "end")
    builder.add_edge("end", END)
    return builder.compile()


one_question = questions(ask=("q1",))
two_in_one = questions(ask=("q1", "q2"))
two_in_two = questions(ask=("q1",), again=("q2",))

_builder = StateGraph(State)
_builder.add_node("left", asking("left", "ql"))
_builder.add_node("right", asking("right", "qr"))
_builder.add_node("done", step("done"))
_builder.add_edge(START, "left")
_builder.add_edge(START, "right")
_builder.add_edge(["left", "right"], "done")
_builder.add_edge("done", END)
two_at_once = _builder.compile()


# -- an agent with memory --------------------------------------------------------------------------


class Chat(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    turns: Annotated[int, operator.add]


async def think(state: Chat) -> Chat:
    """Call the tool once per turn, then say how many user turns are remembered."""
    executed("think")
    last = state["messages"][-1]
    users = [m for m in state["messages"] if m.type == "human" and "[RECOVERY]" not in m.text]
    if last.type == "tool":
        remembered = ", ".join(m.text for m in users)
        return {"messages": [AIMessage(f"remembered: {remembered}")], "turns": 1}
    if "tool" not in users[-1].text:
        return {"messages": [AIMessage(f"plain: {len(users)}")], "turns": 1}
    call = {"name": "work", "args": {"n": len(users)}, "id": f"call_{len(state['messages'])}"}
    return {"messages": [AIMessage("", tool_calls=[call])]}


async def work(state: Chat) -> Chat:
    executed("work")
    call = state["messages"][-1].tool_calls[0]
    get_stream_writer()({"working": call["id"]})
    await gate("work")
    executed("work finished")
    return {"messages": [ToolMessage("worked", tool_call_id=call["id"])]}


def route(state: Chat) -> str:
    return "work" if state["messages"][-1].tool_calls else END


_builder = StateGraph(Chat)
_builder.add_node("think", think)
_builder.add_node("work", work)
_builder.add_edge(START, "think")
_builder.add_conditional_edges("think", route, ["work", END])
_builder.add_edge("work", "think")
agent = _builder.compile()


# -- blocking, poison and long silence -------------------------------------------------------------


async def block(state: State) -> State:
    """``note`` says how: waiting, time.sleep or a loop that burns the CPU, for three seconds."""
    executed("block")
    (GATES / "block.reached").touch()
    until = time.monotonic() + 3
    while time.monotonic() < until:
        if state.get("note") == "sleep":
            time.sleep(3)
        if state.get("note") == "wait":
            await asyncio.sleep(3)
    return {"items": ["blocked"]}


async def die(state: State) -> State:
    executed("die")
    os.kill(os.getpid(), 9)
    return {}


def single(name: str, node: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node(name, node)
    builder.add_edge(START, name)
    builder.add_edge(name, END)
    return builder.compile()


blocker = single("block", block)
poison = single("die", die)
quick = single("quick", step("quick"))


async def silence(state: State) -> State:
    executed("silence")
    await gate("silence")
    return {"items": ["heard"]}


silent = single("silence", silence)


_builder = StateGraph(State)
_builder.add_node("one", step("one"))
_builder.add_node("two", step("two", gated=True))
_builder.add_edge(START, "one")
_builder.add_edge("one", END)
_builder.add_edge("two", END)
detour = _builder.compile()


async def crossing_point(_: State) -> str:
    await gate("crossing")
    return "two"


_builder = StateGraph(State)
_builder.add_node("one", step("one"))
_builder.add_node("two", step("two"))
_builder.add_edge(START, "one")
_builder.add_conditional_edges("one", crossing_point, ["two"])
_builder.add_edge("two", END)
crossing = _builder.compile()


# -- graphs that can be stopped before their first call --------------------------------------------


def opening(graph: Any) -> Any:
    """A factory that waits at the gate ``opened`` when the run's configuration says so."""

    async def factory(config: RunnableConfig) -> Any:
        if config.get("configurable", {}).get("gate") == "opened":
            await gate("opened")
        return graph

    return factory


steps_opening = opening(steps)
question_opening = opening(one_question)
detour_opening = opening(detour)
