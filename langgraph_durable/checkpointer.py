"""The saver of one run: reads are LangGraph's own, every write goes through the fenced writer.

One object per run, since the stock saver serialises its calls on one lock. A refused write ends
the attempt: a refusal alone would let the rest of the graph run on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from math import isfinite
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.base import id as checkpoint_ids
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, TASKS
from langgraph.types import Interrupt
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from langgraph_durable.errors import DurableError, InvalidRequest, StoreUnavailable
from langgraph_durable.eventlog.change import Change, RunLog, until_durable
from langgraph_durable.headers import hidden
from langgraph_durable.postgres import UNAVAILABLE, Row
from langgraph_durable.serde import clean, encode, name_messages
from langgraph_durable.store import waits
from langgraph_durable.store.checkpoints import NULL_TASK
from langgraph_durable.waits import is_wait

ERROR_SOURCE_NODE = "__error_source_node__"
"""LangGraph's name of the channel that says whose error a handler takes up."""

RETRY_SECONDS = (0.05, 0.2, 0.5, 1.0, 2.0)

Pool = AsyncConnectionPool[AsyncConnection[Row]]


class InFlight:
    """Writes handed to the writer and not yet durable; shared by all clones of a saver.

    ``untouched``: the thread had no checkpoints, and none has been handed over.
    """

    def __init__(self, *, untouched: bool = False) -> None:
        self.untouched = untouched
        self._futures: set[Future[None]] = set()

    def add(self, future: Future[None]) -> None:
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)

    async def settled(self) -> None:
        """Wait until everything handed over so far is durable or refused."""
        for future in list(self._futures):
            with suppress(Exception):  # whoever awaits the write itself is told
                await until_durable(future)


class FencedSaver(AsyncPostgresSaver):
    """A checkpointer whose writes carry one attempt's number, and no request ``headers``."""

    def __init__(
        self, pool: Pool, log: RunLog, headers: Collection[str] = (), *, untouched: bool = False
    ) -> None:
        super().__init__(cast(Any, pool))
        self._log = log
        self._headers = headers
        self.in_flight = InFlight(untouched=untouched)
        self._inputs: set[str] = set()
        """Input checkpoints: what stands on them is the request, not yet a node's work."""
        self.triggers: Collection[str] = ()
        """Channels that start a node of the graph when they are updated; none: not known."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """LangGraph's own read, tried again while the database is away.

        Raises StoreUnavailable when it stays away: the run is handed back, it has not failed.
        """
        if self.in_flight.untouched:
            return None
        for pause in (*RETRY_SECONDS, None):
            try:
                return await super().aget_tuple(config)
            except UNAVAILABLE as error:
                if pause is None:
                    raise StoreUnavailable from error
                await asyncio.sleep(pause)
        return None

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; returns when it is durable.

        That of an input does not wait: nothing is done on it before the next one, which comes at
        once and becomes durable with it. Nor does the last one: the run's end comes at once.
        """
        place = config["configurable"]
        thread_id, namespace = place["thread_id"], place["checkpoint_ns"]
        parent = place.get("checkpoint_id")
        if parent is not None and checkpoint["id"] <= parent:
            raise DurableError(f"checkpoint {checkpoint['id']} is not newer than its parent")
        self.in_flight.untouched = False
        given = metadata.get("source") == "input"
        if given:
            self._inputs.add(checkpoint["id"])
        inline, apart = _split(checkpoint["channel_values"])
        versions = {k: v for k, v in new_versions.items() if k in apart}
        stored = {**checkpoint, "channel_values": inline}
        shown = cast(RunnableConfig, hidden(config, self._headers))
        about = clean(get_serializable_checkpoint_metadata(shown, metadata))
        change = Change(
            log=self._log,
            blobs=self._dump_blobs(thread_id, namespace, apart, versions) if versions else [],
            checkpoints=[
                (thread_id, namespace, checkpoint["id"], parent, encode(stored), encode(about))
            ],
            fruitful=not {checkpoint["id"], parent} & self._inputs,
        )
        change.urgent = not given and not self._is_last(namespace, checkpoint)
        await self._store(change, waits=change.urgent)
        return {
            "configurable": {
                "thread_id": thread_id,
                "checkpoint_ns": namespace,
                "checkpoint_id": checkpoint["id"],
            }
        }

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store a task's writes, and since when it waits.

        Returns when they are durable, unless they are its result: nothing is done on that before
        the next checkpoint or the run's end, which become durable with it or behind it. A handler
        of a task's error begins only when that is on record.
        """
        place = config["configurable"]
        writes = _whole(writes)
        name_messages([value for _, value in writes])
        rows = self._dump_writes(
            place["thread_id"],
            place["checkpoint_ns"],
            place["checkpoint_id"],
            task_id,
            task_path,
            writes,
        )
        special = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        failed = any(channel in (ERROR, ERROR_SOURCE_NODE) for channel, _ in writes)
        finished = not special and task_id != NULL_TASK
        finished = finished and place["checkpoint_id"] not in self._inputs
        self.in_flight.untouched = False
        await self._store(
            Change(
                log=self._log,
                task_writes=[] if special else list(rows),
                special_writes=list(rows) if special else [],
                statements=[
                    waits.begin(self._log.run_id, each.id, each.value)
                    for each in _asked(writes)
                    if is_wait(each.value)
                ],
                fruitful=finished,
                urgent=failed,
            ),
            waits=special or failed,
        )

    def _is_last(self, namespace: str, checkpoint: Checkpoint) -> bool:
        """Does no node run behind it? LangGraph starts those whose channels were updated."""
        updated = checkpoint.get("updated_channels")
        if namespace or not updated or not self.triggers:
            return False
        return TASKS not in updated and not any(name in self.triggers for name in updated)

    async def adelete_thread(self, thread_id: str) -> None:
        """Refused: a run does not delete its own thread."""
        raise InvalidRequest("a graph cannot delete threads through its checkpointer")

    async def _store(self, change: Change, *, waits: bool = True) -> None:
        future = self._log.put(change)
        self.in_flight.add(future)
        if waits:
            await until_durable(future)


class LockedSaver(FencedSaver):
    """A checkpointer inside somebody's transaction, who holds the thread's lock."""

    def __init__(self, conn: AsyncConnection[Row]) -> None:
        AsyncPostgresSaver.__init__(self, cast(Any, conn))
        self._log = cast(Any, None)
        self._headers = ()
        self._inputs = set()
        self.triggers = ()
        self.in_flight = InFlight()
        self._transaction = conn

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """LangGraph's own read: a broken transaction is not tried again."""
        return await AsyncPostgresSaver.aget_tuple(self, config)

    async def _store(self, change: Change, *, waits: bool = True) -> None:
        await self._transaction.execute(*change.checkpoint_statement())


