"""Thread states as clients read and edit them: LangGraph's own view, on a loop for user code."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.types import StateSnapshot, StateUpdate

from langgraph_durable.bare_state import read_bare_history, read_bare_state
from langgraph_durable.checkpointer import LockedSaver, raise_id_floor
from langgraph_durable.errors import CheckpointNotFound, DurableError, InvalidRequest, ThreadBusy
from langgraph_durable.graphs import GraphSource
from langgraph_durable.loops import GraphLoop
from langgraph_durable.model import RunRequest, Thread, ThreadStatus, Ttl
from langgraph_durable.postgres import Row, reaching, transaction
from langgraph_durable.recorder import INTERRUPT
from langgraph_durable.request import as_command, client_configurable
from langgraph_durable.serde import encode
from langgraph_durable.snapshot import (
    Graph,
    at_checkpoint,
    output_values,
    question,
    questions_by_task,
)
from langgraph_durable.store import checkpoints, runs, threads
from langgraph_durable.unasked import questions, without_waits

READ = "threads.read"
UPDATE = "threads.update"


def _config(thread: Thread) -> RunnableConfig:
    configurable = {
        **client_configurable(thread.config),  # of its last run: factories may need it
        "thread_id": thread.checkpoint_thread_id,
        "conversation_id": thread.thread_id,
        "checkpoint_ns": "",
    }
    return {"configurable": configurable}


@asynccontextmanager
async def _graph(
    place: GraphLoop, source: GraphSource, config: RunnableConfig, saver: Any, access: str
) -> AsyncIterator[Graph]:
    async with source.read(config, access=access) as opened:
        yield opened.copy(update={"checkpointer": saver, "store": place.store})


async def read_state(
    place: GraphLoop,
    source: GraphSource | None,
    thread: Thread,
    *,
    checkpoint: Mapping[str, Any] | None,
    subgraphs: bool,
) -> StateSnapshot | None:
    """The state at the newest checkpoint or at a named one. None without a graph and a state."""
    config = at_checkpoint(_config(thread), checkpoint or {})
    if source is None:
        return await read_bare_state(place, config)
    saver = AsyncPostgresSaver(place.pool)
    async with _graph(place, source, config, saver, READ) as graph:
        with reaching():
            return without_waits(await graph.aget_state(config, subgraphs=subgraphs))


async def read_history(
    place: GraphLoop,
    source: GraphSource | None,
    thread: Thread,
    *,
    limit: int,
    before: RunnableConfig | None,
    metadata: Mapping[str, Any] | None,
    checkpoint: Mapping[str, Any] | None,
) -> list[StateSnapshot]:
    """States newest first."""
    config = at_checkpoint(_config(thread), checkpoint or {})
    config["configurable"].pop("checkpoint_id", None)
    if source is None:
        return await read_bare_history(place, config, limit=limit, before=before, metadata=metadata)
    saver = AsyncPostgresSaver(place.pool)
    async with _graph(place, source, config, saver, READ) as graph:
        states = graph.aget_state_history(
            config, filter=dict(metadata or {}) or None, before=before, limit=limit
        )
        with reaching():
            return [without_waits(state) async for state in states]


async def edit_state(
    place: GraphLoop,
    source: GraphSource,
    thread_id: str,
    values: Any,
    *,
    as_node: str | None,
    checkpoint: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Write a new checkpoint by hand, under the thread's lock, in one transaction.

    Answers ``{"thread_id", "checkpoint_ns", "checkpoint_id"}``, the thread id being the public one.

    Raises:
        ThreadBusy: a run waits or runs on the thread.
        InvalidRequest: the graph does not take the update.
    """
    async with transaction(place.pool) as conn:
        thread = threads.as_thread(await threads.lock(conn, thread_id))
        if await runs.open_of_thread(conn, thread.thread_id):
            raise ThreadBusy
        await check_checkpoint(conn, thread, checkpoint)
        raise_id_floor(await checkpoints.greatest(conn, thread.checkpoint_thread_id))
        config = at_checkpoint(_config(thread), checkpoint or {})
        saver = LockedSaver(conn)
        async with _graph(place, source, config, saver, UPDATE) as graph:
            with _graph_errors():
                written = await graph.aupdate_state(config, values, as_node=as_node)
            await _settle(conn, graph, thread)
        place_ = written["configurable"]
        return {
            "thread_id": thread.thread_id,
            "checkpoint_ns": place_.get("checkpoint_ns", ""),
            "checkpoint_id": place_["checkpoint_id"],
        }


