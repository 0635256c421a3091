"""Graphs that do nothing, so that only the server is measured."""

from __future__ import annotations

from typing import Any

from langgraph.config import get_stream_writer
from langgraph.graph import StateGraph
from typing_extensions import TypedDict


class Numbers(TypedDict, total=False):
    n: int


def echo(state: Numbers) -> Numbers:
    return {"n": state.get("n", 0)}


def emit(state: Numbers) -> Numbers:
    write = get_stream_writer()
    for number in range(state.get("n", 0)):
        write({"number": number})
    return {}


def _one(node: Any) -> Any:
    return StateGraph(Numbers).add_node("only", node).set_entry_point("only").compile()


echoes = _one(echo)
emits = _one(emit)
