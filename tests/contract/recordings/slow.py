"""Runs of the graph ``slow`` on a thread that has five steps behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.contract.recordings.calls import Call, get, post
from tests.contract.recordings.shapes import wait

HOUR = 3600
RUN_PATH = "/threads/{thread}/runs/{run}"
WATCHED = f"{RUN_PATH}/stream?cancel_on_disconnect=false&stream_mode="
WHOLE = ("", "n5", "n4", "n3", "n2", "n1", "__start__")
"""What is next at the checkpoints of one whole run, the newest first."""
ONE_STEP = WHOLE[-3:]
At = Callable[..., str]


def seen_from(file: str, first: int) -> At:
    """Numbers of recorded exchanges, counted from a first one."""
    return lambda *numbers: " ".join([file, *(str(first + number) for number in numbers)])


def steps(tag: str, count: int = 5) -> list[str]:
    return [f"{tag}{number}" for number in range(1, count + 1)]


def updates(tag: str, count: int = 5) -> list[tuple[str, Any]]:
    """The frames of that many steps."""
    told = enumerate(steps(tag, count), 1)
    return [("updates", {f"n{number}": {"steps": [step]}}) for number, step in told]


def base(seen: str) -> Call:
    """The five steps."""
    shape = {"tag": "base", "steps": steps("base")}
    return wait("slow", shape, {"tag": "base", "delay": 0.01}, seen=seen)


def runs(shape: Sequence[Any], seen: str, **expected: Any) -> Call:
    """The thread's runs, newest first."""
    path = "/threads/{thread}/runs?limit=10&select=run_id&select=status&select=multitask_strategy"
    return get(path, shape=list(shape), seen=seen, **expected)


def history(nexts: Iterable[str], seen: str, **expected: Any) -> Call:
    """The thread's checkpoints, newest first."""
    shape = [{"next": [each] if each else []} for each in nexts]
    return post("/threads/{thread}/history", {"limit": 30}, shape=shape, seen=seen, **expected)
