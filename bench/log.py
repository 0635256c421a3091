"""What PostgreSQL itself can do on this machine: the limit of any log that is kept in it."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable

import psycopg

from bench.figures import Figures
from bench.stage import Stage

BATCH = 500
TABLE = """
CREATE TABLE IF NOT EXISTS bench_log (
    run_id uuid, seq bigint, attempt integer, name text, data text,
    created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (run_id, seq))
"""
INSERT = """
INSERT INTO bench_log (run_id, seq, attempt, name, data)
SELECT * FROM json_to_recordset(%s::json)
    AS e (run_id uuid, seq bigint, attempt integer, name text, data text)
"""
COPY = "COPY bench_log (run_id, seq, attempt, name, data) FROM STDIN"
READ = "SELECT seq, name, data FROM bench_log WHERE run_id = %s AND seq >= 0 ORDER BY seq"


async def measure(stage: Stage) -> Figures:
    return await asyncio.to_thread(_measure, stage)


def _measure(stage: Stage) -> Figures:
    with psycopg.connect(stage.bare_url, autocommit=True) as connection:
        connection.execute(TABLE)
        log = _Log(connection)
        figures = {
            **_commits(log, stage.scale.seconds / 2),
            "log.inserted_per_s": log.per_s(lambda: log.insert(BATCH), stage.scale.seconds / 2),
            "log.copied_per_s": log.per_s(lambda: log.copy(BATCH), stage.scale.seconds / 2),
            "log.read_10000_ms": 1000 * log.read(10_000),
        }
        connection.execute("DROP TABLE bench_log")
        return figures


def _commits(log: _Log, seconds: float) -> Figures:
    """One row each; what any event waits for at least."""
    per_s = log.per_s(lambda: log.insert(1), seconds)
    return {"log.commits_per_s": per_s, "log.commit_ms": 1000 / per_s}


class _Log:
    """Rows like those of a run's events."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._run = str(uuid.uuid4())
        self._seq = 0

    def per_s(self, write: Callable[[], int], seconds: float) -> float:
        """Rows in a second; each write is a commit."""
        began, rows = time.perf_counter(), 0
        while time.perf_counter() < began + seconds:
            rows += write()
        return rows / (time.perf_counter() - began)

    def insert(self, count: int) -> int:
        names = ("run_id", "seq", "attempt", "name", "data")
        rows = [dict(zip(names, row, strict=True)) for row in self._rows(count)]
        self._connection.execute(INSERT, (json.dumps(rows),))
        return count

    def copy(self, count: int) -> int:
        with self._connection.cursor() as cursor, cursor.copy(COPY) as copy:
            for row in self._rows(count):
                copy.write_row(row)
        return count

    def read(self, count: int) -> float:
        """Seconds to read one run's log."""
        self._run, self._seq = str(uuid.uuid4()), 0
        self.copy(count)
        before = time.perf_counter()
        assert len(self._connection.execute(READ, (self._run,)).fetchall()) == count
        return time.perf_counter() - before

    def _rows(self, count: int) -> list[tuple[str, int, int, str, str]]:
        first, self._seq = self._seq, self._seq + count
        data = '{"number": 1234, "token": "token 1234 ", "text": "%s"}' % ("x" * 100)
        return [(self._run, seq, 1, "custom", data) for seq in range(first, first + count)]
