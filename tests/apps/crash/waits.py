"""Graphs that sleep, wait for signals, and ask a person meanwhile; see ``graphs.py`` for gates."""

from typing import Any, TypedDict

from graphs import executed, gate
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt

from langgraph_durable.waits import new_uuid, sleep, wait_for_signal


def says(text: str) -> dict[str, Any]:
    return {"messages": [AIMessage(text, id=str(new_uuid()))]}


async def begin(state: MessagesState) -> dict[str, Any]:
    executed("begin")
    return says("Waiting.")


async def hear(state: MessagesState) -> dict[str, Any]:
    value = wait_for_signal("go", timeout=3600)
    executed("hear")
    await gate("hear")
    return says(f"Heard {value}.")


def nap(state: MessagesState) -> dict[str, Any]:
    sleep(3600)
    executed("nap")
    return says("Slept.")


async def finish(state: MessagesState) -> dict[str, Any]:
    executed("finish")
    return says("Done.")


def ask(state: MessagesState) -> dict[str, Any]:
    return says(f"Answered {interrupt('ok?')}.")


def _chain(*nodes: Any) -> Any:
    builder = StateGraph(MessagesState)
    for node in nodes:
        builder.add_node(node)
    for before, behind in zip(("", *nodes), (*nodes, ""), strict=True):
        builder.add_edge(before.__name__ if before else START, behind.__name__ if behind else END)
    return builder.compile()


hearing = _chain(begin, hear, finish)
napping = _chain(begin, nap, finish)

_builder = StateGraph(MessagesState)
for _node in (ask, nap, finish):
    _builder.add_node(_node)
for _name in ("ask", "nap"):
    _builder.add_edge(START, _name)
_builder.add_edge(["ask", "nap"], "finish")
_builder.add_edge("finish", END)
asking = _builder.compile()


class Alarm(TypedDict, total=False):
    seconds: float
    rang: bool


def ring(state: Alarm) -> Alarm:
    sleep(state["seconds"])
    return {"rang": True}


_alarm = StateGraph(Alarm)
_alarm.add_node(ring)
_alarm.add_edge(START, "ring")
_alarm.add_edge("ring", END)
alarm = _alarm.compile()
