"""Programs that are crashed everywhere: graphs, what is asked of them, and how they must end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send

from langgraph_durable.tools import guard, idempotency_key, once
from tests.crash.nodes import State, asks, chain, does, journal, named, naps, waits, wired


def sends() -> Any:
    async def work(state: Any) -> State:
        journal.note("node", state["part"])
        return {"items": [state["part"]]}

    def parts(_: State) -> list[Send]:
        return [Send("work", {"part": part}) for part in ("p1", "p2", "p3")]

    builder = StateGraph(State).add_node("begin", does("begin")).add_node("work", work)
    builder.add_node("join", does("join")).add_edge(START, "begin")
    builder.add_conditional_edges("begin", parts, ["work"])
    return builder.add_edge("work", "join").add_edge("join", END).compile()


def edge_raises() -> Any:
    def nowhere(_: State) -> str:
        raise ValueError("no way")

    builder = StateGraph(State).add_node("one", does("one")).add_node("two", does("two"))
    builder.add_edge(START, "one").add_conditional_edges("one", nowhere, ["two"])
    return builder.compile()


async def has_happened(key: str, arguments: Any) -> str | None:
    """The bank's word about a payment that may have been made."""
    made = (line["what"] for line in journal.lines() if line.get("key") == key)
    return next((f"paid {what}" for what in made), None)


@tool
async def pay(amount: int) -> str:
    """Pay: asked whether it has happened before it is done again."""
    journal.note("call", str(amount), key=idempotency_key())
    return f"paid {amount}"


@tool
async def look(amount: int) -> str:
    """Look: done again under the same key."""
    journal.note("look", str(amount), key=idempotency_key())
    return f"saw {amount}"


async def think(state: State) -> Any:
    journal.note("node", "model")
    if state["messages"][-1].type == "tool":
        return {"messages": [AIMessage("done")]}
    calls = [("pay", 1), ("pay", 2), ("look", 3)]
    made = [{"name": n, "args": {"amount": a}, "id": os.urandom(8).hex()} for n, a in calls]
    return {"messages": [AIMessage("", tool_calls=made)]}


def tools() -> Any:
    def behind(state: State) -> str:
        return "tools" if getattr(state["messages"][-1], "tool_calls", None) else END

    wrap = guard({"pay": has_happened, "look": "retry"})
    builder = StateGraph(State).add_node("model", think).add_edge(START, "model")
    builder.add_node("tools", ToolNode([pay, look], awrap_tool_call=wrap))
    builder.add_conditional_edges("model", behind, ["tools", END]).add_edge("tools", "model")
    return builder.compile()


def purchases() -> Any:
    async def charge(amount: int) -> int:
        journal.note("call", str(amount), key=idempotency_key())
        return amount

    async def found(key: str, arguments: Any) -> int | None:
        return arguments["args"][0] if await has_happened(key, arguments) else None

    async def shop(state: State) -> State:
        paid = [await once(str(n), charge, n, policy=found) for n in (1, 2)]
        return {"items": [f"paid {amount}" for amount in paid]}

    return wired({"shop": shop}, named("two")).compile()


@task
async def shout(text: str) -> str:
    journal.note("node", text)
    return text.upper()


