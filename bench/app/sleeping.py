"""A run that is a row and nothing else, until it is cancelled."""

from __future__ import annotations

from langgraph.graph import StateGraph
from typing_extensions import TypedDict

from langgraph_durable.waits import sleep


class Nothing(TypedDict, total=False):
    woken: bool


async def rest(state: Nothing) -> Nothing:
    sleep(3600)
    return {"woken": True}


sleeper = StateGraph(Nothing).add_node("rest", rest).set_entry_point("rest").compile()
