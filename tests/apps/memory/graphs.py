"""Graphs that remember in the store, and an embedding whose vectors count words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.config import get_store
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

SUBJECTS = ("cat", "dog", "sea")


def embed(texts: Sequence[str]) -> list[list[float]]:
    """How often each subject is named, and a little of everything."""
    return [[text.count(subject) + 0.01 for subject in SUBJECTS] for text in texts]


class Memory(TypedDict, total=False):
    user: str
    note: dict[str, Any]
    found: list[dict[str, Any]]


async def remember(state: Memory, runtime: Runtime[None]) -> Memory:
    assert runtime.store is not None
    place = ("users", state["user"])
    await runtime.store.aput(place, "from-a-node", state["note"])
    return {"found": [item.value for item in await runtime.store.asearch(place)]}


def remember_in_a_thread(state: Memory) -> Memory:
    store = get_store()
    place = ("users", state["user"])
    store.put(place, "from-a-node", state["note"])
    return {"found": [item.value for item in store.search(place)]}


def one(node: Any) -> Any:
    return StateGraph(Memory).add_node("remember", node).add_edge(START, "remember").compile()


memory = one(remember)
sync_memory = one(remember_in_a_thread)