@entrypoint()
async def function(given: State, *, previous: list[str] | None = None) -> State:
    first = await shout("one")
    both = await asyncio.gather(shout("two"), shout("three"))
    return {"messages": given["messages"], "items": [*given["items"], first, *both]}


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One run. ``answers`` are by question; ``cancels`` is an action, once a node waits for it.

    ``does`` are the nodes that work in it, and only those.
    """

    wish: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, str] | None = None
    cancels: str | None = None
    does: tuple[str, ...] | None = None
    status: str = "success"
    error: str | None = None


HELLO = Turn(wish={"input": {"messages": ["hello"], "items": ["in"]}})
EVERYTHING = Turn(
    wish={**HELLO.wish, "stream_modes": ("values", "updates", "tasks", "checkpoints")}
)
"""A run whose readers want all that there is."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """What is asked of a graph, and where the thread must be in the end, whatever crashed.

    ``once`` are the calls with side effects, ``unsure`` are nodes that may have ended by then;
    a run that ``sleeps`` wakes up in a further attempt.
    """

    graph: Any
    items: tuple[str, ...]
    turns: tuple[Turn, ...] = (HELLO,)
    messages: tuple[str, ...] = ("hello",)
    status: str = "idle"
    next: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    sleeps: bool = False


def _turn(**about: Any) -> Turn:
    return Turn(wish={**HELLO.wish, **about.pop("wish", {})}, **about)


_INNER = wired(named("in1"), named("in2")).compile()
_ASKS_WITHIN = wired(named("in1"), {"q1": asks("q1")}, named("in2")).compile()

PROGRAMS = {
    "chain": Program(
        graph=chain("one", "two", "three"),
        turns=(EVERYTHING,),
        items=("in", "one", "two", "three"),
    ),
    "parallel": Program(
        graph=wired(named("a", "b", "c"), named("join")).compile(),
        items=("in", "a", "b", "c", "join"),
    ),
    "sends": Program(graph=sends(), items=("in", "begin", "p1", "p2", "p3", "join")),
    "subgraph": Program(
        graph=wired(
            named("one"), {"sub": _INNER, "beside": does("beside")}, named("two")
        ).compile(),
        turns=(EVERYTHING,),
        items=("in", "one", "beside", "in", "one", "in1", "in2", "two"),
    ),
    "questions": Program(
        graph=wired(named("one"), {"q1": asks("q1"), "q2": asks("q2")}, named("two")).compile(),
        turns=(
            _turn(does=("one",)),
            Turn(answers={"q1": "yes"}, does=("q1",)),
            Turn(answers={"q2": "no"}, does=("q2", "two")),
        ),
        items=("in", "one", "q1=yes", "q2=no", "two"),
    ),
    "question in a subgraph": Program(
        graph=wired(named("one"), {"sub": _ASKS_WITHIN}, named("two")).compile(),
        turns=(
            _turn(does=("one", "in1")),
            Turn(answers={"q1": "yes"}, does=("q1", "in2", "two")),
        ),
        items=("in", "one", "in", "one", "in1", "q1=yes", "in2", "two"),
    ),
    "sleep": Program(
        graph=wired(named("one"), {"beside": does("beside"), "naps": naps}, named("two")).compile(),
        items=("in", "one", "beside", "naps", "two"),
        sleeps=True,
    ),
    "tools": Program(
        graph=tools(),
        items=("in",),
        messages=("hello", "", "paid 1", "paid 2", "saw 3", "done"),
        once=("1", "2"),
    ),
    "purchases": Program(
        graph=purchases(), items=("in", "paid 1", "paid 2", "two"), once=("1", "2")
    ),
    "function": Program(graph=function, items=("in", "ONE", "TWO", "THREE")),
    "edge that raises": Program(
        graph=edge_raises(),
        turns=(_turn(status="error", error="no way"),),
        items=("in", "one"),
        status="error",
    ),
    "breakpoint": Program(
        graph=chain("one", "two"),
        turns=(
            _turn(wish={"interrupt_before": ["two"]}, does=("one",)),
            Turn(does=("two",)),
        ),
        items=("in", "one", "two"),
    ),
    "cancel": Program(
        graph=wired(named("one"), {"beside": does("beside"), "waits": waits}).compile(),
        turns=(_turn(cancels="interrupt", status="interrupted"),),
        items=("in", "one", "beside"),
        status="interrupted",
        next=("waits",),
        unsure=("beside",),
    ),
    "rollback": Program(
        graph=wired(named("one"), {"waits": waits}).compile(),
        turns=(_turn(cancels="rollback", status="interrupted"),),
        items=(),
        messages=(),
    ),
}
