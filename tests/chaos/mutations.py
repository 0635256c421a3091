"""Breaking a copy of the product on purpose, to see whether the laws notice.

Each mutation is a list of replacements in source files; one that no longer fits fails loudly.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.servers import ROOT

Edit = tuple[str, str, str]

_FENCE: list[Edit] = [
    (
        "langgraph_durable/sql/migrations/0012_write_batch.sql",
        "IF held <> json_array_length(attempts) THEN",
        "IF held < 0 THEN",
    ),
]
"""Whoever believes to own a run writes."""

_EARLY_ACK: list[Edit] = [
    (
        "langgraph_durable/engine/runs.py",
        "async with single(self._machinery.pool) as conn:\n            return",
        "async with _early(self._machinery.pool) as conn:\n            return",
    ),
    (
        "langgraph_durable/engine/runs.py",
        "async with transaction(self._machinery.pool) as conn:\n            assistant =",
        "async with _early(self._machinery.pool) as conn:\n            assistant =",
    ),
    (
        "langgraph_durable/engine/runs.py",
        "class Runs(Started):",
        """class _early:
    def __init__(self, pool):
        self._transaction = transaction(pool)

    async def __aenter__(self):
        return await self._transaction.__aenter__()

    async def __aexit__(self, *raised):
        if raised[0] is not None:
            return await self._transaction.__aexit__(*raised)
        task = asyncio.create_task(self._commit())
        _commits.add(task)
        task.add_done_callback(_commits.discard)

    async def _commit(self):
        await asyncio.sleep(0.15)
        with suppress(Exception):
            await self._transaction.__aexit__(None, None, None)


_commits = set()


class Runs(Started):""",
    ),
]
"""A submit is answered a moment before its transaction commits."""

_BLIND_RESTART: list[Edit] = [
    (
        "langgraph_durable/sql/migrations/0001_initial.sql",
        "CREATE UNLOGGED TABLE worker_locks",
        "CREATE TABLE worker_locks",
    ),
    (
        "langgraph_durable/sql/workers.sql",
        "WHERE l.postmaster_started_at = pg_postmaster_start_time()\n  AND NOT EXISTS",
        "WHERE NOT EXISTS",
    ),
    (
        "langgraph_durable/lease.py",
        '        row = conn.execute(_WORKERS["register"], worker).fetchone()\n',
        '        row = conn.execute(_WORKERS["register"], worker).fetchone()\n'
        "        if self._ready.is_set():\n"
        "            return\n",
    ),
    (
        "langgraph_durable/lease.py",
        "        if self._unlocked_since is None:\n"
        "            self._unlocked_since = time.monotonic()\n",
        "        return\n",
    ),
]
"""A worker believes that its session lock has outlived the database, and others look no closer."""

_MUTATIONS = {"fence": _FENCE, "early_ack": _EARLY_ACK, "blind_restart": _BLIND_RESTART}


def mutated(name: str, folder: Path) -> Path:
    """A copy of the packages under ``folder``, broken; what PYTHONPATH has to name."""
    for package in ("langgraph_durable", "protocol_adapter"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, folder / package, ignore=ignored)
    for file, good, bad in _MUTATIONS[name]:
        path = folder / file
        text = path.read_text()
        if text.count(good) != 1:
            raise ValueError(f"mutation {name} does not fit {file} any more")
        path.write_text(text.replace(good, bad))
    return folder
