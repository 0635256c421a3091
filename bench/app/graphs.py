"""Graphs that do next to nothing, so that what carries them is measured."""

from __future__ import annotations

import asyncio
import operator
import time
from pathlib import Path
from typing import Annotated, Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage
from langgraph.config import get_stream_writer
from langgraph.graph import StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

WORDS = 101  # the model says each word, and each space between, as one token
TOKENS = 2 * WORDS - 1
STEPS = 10


class Numbers(TypedDict, total=False):
    n: int
    size: int
    quickly: int
    gate: str
    interval: float


class Steps(TypedDict, total=False):
    done: Annotated[list[int], operator.add]


class Chat(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]


async def _echo(state: Numbers) -> Numbers:
    return {"n": state.get("n", 0)}


async def _tokens(state: Numbers) -> Numbers:
    """``n`` events, of ``size`` bytes more if that is given, as fast as they can be made."""
    write, filling = get_stream_writer(), "x" * state.get("size", 0)
    for number in range(state.get("n", 0)):
        write({"number": number, "token": f"token {number} {filling}"})
    return {}


async def _pace(state: Numbers) -> Numbers:
    """``quickly`` events; when the file ``gate`` is there, ``n``, one every ``interval`` seconds.

    The latter say when they were made, in nanoseconds of the wall clock.
    """
    write = get_stream_writer()
    for number in range(state.get("quickly", 0)):
        write({"number": number})
        if number % 100 == 0:
            await asyncio.sleep(0)
    if "gate" in state:
        await asyncio.to_thread(_until_there, Path(state["gate"]))
    began = time.monotonic()
    for number in range(state.get("n", 0)):
        await asyncio.sleep(began + number * state["interval"] - time.monotonic())
        write({"at": time.time_ns()})
    return {}


def _until_there(file: Path) -> None:
    while not file.exists():
        time.sleep(0.01)


def _burn(state: Numbers) -> Numbers:
    """A few milliseconds of Python."""
    return {"n": sum(number * number for number in range(state.get("n", 0))) % 7}


async def _say(state: Chat) -> Chat:
    """A model's message, token by token."""
    text = " ".join(f"w{number}" for number in range(WORDS))
    model = GenericFakeChatModel(messages=iter([AIMessage(content=text)]))
    return {"messages": [await model.ainvoke(state["messages"])]}


async def _words(state: Chat) -> Chat:
    """As many words as the last message says, and their message."""
    write, count = get_stream_writer(), int(str(state["messages"][-1].text))
    for number in range(count):
        write(AIMessageChunk(content=f"w{number} ", id="spoken"))
    return {"messages": [AIMessage(content="".join(f"w{n} " for n in range(count)), id="spoken")]}


async def _answer(state: Chat) -> Chat:
    return {"messages": [AIMessage(content="An answer of some words, as they are. " * 5)]}


def _step(number: int) -> Any:
    async def step(state: Steps) -> Steps:
        return {"done": [number]}

    return step


def _one(state: Any, node: Any) -> StateGraph[Any]:
    return StateGraph(state).add_node("only", node).set_entry_point("only")


def _ten() -> StateGraph[Any]:
    builder: StateGraph[Any] = StateGraph(Steps)
    builder.add_sequence([(f"step{number}", _step(number)) for number in range(STEPS)])
    return builder.set_entry_point("step0")


BUILDERS = {
    "echo": _one(Numbers, _echo),
    "steps": _ten(),
    "tokens": _one(Numbers, _tokens),
    "words": _one(Chat, _words),
    "said": _one(Chat, _say),
    "chat": _one(Chat, _answer),
    "pace": _one(Numbers, _pace),
    "burn": _one(Numbers, _burn),
}
echo, steps, tokens, words, said, chat, pace, burn = (b.compile() for b in BUILDERS.values())