def _whole(writes: Sequence[tuple[str, Any]]) -> Sequence[tuple[str, Any]]:
    """A task that was cancelled hands over what it had written by then, and the cancel.

    Some of a result would pass for all of it in the next attempt: only the cancel is kept.
    """
    cancels = [
        (channel, value)
        for channel, value in writes
        if channel == ERROR and isinstance(value, asyncio.CancelledError)
    ]
    return cancels or writes


def _asked(writes: Sequence[tuple[str, Any]]) -> list[Interrupt]:
    found = [value for channel, value in writes if channel == INTERRUPT]
    return [each for value in found for each in (value if isinstance(value, Sequence) else [value])]


def _split(values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Channel values that Postgres takes inside a JSON checkpoint, and those that go as blobs.

    A string with a NUL or a lone surrogate, NaN and infinity are not JSON to Postgres; as blobs
    they survive unchanged.
    """
    inline: dict[str, Any] = {}
    apart: dict[str, Any] = {}
    for channel, value in values.items():
        if _is_delta_snapshot(value):
            inline[channel], apart[channel] = True, value
        elif _inlinable(value):
            inline[channel] = value
        else:
            apart[channel] = value
    return inline, apart


def _is_delta_snapshot(value: Any) -> bool:
    return type(value).__name__ == "_DeltaSnapshot"


def _inlinable(value: Any) -> bool:
    if type(value) is float:
        return isfinite(value)
    if type(value) is int:
        return -(2**63) <= value < 2**63
    if type(value) is str:
        return bool(clean(value) is value)
    return value is None or type(value) is bool


def raise_id_floor(checkpoint_id: str | None) -> None:
    """Make every checkpoint id of this process greater than ``checkpoint_id``.

    Ids are uuid6 of the process clock and a thread's head is its greatest id: a worker whose
    clock is behind would otherwise hide its own work behind a dead worker's.
    """
    if checkpoint_id is None:
        return
    floor = checkpoint_ids.UUID(checkpoint_id).time
    held: int | None = vars(checkpoint_ids)["_last_v6_timestamp"]
    if held is None or held < floor:
        setattr(checkpoint_ids, "_last_v6_timestamp", floor)  # noqa: B010
