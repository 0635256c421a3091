"""Shapes that several recordings share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.contract.matching import SOME, TIME, Matches
from tests.contract.recordings.calls import Call, Frames, get, post, split

DETAIL = {"detail": SOME}
NOBODY = "00000000-0000-4000-8000-000000000000"
UUID = Matches(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
AGENT_ID = "fe096781-5601-53d2-b2f6-0d3403f7e9ca"
ADD = {"messages": [{"role": "user", "content": "add", "id": "m1"}]}
HUMAN = {"type": "human", "content": "add", "id": "m1", "name": None}
CALL = {"name": "add", "args": {"a": 2, "b": 3}, "id": "call_1", "type": "tool_call"}
ASKING = {"type": "ai", "content": "", "id": str, "tool_calls": [CALL], "invalid_tool_calls": []}
TOOL = {"type": "tool", "content": "5", "name": "add", "tool_call_id": "call_1", "id": str}
TOLD = {"type": "ai", "content": "The answer is 5", "id": str, "tool_calls": []}
AGENT_RESULT = {"messages": [HUMAN, ASKING, TOOL, TOLD]}
FRESH_THREAD = {
    "thread_id": UUID,
    "created_at": TIME,
    "updated_at": TIME,
    "state_updated_at": TIME,
    "metadata": {},
    "status": "idle",
    "config": {},
    "values": None,
}
EMPTY_STATE: dict[str, Any] = {
    "values": {},
    "next": [],
    "tasks": [],
    "metadata": None,
    "created_at": None,
    "checkpoint": None,
    "parent_checkpoint": None,
    "interrupts": [],
    "checkpoint_id": None,
    "parent_checkpoint_id": None,
}
RUN = {
    "run_id": UUID,
    "thread_id": "{thread}",
    "assistant_id": AGENT_ID,
    "created_at": TIME,
    "updated_at": TIME,
    "metadata": {"assistant_id": AGENT_ID},
    "kwargs": {"input": ADD, "command": None, "stream_mode": ["values"], "subgraphs": False},
    "multitask_strategy": "enqueue",
}
ERROR = {"error": "ValueError", "message": "boom at 2"}
QUESTION = {"value": {"question": "approve?", "request": "pay"}, "id": str}
LISTED_QUESTION = {"id": str, "value": {"question": "approve?", "request": "pay"}}
JSON = "application/json"
SSE = "text/event-stream; charset=utf-8"


def state_of(values: Any, *, following: Sequence[str] = (), tasks: Any = ...) -> dict[str, Any]:
    place = {"checkpoint_id": str, "thread_id": "{thread}", "checkpoint_ns": ""}
    return {
        "values": values,
        "next": list(following),
        "tasks": tasks,
        "metadata": {"source": str, "step": int, "parents": {}},
        "created_at": TIME,
        "checkpoint": place,
        "parent_checkpoint": ...,
        "checkpoint_id": str,
        "interrupts": list,
    }


def new_thread(seen: str = "") -> Call:
    return post("/threads", {}, shape=FRESH_THREAD, keep={"thread": "thread_id"}, seen=seen)


def stream(graph: str, modes: Any, frames: Frames, given: Any = None, **more: Any) -> Call:
    """A streamed run of the kept thread; the metadata frame is understood and its run kept."""
    said, asked = split({"keep": {"run": "0.data.run_id"}, **more})
    body = {"assistant_id": graph, "stream_mode": modes, "input": given, **asked}
    return post(
        "/threads/{thread}/runs/stream",
        {k: v for k, v in body.items() if v is not None},
        frames=[("metadata", {"run_id": UUID, "attempt": 1}), *frames],
        headers={"content-type": SSE, "cache-control": "no-store", "x-accel-buffering": "no"},
        **said,
    )


def wait(graph: str, shape: Any, given: Any = None, **more: Any) -> Call:
    said, asked = split(more)
    body = {"assistant_id": graph, "input": given, **asked}
    sent = {k: v for k, v in body.items() if v is not None}
    return post("/threads/{thread}/runs/wait", sent, shape=shape, **said)


def create(graph: str, given: Any, **more: Any) -> Call:
    """A run in the background on the kept thread."""
    said, asked = split({"keep": {"run": "run_id"}, "shape": {"run_id": UUID}, **more})
    shape = asked.pop("shape")
    body = {"assistant_id": graph, "input": given, **asked}
    sent = {k: v for k, v in body.items() if v is not None}
    return post("/threads/{thread}/runs", sent, shape=shape, **said)


def run_is(status: Any, seen: str = "", **expected: Any) -> Call:
    """The kept run, at this status."""
    shape = {"run_id": "{run}", "thread_id": "{thread}", "status": status}
    return get("/threads/{thread}/runs/{run}", shape=shape, seen=seen, **expected)


def gone(seen: str = "", **expected: Any) -> Call:
    """The kept run is not there."""
    path = "/threads/{thread}/runs/{run}"
    return get(path, status=404, shape=DETAIL, seen=seen, **expected)
