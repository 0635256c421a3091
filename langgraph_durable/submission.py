"""How a run enters its thread's queue, and how one that nobody executes leaves it."""

from __future__ import annotations

import uuid
from typing import Any

from psycopg import AsyncConnection

from langgraph_durable.answers import bind
from langgraph_durable.errors import InvalidRequest, ThreadBusy, ThreadNotFound
from langgraph_durable.model import (
    Assistant,
    RecoveryStrategy,
    RunRequest,
    RunStatus,
    ThreadStatus,
)
from langgraph_durable.postgres import Row
from langgraph_durable.request import answers, stored
from langgraph_durable.serde import clean, decode, encode
from langgraph_durable.store import runs, threads
from langgraph_durable.threadstate import check_checkpoint


async def submit(
    conn: AsyncConnection[Row],
    request: RunRequest,
    *,
    run_id: str,
    assistant: Assistant,
    strategy: RecoveryStrategy,
) -> None:
    """Thread, run, first event and notification, in the caller's transaction."""
    if request.thread_id is None and answers(request):
        raise InvalidRequest("You must provide a thread_id when resuming.")
    thread = await _locked_thread(conn, request)
    if request.multitask == "reject" and await runs.open_of_thread(conn, thread["thread_id"]):
        raise ThreadBusy
    await check_checkpoint(conn, threads.as_thread(thread), request.checkpoint)
    ids = {"graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id}
    metadata = {**assistant.metadata, **request.metadata, **ids}
    ticket = await threads.take_ticket(
        conn,
        thread,
        metadata=request.thread_metadata,
        config=_public_config(request),
        graph_id=assistant.graph_id,
        assistant_id=assistant.assistant_id,
    )
    await runs.insert(
        conn,
        {
            "run_id": run_id,
            "thread_id": thread["thread_id"],
            "ticket": ticket,
            "assistant_id": assistant.assistant_id,
            "graph_id": assistant.graph_id,
            "strategy": strategy,
            "multitask": request.multitask,
            "temporary": request.thread_id is None,
            "metadata": metadata,
            "request": encode(stored(request)),
            "answer": _bound(request, thread),
        },
    )
    await runs.announce_work(conn)


async def _locked_thread(conn: AsyncConnection[Row], request: RunRequest) -> Row:
    thread_id = request.thread_id or str(uuid.uuid4())
    if request.thread_id is not None:
        try:
            return await threads.lock(conn, thread_id)
        except ThreadNotFound:
            if request.if_not_exists != "create":
                raise
    await threads.create(
        conn,
        thread_id,
        metadata=request.thread_metadata,
        if_exists="do_nothing",
        temporary=request.thread_id is None and not request.keep_thread,
    )
    return await threads.lock(conn, thread_id)


def _bound(request: RunRequest, thread: Row) -> str | None:
    if not answers(request):
        return None
    return encode(bind((request.command or {})["resume"], decode(thread["interrupts"])))


def _public_config(request: RunRequest) -> Any:
    return clean(dict(request.config))


async def end_waiting(conn: AsyncConnection[Row], thread: Row, run: Row) -> None:
    """End a run that waits for a worker, under both locks."""
    run_id = str(run["run_id"])
    await runs.end_unowned(
        conn, run, status=RunStatus.INTERRUPTED, error=None, crashes=run["crashes"]
    )
    started = thread["active_run_id"] is not None and str(thread["active_run_id"]) == run_id
    asks = decode(thread["interrupts"]) != {}
    await threads.settle(
        conn,
        thread["thread_id"],
        run_id=run_id,
        status=ThreadStatus.INTERRUPTED if started or asks else ThreadStatus.IDLE,
        error=None,
    )
    await runs.announce_end(conn, run_id)
