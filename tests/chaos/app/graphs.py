"""Graphs of every shape. Each turn begins with a message whose first word names it (its nonce);
every node leaves ``<nonce>:<node>`` in ``items``: the state tells what was done, and for whom.
"""

from __future__ import annotations

import asyncio
import operator
import os
import random
from contextlib import suppress
from itertools import pairwise
from typing import Annotated, Any, TypedDict

from journal import noted
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage
from langgraph.config import get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send, interrupt

from langgraph_durable.waits import sleep, wait_for_signal

EXIT_CODE = 77


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    items: Annotated[list[str], operator.add]


def nonce_of(messages: list[Any]) -> str:
    """The first word of the last thing that a person said."""
    texts = [m.text for m in messages if m.type == "human" and "[RECOVERY]" not in m.text]
    return str(texts[-1]).split()[0]


async def work(nonce: str, name: str, longest: float = 0.3) -> None:
    """Take the time that this node of this turn takes, whoever executes it."""
    await asyncio.sleep(random.Random(f"{nonce}/{name}").uniform(0.01, longest))


def step(name: str, *, words: int = 1) -> Any:
    async def node(state: State) -> State:
        nonce = nonce_of(state["messages"])
        with noted("node", name):
            write = get_stream_writer()
            for number in range(words):
                write({"at": name, "word": number})
                if number % 10 == 9:
                    await asyncio.sleep(0.02)
            await work(nonce, name)
        return {"items": [f"{nonce}:{name}"]}

    return node


async def say(state: State) -> State:
    """The last node of most graphs: an answer in words."""
    nonce = nonce_of(state["messages"])
    with noted("node", "say"):
        await work(nonce, "say", 0.1)
    told = [i for i in state.get("items", []) if i.startswith(f"{nonce}:")]
    return {"messages": [AIMessage(", ".join(told), id=f"said-{nonce}")], "items": [f"{nonce}:say"]}


def line(*nodes: tuple[str, Any]) -> Any:
    """Nodes one behind the other."""
    builder = StateGraph(State)
    for name, node in nodes:
        builder.add_node(name, node)
    names = [START, *(name for name, _ in nodes), END]
    for before, behind in pairwise(names):
        builder.add_edge(before, behind)
    return builder.compile()


chain = line(*((n, step(n)) for n in ("one", "two", "three")), ("say", say))
chatter = line(("loud", step("loud", words=80)), ("louder", step("louder", words=80)), ("say", say))
nested = line(
    ("before", step("before")),
    ("inner", line(("in1", step("in1")), ("in2", step("in2")))),
    ("after", step("after")),
    ("say", say),
)

_builder = StateGraph(State)
for _name in ("left", "middle", "right"):
    _builder.add_node(_name, step(_name))
    _builder.add_edge(START, _name)
_builder.add_node("say", say)
_builder.add_edge(["left", "middle", "right"], "say")
_builder.add_edge("say", END)
parallel = _builder.compile()


async def branch(given: dict[str, str]) -> State:
    with noted("node", given["name"]):
        await work(given["nonce"], given["name"])
    return {"items": [f"{given['nonce']}:{given['name']}"]}


def fan_out(state: State) -> list[Send]:
    nonce = nonce_of(state["messages"])
    return [Send("branch", {"name": f"b{n}", "nonce": nonce}) for n in range(4)]


_builder = StateGraph(State)
_builder.add_node("begin", step("begin"))
_builder.add_node("branch", branch)
_builder.add_node("say", say)
_builder.add_edge(START, "begin")
_builder.add_conditional_edges("begin", fan_out, ["branch"])
_builder.add_edge("branch", "say")
_builder.add_edge("say", END)
sends = _builder.compile()


# -- questions -------------------------------------------------------------------------------------


def asking(name: str) -> Any:
    async def node(state: State) -> State:
        nonce = nonce_of(state["messages"])
        with noted("node", name):
            answer = interrupt({"question": name, "nonce": nonce})
            await work(nonce, name)
        return {"items": [f"{nonce}:{name}={answer}"]}

    return node


question = line(("ask", asking("ask")), ("then", step("then")), ("say", say))

_builder = StateGraph(State)
for _name in ("ask1", "ask2"):
    _builder.add_node(_name, asking(_name))
    _builder.add_edge(START, _name)
_builder.add_node("say", say)
_builder.add_edge(["ask1", "ask2"], "say")
_builder.add_edge("say", END)
questions = _builder.compile()


# -- waits -----------------------------------------------------------------------------------------


async def nap(state: State) -> State:
    nonce = nonce_of(state["messages"])
    sleep(random.Random(f"{nonce}/nap").uniform(0.2, 3))
    with noted("node", "nap"):
        await work(nonce, "nap")
    return {"items": [f"{nonce}:nap"]}


async def hear(state: State) -> State:
    nonce = nonce_of(state["messages"])
    with suppress(TimeoutError):
        wait_for_signal(f"go {nonce}", timeout=random.Random(f"{nonce}/hear").uniform(0.2, 3))
    with noted("node", "hear"):
        await work(nonce, "hear")
    return {"items": [f"{nonce}:hear"]}


_builder = StateGraph(State)
for _name, _node in (("nap", nap), ("hear", hear)):
    _builder.add_node(_name, _node)
    _builder.add_edge(START, _name)
_builder.add_node("say", say)
_builder.add_edge(["nap", "hear"], "say")
_builder.add_edge("say", END)
waiting = _builder.compile()


# -- what goes wrong -------------------------------------------------------------------------------


def no_way(_: State) -> str:
    raise RuntimeError("no way")


_builder = StateGraph(State)
_builder.add_node("one", step("one"))
_builder.add_node("two", step("two"))
_builder.add_edge(START, "one")
_builder.add_conditional_edges("one", no_way, ["two", END])
detour = _builder.compile()


async def leave(state: State) -> State:
    with noted("node", "leave"):
        os._exit(EXIT_CODE)


exiting = line(("one", step("one")), ("leave", leave))


# -- the functional API ----------------------------------------------------------------------------


@task
async def prepare(nonce: str) -> str:
    with noted("node", "prepare"):
        await work(nonce, "prepare")
    return f"{nonce}:prepare"


@task
async def finish(nonce: str, so_far: str) -> str:
    with noted("node", "finish"):
        await work(nonce, "finish")
    return f"{so_far}, {nonce}:finish"


@entrypoint()
async def function(given: dict[str, Any]) -> Any:
    texts = [str(m["content"]) for m in given["messages"]]
    nonce = [text for text in texts if "[RECOVERY]" not in text][-1].split()[0]
    write = get_stream_writer()
    write(AIMessageChunk(content="Well: ", id=f"said-{nonce}"))
    made = await finish(nonce, await prepare(nonce))
    write(AIMessageChunk(content=made, id=f"said-{nonce}"))
    return {"messages": [AIMessage(f"Well: {made}", id=f"said-{nonce}")], "items": made.split(", ")}