async def create_with(
    place: GraphLoop,
    source: GraphSource,
    thread_id: str,
    supersteps: Sequence[Sequence[Mapping[str, Any]]],
    *,
    metadata: Mapping[str, Any],
    if_exists: str,
    ttl: Ttl | None,
) -> Thread:
    """A thread made of supersteps, in one transaction. Raises InvalidRequest, ThreadExists."""
    steps = [[_state_update(update) for update in step] for step in supersteps]
    async with transaction(place.pool) as conn:
        thread = await threads.create(
            conn, thread_id, metadata=metadata, if_exists=if_exists, ttl=ttl
        )
        if thread.values is not None:
            return thread
        await threads.lock(conn, thread.thread_id)
        config = _config(thread)
        async with _graph(place, source, config, LockedSaver(conn), UPDATE) as graph:
            with _graph_errors():
                await graph.abulk_update_state(config, steps)
            await _settle(conn, graph, thread)
        return await threads.get(conn, thread.thread_id)


def _state_update(update: Mapping[str, Any]) -> StateUpdate:
    values = update.get("values")
    if update.get("command"):
        command = RunRequest(assistant="", command=update["command"])
        values = as_command(command, {}, edit=True)
    return StateUpdate(values, update.get("as_node"))


@contextmanager
def _graph_errors() -> Iterator[None]:
    """What a graph's own reducers and writers raise is the request's fault, not the server's."""
    try:
        yield
    except (DurableError, psycopg.Error):
        raise
    except Exception as error:
        raise InvalidRequest(_reason(error)) from error


async def settle(
    conn: psycopg.AsyncConnection[Row],
    place: GraphLoop,
    source: GraphSource,
    thread: Thread,
    *,
    error: str | None,
) -> None:
    """Let a locked thread's row tell what its newest checkpoint does, and of an ``error``."""
    async with _graph(place, source, _config(thread), LockedSaver(conn), READ) as graph:
        await _settle(conn, graph, thread, error)


async def _settle(conn: Any, graph: Graph, thread: Thread, error: str | None = None) -> None:
    state = await graph.aget_state(_config(thread))
    by_task = questions_by_task(state)
    waits = bool(state.next or by_task)
    settled = ThreadStatus.INTERRUPTED if waits else ThreadStatus.IDLE
    values = encode(output_values(graph, state.values))
    await threads.set_state(
        conn,
        thread.thread_id,
        values=None if state.created_at is None else values,
        interrupts=by_task,
        status=ThreadStatus.ERROR if error else settled,
        error=error,
    )


def before_config(before: Mapping[str, Any] | str | None) -> RunnableConfig | None:
    """A history bound in any of its three forms: an id, a checkpoint, a whole config."""
    if not before:
        return None
    place = before if isinstance(before, str) else before.get("configurable") or before
    checkpoint_id = place if isinstance(place, str) else place.get("checkpoint_id")
    return {"configurable": {"checkpoint_id": checkpoint_id}} if checkpoint_id else None


def _reason(error: Exception) -> str:
    return str(error.args[0]) if error.args else type(error).__name__


async def asked_at(
    conn: psycopg.AsyncConnection[Row], thread: Thread, checkpoint: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The questions that stand at a checkpoint a client named."""
    stands = await LockedSaver(conn).aget_tuple(at_checkpoint(_config(thread), checkpoint))
    writes = (stands and stands.pending_writes) or ()
    found = [one for _, name, asked in writes if name == INTERRUPT for one in asked]
    return [question(one) for one in questions(found)]


async def check_checkpoint(conn: Any, thread: Thread, checkpoint: Mapping[str, Any] | None) -> None:
    """Raise CheckpointNotFound when a client names a checkpoint its thread does not have."""
    if not checkpoint or not checkpoint.get("checkpoint_id"):
        return
    if not await checkpoints.exists(
        conn,
        thread.checkpoint_thread_id,
        checkpoint.get("checkpoint_ns") or "",
        checkpoint["checkpoint_id"],
    ):
        raise CheckpointNotFound(f"Checkpoint {checkpoint['checkpoint_id']} not found")
