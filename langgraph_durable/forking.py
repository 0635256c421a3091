"""A conversation goes on from any of its turns: from an earlier one on a thread of its own."""

from __future__ import annotations

import uuid
from typing import Any

from psycopg import AsyncConnection

from langgraph_durable import threadstate
from langgraph_durable.errors import CheckpointNotFound, ThreadBusy
from langgraph_durable.graphs import GraphSource
from langgraph_durable.loops import GraphLoop
from langgraph_durable.model import Run, RunStatus, Ttl
from langgraph_durable.postgres import Row, transaction
from langgraph_durable.rotation import copy_statements
from langgraph_durable.serde import decode
from langgraph_durable.store import checkpoints, responses, runs, threads


async def thread_behind(
    place: GraphLoop, source: GraphSource | None, run: Run, *, ttl: Ttl | None
) -> str:
    """The id of a thread that stands where ``run`` left its own.

    That is its own thread while no later run has gone on there, else a new copy up to that point;
    of a thread that is soon swept always a copy. Raises RunNotFound, ThreadNotFound, ThreadBusy
    while the run has yet to end, CheckpointNotFound when its checkpoints have been pruned.
    """
    async with transaction(place.pool) as conn:
        thread = await threads.lock(conn, run.thread_id)
        later = await runs.lock_behind(conn, run)
        if later is None and not thread["temporary"]:
            return str(thread["thread_id"])
        if not RunStatus((await runs.lock(conn, run.run_id))["status"]).terminal:
            raise ThreadBusy("The run to go on from has not ended yet.")
        left = await _left_by(conn, thread, later)
        copy = await threads.insert_copy(
            conn, thread["thread_id"], str(uuid.uuid4()), ttl=ttl, behind=run.run_id
        )
        await responses.copy_items(conn, thread["thread_id"], copy.thread_id, whole=False)
        for statement, parameters in copy_statements(
            source=thread["checkpoint_thread_id"], name=copy.thread_id, entry=left
        ):
            await conn.execute(statement, parameters)
        if source is not None:
            await threadstate.settle(conn, place, source, copy, error=None)
        return copy.thread_id


async def _left_by(conn: AsyncConnection[Row], thread: Row, later: Row | None) -> dict[str, Any]:
    """What stood on the checkpoint thread when the later run began, or stands if it has not.

    A rotation copies checkpoints under the ids they have, so these are on the thread in use now.
    """
    source = thread["checkpoint_thread_id"]
    if later is None or not later["entry"]:
        return await checkpoints.entry(conn, source)
    left = dict(decode(later["entry"]))
    if left["head"] and not await checkpoints.exists(conn, source, "", left["head"]):
        raise CheckpointNotFound("The run's checkpoints have been pruned.")
    return left
