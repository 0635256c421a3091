"""One thread's life through crashes: every turn is asked and followed to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import dict_row

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import RunNotCancellable
from langgraph_durable.eventlog.batch import Group
from langgraph_durable.model import Cursor, Event, RunRequest, Thread
from langgraph_durable.serde import decode
from tests.crash.mortal import Crash, Doom, MortalWriter, Row
from tests.crash.nodes import WAITING, journal
from tests.crash.programs import Program, Turn

_COLUMNS = ("seq", "attempt", "name", "data", "task_id", "checkpoint_id")
_LOG = f"SELECT {', '.join(_COLUMNS)} FROM events WHERE run_id = %s ORDER BY seq"
_FREE = """
UPDATE runs SET lease_expires_at = clock_timestamp() WHERE run_id = %s AND status = 'running'
RETURNING pg_notify('langgraph_durable', 'work')"""
_FINISHED = """
SELECT DISTINCT w.task_id FROM checkpoint_writes w
JOIN threads t ON t.checkpoint_thread_id = w.thread_id
JOIN checkpoints c ON (c.thread_id, c.checkpoint_ns, c.checkpoint_id)
    = (w.thread_id, w.checkpoint_ns, w.checkpoint_id)
WHERE t.thread_id = %s AND w.idx >= 0 AND w.task_path NOT LIKE '%%\\_\\_start\\_\\_%%'
  AND w.task_id <> '00000000-0000-0000-0000-000000000000'"""


class Eye:
    """The database past the engine."""

    def __init__(self, url: str) -> None:
        options = "-c search_path=langgraph_durable"
        self._conn = psycopg.connect(url, options=options, autocommit=True, row_factory=dict_row)

    def rows(self, statement: Any, *parameters: Any) -> list[Row]:
        return self._conn.execute(statement, parameters).fetchall()

    def log(self, run_id: str) -> list[Row]:
        return self.rows(_LOG, run_id)

    def finished(self, thread_id: str) -> set[str]:
        """Tasks whose results are durable on the thread's checkpoints."""
        return {row["task_id"] for row in self.rows(_FINISHED, thread_id)}

    def kill(self, group: Group, change: str) -> Crash:
        """The owner of this attempt is gone: what it leaves behind is free for everybody."""
        crash = self.crash(group.log.run_id, change)
        self.rows(_FREE, group.log.run_id)
        return crash

    def crash(self, run_id: str, change: str) -> Crash:
        """What there is of a run whose owner has just died."""
        [run] = self.rows("SELECT * FROM runs WHERE run_id = %s", run_id)
        return Crash(
            run_id=run_id,
            attempt=run["attempt"],
            change=change,
            running=run["status"] == "running",
            fruitful=run["fruitful"],
            log=self.log(run_id),
            finished=self.finished(run["thread_id"]),
        )

    def close(self) -> None:
        self._conn.close()


@dataclass(kw_only=True)
class Life:
    """What is there when all turns have ended. ``seen`` is what a follower has seen, by run."""

    program: Program
    rotates: bool
    doom: Doom
    runs: list[Row] = field(default_factory=list)
    logs: dict[str, list[Row]] = field(default_factory=dict)
    seen: dict[str, list[Row]] = field(default_factory=dict)
    late: dict[str, list[Row]] = field(default_factory=dict)
    thread: Thread | None = None
    state: Any = None
    finished: set[str] = field(default_factory=set)
    done: list[Row] = field(default_factory=list)


async def live(
    engine: DurableEngine, eye: Eye, program: Program, thread_id: str, doom: Doom, *, rotates: bool
) -> Life:
    """Ask every turn in order and follow it to its end."""
    MortalWriter.dooms[thread_id] = doom
    life = Life(program=program, rotates=rotates, doom=doom)
    for turn in program.turns:
        run = await engine.submit(await _request(engine, thread_id, turn))
        life.seen[run.run_id] = await followed(engine, run.run_id, turn)
    await read(engine, eye, life, thread_id)
    return life


async def read(engine: DurableEngine, eye: Eye, life: Life, thread_id: str) -> None:
    """All that the laws ask for."""
    life.runs = eye.rows(
        "SELECT run_id::text, status, attempt, crashes, next_seq, error, output"
        " FROM runs WHERE thread_id = %s ORDER BY ticket",
        thread_id,
    )
    for run in life.runs:
        run_id = run["run_id"]
        life.logs[run_id] = eye.log(run_id)
        half = next((len(c.log) for c in life.doom.crashes if c.run_id == run_id), 0)
        batches = engine.batches(run_id, Cursor(half - 1))
        life.late[run_id] = [_row(event) async for batch in batches for event in batch]
    life.thread, life.state = await engine.thread(thread_id), await engine.state(thread_id)
    life.finished = eye.finished(thread_id)
    life.done = [line for line in journal.lines() if line["run"] in life.logs]


def request(thread_id: str, turn: Turn, *, graph: str = "agent", **more: Any) -> RunRequest:
    """A turn as a client asks for it."""
    wish = {"stream_modes": ("values", "updates"), **turn.wish, **more}
    return RunRequest(assistant=graph, thread_id=thread_id, if_not_exists="create", **wish)


async def _request(engine: DurableEngine, thread_id: str, turn: Turn) -> RunRequest:
    if turn.answers is not None:
        thread = await engine.thread(thread_id)
        ids = {q["value"]: q["id"] for listed in thread.interrupts.values() for q in listed}
        resume = {ids[question]: answer for question, answer in turn.answers.items()}
        return request(thread_id, turn, command={"resume": resume})
    return request(thread_id, turn)


async def followed(engine: DurableEngine, run_id: str, turn: Turn) -> list[Row]:
    """All that a follower sees; it cancels a run that waits for that."""
    seen: list[Row] = []
    async with asyncio.timeout(20):
        async for batch in engine.batches(run_id):
            seen += map(_row, batch)
            if turn.cancels and _waits(batch):
                with suppress(RunNotCancellable):
                    await engine.cancel(run_id, action=turn.cancels)
    return seen


def _waits(batch: Iterable[Event]) -> bool:
    return any(event.mode == "custom" and decode(event.data) == WAITING for event in batch)


def _row(event: Event) -> Row:
    return {name: getattr(event, name) for name in _COLUMNS}
