"""Everything the laws are checked against, gathered when all is over."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.chaos.doors.responses import numbered, response_id
from tests.chaos.lines import frames
from tests.chaos.timeline import Timeline
from tests.chaos.transcript import Transcript
from tests.logs import query

Row = dict[str, Any]
READ_SECONDS = 15.0

_RUNS = """
    SELECT run_id::text, thread_id, ticket, graph_id, strategy, status, attempt, crashes, next_seq,
           cancel_action, output, error, idempotency_key, metadata, hidden,
           extract(epoch FROM created_at)::float8 AS created_at,
           extract(epoch FROM started_at)::float8 AS started_at,
           extract(epoch FROM finished_at)::float8 AS finished_at
    FROM runs ORDER BY created_at"""
_EVENTS = """
    SELECT run_id::text, seq, attempt, name, data, task_id, checkpoint_id,
           extract(epoch FROM created_at)::float8 AS created_at
    FROM events ORDER BY run_id, seq"""
_CHECKPOINTS = """
    SELECT thread_id, checkpoint_ns AS ns, checkpoint_id AS id, parent_checkpoint_id AS parent,
           (metadata->>'step')::int AS step, metadata->>'run_id' AS run_id
    FROM checkpoints ORDER BY thread_id, checkpoint_ns, checkpoint_id"""
_CALLS = "SELECT key, run_id::text, attempt, tool, status, checkpoint_thread_id FROM tool_calls"
_THREADS = """
    SELECT thread_id, checkpoint_thread_id, status, "values", interrupts, active_run_id::text
    FROM threads"""


@dataclass
class Evidence:
    """Rows are dicts by column. ``states`` are threads as the LangGraph protocol tells them."""

    runs: dict[str, Row] = field(default_factory=dict)
    threads: dict[str, Row] = field(default_factory=dict)
    logs: dict[str, list[Row]] = field(default_factory=dict)
    checkpoints: list[Row] = field(default_factory=list)
    calls: list[Row] = field(default_factory=list)
    journal: list[Row] = field(default_factory=list)
    states: dict[str, Row] = field(default_factory=dict)
    transcripts: list[Transcript] = field(default_factory=list)
    timeline: Timeline = field(default_factory=Timeline)
    broken_clients: list[str] = field(default_factory=list)
    lease_seconds: float = 6.0

    def acknowledged(self) -> list[Transcript]:
        """Those whose run a server has promised."""
        return [t for t in self.transcripts if t.run_id is not None]


def read_database(found: Evidence, url: str) -> None:
    """All rows."""
    found.runs = {r["run_id"]: r for r in query(url, _RUNS)}
    found.threads = {r["thread_id"]: r for r in query(url, _THREADS)}
    found.checkpoints = query(url, _CHECKPOINTS)
    found.calls = query(url, _CALLS)
    found.logs = {run_id: [] for run_id in found.runs}
    for event in query(url, _EVENTS):
        found.logs[event["run_id"]].append(event)


def read_journal(found: Evidence, folder: Path) -> None:
    """All lines of all processes, by time; a last line that was cut off in the middle is none."""
    for file in folder.glob("*.jsonl"):
        for line in file.read_text().splitlines():
            found.journal.append(json.loads(line))
    found.journal.sort(key=lambda line: line["at"])


async def read_servers(found: Evidence, urls: Sequence[str]) -> None:
    """What servers tell now: every thread's state, every response's stream from its start."""
    places = asyncio.Semaphore(12)
    ended = {i for i, r in found.runs.items() if r["finished_at"] is not None}
    responses = [t for t in found.transcripts if t.door == "responses" and t.run_id in ended]
    async with httpx.AsyncClient(timeout=20) as http, asyncio.TaskGroup() as group:
        for number, thread_id in enumerate(found.threads):
            url = f"{urls[number % len(urls)]}/threads/{thread_id}/state"
            group.create_task(_within(places, _state(found, http, url, thread_id)))
        for number, told in enumerate(responses):
            name = response_id(str(told.run_id))
            url = f"{urls[number % len(urls)]}/v1/responses/{name}?stream=true"
            group.create_task(_within(places, _replay(told, http, url)))


async def _within(places: asyncio.Semaphore, reading: Coroutine[None, None, None]) -> None:
    """What cannot be read, or has no end, is not there."""
    async with places:
        with contextlib.suppress(httpx.HTTPError, TimeoutError):
            async with asyncio.timeout(READ_SECONDS):
                await reading


async def _state(found: Evidence, http: httpx.AsyncClient, url: str, thread_id: str) -> None:
    answer = await http.get(url)
    if answer.status_code == 200:
        found.states[thread_id] = answer.json()


async def _replay(told: Transcript, http: httpx.AsyncClient, url: str) -> None:
    async with http.stream("GET", url) as answer:
        if answer.status_code == 200:
            seen = [f async for f in frames(answer)]
            told.replay = [numbered(f) for f in seen if f.data != "[DONE]"]
