"""A run is deleted with its log and its checkpoints; its thread stands where it was before."""

from __future__ import annotations

from psycopg import AsyncConnection

from langgraph_durable import threadstate
from langgraph_durable.errors import InvalidRequest, ThreadBusy
from langgraph_durable.graphs import GraphSource
from langgraph_durable.loops import GraphLoop
from langgraph_durable.model import Run, RunStatus
from langgraph_durable.postgres import Row, transaction
from langgraph_durable.rotation import forgetting_statements
from langgraph_durable.serde import decode
from langgraph_durable.store import checkpoints, runs, threads

Connection = AsyncConnection[Row]


async def forget_run(place: GraphLoop, source: GraphSource | None, run: Run) -> None:
    """Delete a run that has ended.

    ``source`` reads what state is left; without it the thread's row goes on telling what it told.

    Raises:
        RunNotFound: it is gone already.
        ThreadBusy: it has not ended, or another run of its thread has begun and not ended.
        InvalidRequest: checkpoints of later runs need those of this one.
    """
    async with transaction(place.pool) as conn:
        thread = await threads.lock(conn, run.thread_id)
        row = await runs.lock(conn, run.run_id)
        if not RunStatus(row["status"]).terminal:
            raise ThreadBusy("The run has not ended; cancel it first.")
        await _check(conn, thread["thread_id"])
        await _forget(conn, thread, row)
        if source is not None:
            error = await _error_left(conn, thread, row)
            await threadstate.settle(conn, place, source, threads.as_thread(thread), error=error)
        await runs.announce_end(conn, run.run_id)


async def _check(conn: Connection, thread_id: str) -> None:
    """A run that has begun goes on, after a crash too, from checkpoints of the ones before it."""
    for run in await runs.open_of_thread(conn, thread_id):
        if run["attempt"]:
            raise ThreadBusy("Another run of the thread has begun and not ended.")


async def _forget(conn: Connection, thread: Row, run: Row) -> None:
    run_id, ids = str(run["run_id"]), await threads.checkpoint_ids(conn, thread["thread_id"])
    if await checkpoints.built_upon(conn, ids, run_id):
        raise InvalidRequest("A later run's checkpoints tell only what changed since this one's.")
    for statement, parameters in forgetting_statements(
        run_id=run_id,
        ids=ids,
        checkpoint_thread_id=thread["checkpoint_thread_id"],
        entry=decode(run["entry"]) if run["entry"] else None,
    ):
        await conn.execute(statement, parameters)
    await runs.delete(conn, run_id)


async def _error_left(conn: Connection, thread: Row, gone: Row) -> str | None:
    """The error a thread tells of, JSON text: as before, unless the forgotten run ended last."""
    last = await runs.last_ended(conn, thread["thread_id"])
    if last is not None and last["finished_at"] > gone["finished_at"]:
        return str(thread["error"]) if thread["error"] else None
    failed = last is not None and last["status"] in (RunStatus.ERROR, RunStatus.TIMEOUT)
    return str(last["error"]) if last is not None and failed and last["error"] else None
