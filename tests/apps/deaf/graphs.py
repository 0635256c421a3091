"""A node that is no coroutine and works on for a minute: nobody can stop its thread."""

import os
import time
from pathlib import Path
from typing import TypedDict

from langgraph.graph import START, StateGraph


class State(TypedDict, total=False):
    done: bool


def work(state: State) -> State:
    Path(os.environ["REACHED"]).touch()
    time.sleep(60)
    return {"done": True}


graph = StateGraph(State).add_node("work", work).add_edge(START, "work").compile()
