"""What the graphs that are crashed everywhere are made of, and a journal of what they did."""

from __future__ import annotations

import asyncio
import json
import operator
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt

from langgraph_durable.ledger import current_ledger
from langgraph_durable.waits import sleep

WAITING = "waiting"
"""What a node tells its readers when it waits to be cancelled."""


class State(TypedDict, total=False):
    messages: Annotated[list[Any], add_messages]
    items: Annotated[list[str], operator.add]


class Journal:
    """What was really done, past the engine: lines of a file, which outlive their process."""

    def __init__(self) -> None:
        self._path = Path(os.environ.get("CRASH_POINTS_JOURNAL", os.devnull))

    def open(self, path: Path) -> None:
        self._path = path
        path.touch()

    def note(self, kind: str, what: str, **more: Any) -> None:
        place = get_config()["configurable"]
        line = {
            "kind": kind,
            "what": what,
            "run": str(place["run_id"]),
            "attempt": current_ledger()._log.attempt,
            "task": str(place.get("checkpoint_ns") or "").rpartition(":")[2],
            **more,
        }
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._path.read_text().splitlines()]


journal = Journal()


def does(name: str) -> Any:
    """A node."""

    async def node(state: State) -> State:
        journal.note("node", name)
        return {"items": [name]}

    return node


def asks(name: str) -> Any:
    """A node that asks a question of its own name."""

    async def node(state: State) -> State:
        answer = interrupt(name)
        journal.note("node", name)
        return {"items": [f"{name}={answer}"]}

    return node


async def waits(state: State) -> State:
    """A node that goes on for ever."""
    journal.note("node", "waits")
    get_stream_writer()(WAITING)
    await asyncio.Event().wait()
    return {}


async def naps(state: State) -> State:
    """A node whose run sleeps."""
    sleep(0.01)
    journal.note("node", "naps")
    return {"items": ["naps"]}


def wired(*steps: Mapping[str, Any]) -> Any:
    """Nodes side by side in each step, steps one behind the other."""
    builder, before = StateGraph(State), [START]
    for step in steps:
        for name, node in step.items():
            builder.add_node(name, node)
        for name in step:
            builder.add_edge(before if len(before) > 1 else before[0], name)
        before = list(step)
    for name in before:
        builder.add_edge(name, END)
    return builder


def named(*names: str) -> dict[str, Any]:
    return {name: does(name) for name in names}


def chain(*names: str) -> Any:
    return wired(*(named(name) for name in names)).compile()
