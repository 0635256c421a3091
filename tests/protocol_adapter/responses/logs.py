"""Runs and their logs, written by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from langgraph_durable.model import Event, RecoveryStrategy, Run, RunStatus
from langgraph_durable.serde import encode
from protocol_adapter.responses.objects import head_of
from protocol_adapter.responses.stream import Fold, Frame

RUN_ID = "0190a0b0-0000-7000-8000-000000000001"
RESPONSE_ID = "resp_0190a0b0000070008000000000000001"
CREATED = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
FINISHED = datetime(2026, 11, 30, 12, 0, 9, tzinfo=UTC)
CREATED_AT = int(CREATED.timestamp())
FINISHED_AT = int(FINISHED.timestamp())


def a_run(**changes: Any) -> Run:
    """A finished background run of graph ``agent``; ``door`` becomes its ``door_data``."""
    door = {"background": False, **changes.pop("door", {})}
    values: dict[str, Any] = {
        "run_id": RUN_ID,
        "thread_id": RESPONSE_ID,
        "conversation_id": RESPONSE_ID,
        "assistant_id": "a",
        "graph_id": "agent",
        "status": RunStatus.SUCCESS,
        "attempt": 1,
        "crashes": 0,
        "multitask": "enqueue",
        "temporary": False,
        "strategy": RecoveryStrategy.AGENT_SESSION,
        "metadata": {},
        "request": {"door_data": door},
        "cancel_action": None,
        "next_seq": 0,
        "output": None,
        "error": None,
        "created_at": CREATED,
        "updated_at": CREATED,
        "started_at": CREATED,
        "finished_at": FINISHED,
    }
    return Run(**{**values, **changes})


class Log:
    """Appends events as the engine would: dense numbers, JSON text."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.attempt = 1
        self.add("created", {"run_id": RUN_ID})

    def add(self, name: str, data: Any, task_id: str | None = None) -> Log:
        event = Event(
            run_id=RUN_ID,
            seq=len(self.events),
            attempt=self.attempt,
            name=name,
            data=encode(data),
            task_id=task_id,
        )
        self.events.append(event)
        return self

    def start(self) -> Log:
        return self.add("started", {"attempt": 1})

    def message(self, message: dict[str, Any], at: str = "model:t1") -> Log:
        namespace = "|".join(at.split("|")[:-1])
        name = f"messages|{namespace}" if namespace else "messages"
        return self.add(name, [message, {"langgraph_checkpoint_ns": at}])

    def says(self, name: str, *words: str, at: str = "model:t1", last: bool = True) -> Log:
        """Chunks of one message; the last one says so."""
        for index, word in enumerate(words):
            position = "last" if last and index == len(words) - 1 else None
            self.message(chunk(name, word, chunk_position=position), at)
        return self

    def updates(self, node: str, *messages: dict[str, Any], task: str = "t1") -> Log:
        return self.add("updates", {node: {"messages": list(messages)}}, task)

    def recovered(self, attempt: int = 2, **changes: Any) -> Log:
        self.attempt = attempt
        data = {
            "attempt": attempt,
            "strategy": "agent_session",
            "reason": "crash",
            "conversation_id": RESPONSE_ID,
            "values": None,
            "open_tool_call_ids": [],
        }
        return self.add("recovered", {**data, **changes})

    def end(self, status: str = "success", **changes: Any) -> Log:
        return self.add("end", {"status": status, "error": None, "interrupts": [], **changes})


def chunk(name: str, text: Any = "", **fields: Any) -> dict[str, Any]:
    return {"type": "AIMessageChunk", "id": name, "content": text, **fields}


def call_chunk(
    name: str,
    args: str,
    *,
    call_id: str | None = None,
    tool: str | None = None,
    index: int = 0,
    last: bool = False,
) -> dict[str, Any]:
    piece = {"id": call_id, "name": tool, "args": args, "index": index}
    return chunk(name, tool_call_chunks=[piece], chunk_position="last" if last else None)


def ai(name: str, text: Any = "", **fields: Any) -> dict[str, Any]:
    return {"type": "ai", "id": name, "content": text, **fields}


def call(call_id: str, tool: str = "add", **args: Any) -> dict[str, Any]:
    return {"id": call_id, "name": tool, "args": args, "type": "tool_call"}


def tool(call_id: str, content: Any, **fields: Any) -> dict[str, Any]:
    head = {"type": "tool", "id": f"tm_{call_id}", "name": "add", "tool_call_id": call_id}
    return {**head, "content": content, "status": "success", **fields}


def told(log: Log, run: Run | None = None) -> list[Frame]:
    """Every frame of ``log``, folded event by event."""
    run = run or a_run()
    fold = Fold(head_of(run))
    return [frame for event in log.events for frame in fold.feed(event, run)]


def kinds(frames: list[Frame]) -> list[str]:
    """The frames' types without ``response.``, repeated deltas once."""
    names = [frame["type"].removeprefix("response.") for frame in frames]
    return [n for i, n in enumerate(names) if not (n.endswith("delta") and names[i - 1] == n)]
