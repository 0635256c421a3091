"""Reading a checkpoint for decisions and for clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.pregel import Pregel
from langgraph.types import Interrupt, StateSnapshot

from langgraph_durable.changed import gone, gone_in_subgraphs
from langgraph_durable.recovery import Head, Task
from langgraph_durable.store.checkpoints import NULL_TASK
from langgraph_durable.unasked import questions

Graph = Pregel[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The newest checkpoint of a thread: what recovery needs, and LangGraph's own view."""

    head: Head
    state: StateSnapshot

    @classmethod
    def nothing(cls, config: RunnableConfig) -> Reading:
        """A thread without checkpoints."""
        state = StateSnapshot(
            values={},
            next=(),
            config=config,
            metadata=None,
            created_at=None,
            parent_config=None,
            tasks=(),
            interrupts=(),
        )
        return cls(head=Head(), state=state)


async def read_head(
    graph: Graph,
    saver: BaseCheckpointSaver[Any],
    config: RunnableConfig,
    *,
    run_id: str,
    baseline: str | None,
    checkpoint: Mapping[str, Any] | None,
) -> Reading:
    """Read the newest checkpoint, or the request's own while the newest is not this run's."""
    found = await saver.aget_tuple(config)
    mine = (
        found is not None
        and found.checkpoint["id"] != baseline
        and found.metadata.get("run_id") == run_id
    )
    if checkpoint and not mine:
        config = at_checkpoint(config, checkpoint)
        state = await graph.aget_state(config)
        head = _head(found, state, ())
        return Reading(head=head, state=state)
    state = await graph.aget_state(config, subgraphs=True)
    head = _head(found, state, await _last_nodes(saver, found))
    if found is not None:
        missing = gone(graph, found.checkpoint["channel_values"])
        head = replace(head, gone=[*missing, *await gone_in_subgraphs(graph, saver, state)])
    return Reading(head=head, state=state)


def at_checkpoint(config: RunnableConfig, checkpoint: Mapping[str, Any]) -> RunnableConfig:
    """``config`` at a checkpoint a client named, whatever thread id the client put there."""
    names = ("checkpoint_id", "checkpoint_ns", "checkpoint_map")
    place = {k: checkpoint[k] for k in names if checkpoint.get(k) is not None}
    return {**config, "configurable": {**config.get("configurable", {}), **place}}


def _head(found: CheckpointTuple | None, state: StateSnapshot, last: Sequence[str]) -> Head:
    if found is None:
        return Head()
    return Head(
        checkpoint_id=found.checkpoint["id"],
        run_id=found.metadata.get("run_id"),
        tasks=[
            Task(
                name=t.name,
                error=str(t.error) if t.error is not None else None,
                finished=t.result is not None,
                asks=bool(t.interrupts),
            )
            for t in state.tasks
        ],
        next=state.next,
        questions={i.id for i in state.interrupts},
        null_writes=sum(1 for w in found.pending_writes or () if w[0] == NULL_TASK),
        last_nodes=last,
        forked=found.metadata.get("source") == "fork",
    )


async def _last_nodes(
    saver: BaseCheckpointSaver[Any], found: CheckpointTuple | None
) -> Sequence[str]:
    """The nodes that ran in the step which led to this checkpoint."""
    if found is None or found.parent_config is None:
        return ()
    parent = await saver.aget_tuple(found.parent_config)
    before = parent.checkpoint["versions_seen"] if parent else {}
    seen = found.checkpoint["versions_seen"]
    return [node for node in seen if seen[node] != before.get(node) and node != "__interrupt__"]


def output_values(graph: Graph, values: Any) -> Any:
    """What the graph would stream as its ``values`` from a whole state.

    A function's state, or one without keys, is the value of one channel itself.
    """
    channels = graph.output_channels
    if channels == graph.stream_channels_asis:
        return values
    if isinstance(channels, str):
        return values.get(channels) if isinstance(values, dict) else values
    if not isinstance(values, dict):
        return values
    return {name: values[name] for name in channels if name in values}


def question(interrupt: Interrupt) -> dict[str, Any]:
    """A question as threads and states list it."""
    return {"id": interrupt.id, "value": interrupt.value}


def questions_by_task(state: StateSnapshot) -> dict[str, list[dict[str, Any]]]:
    """Open questions by task id, waits aside."""
    asked = {task.id: questions(task.interrupts) for task in state.tasks}
    return {task: [question(i) for i in found] for task, found in asked.items() if found}


def message_ids(values: Any) -> set[str]:
    """Ids of the messages a state holds."""
    return {m.id for m in _messages(values) if getattr(m, "id", None)}


def _messages(values: Any) -> list[Any]:
    found = values.get("messages") if isinstance(values, dict) else None
    return found if isinstance(found, list) else []


class FinishedTask(NamedTuple):
    """A task of the newest step that has a result, which its step has yet to apply."""

    namespace: tuple[str, ...]
    task_id: str
    node: str
    result: Any


def finished_tasks(state: StateSnapshot, namespace: tuple[str, ...] = ()) -> list[FinishedTask]:
    """Every finished task of the newest step, in task order, subgraphs included."""
    found: list[FinishedTask] = []
    for task in state.tasks:
        if task.result is not None:
            found.append(FinishedTask(namespace, task.id, task.name, task.result))
        elif isinstance(task.state, StateSnapshot):
            found += finished_tasks(task.state, (*namespace, f"{task.name}:{task.id}"))
    return found


def pending_tool_calls(values: Any) -> list[str]:
    """Ids of the newest AI message's tool calls that no tool message answers yet."""
    messages = _messages(values)
    answered = {getattr(m, "tool_call_id", None) for m in messages}
    for message in reversed(messages):
        if calls := getattr(message, "tool_calls", None):
            return [c["id"] for c in calls if c["id"] not in answered]
    return []
