"""What retention takes out of the database, kept as gzipped lines of JSON in a folder."""

from __future__ import annotations

import asyncio
import gzip
import os
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from langgraph_durable.errors import ProjectError
from langgraph_durable.postgres import Row
from langgraph_durable.sql import statements

_SQL = statements("retention")
PAGE = 200


class Archive:
    """Every file is whole or not there. A deletion that fails behind it is archived again.

    Raises ProjectError when nothing can be written to ``folder``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ProjectError(f"durable.retention.archive: {folder}: {error.strerror}") from error
        if not os.access(folder, os.W_OK):
            raise ProjectError(f"durable.retention.archive: {folder} cannot be written to")

    async def logs(self, conn: AsyncConnection[Row], run_ids: Sequence[str]) -> None:
        """Every event of some runs."""
        await self._write(conn, "logs", {"archived_logs": list(run_ids)})

    async def runs(self, conn: AsyncConnection[Row], run_ids: Sequence[str]) -> None:
        """Some runs with all that goes with them."""
        await self._write(conn, "runs", {"archived_runs": list(run_ids)})

    async def threads(self, conn: AsyncConnection[Row], thread_ids: Sequence[str]) -> None:
        """Some threads with their runs and checkpoints."""
        ids = {"ids": list(thread_ids)}
        rows = await (await conn.execute(_SQL["runs_of_threads"], ids)).fetchall()
        run_ids = [row["run_id"] for row in rows]
        told = {"archived_threads": list(thread_ids), "archived_runs": run_ids}
        await self._write(conn, "threads", told)

    async def _write(
        self, conn: AsyncConnection[Row], kind: str, told: Mapping[str, Sequence[Any]]
    ) -> None:
        """One file of what some statements tell, each of some ids."""
        stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
        whole = self._folder / f"{kind}-{stamp}.jsonl.gz"
        part = whole.with_suffix(".part")
        try:
            with part.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb") as packed:
                for name, ids in told.items():
                    await _append(conn, packed, name, ids)
            await asyncio.to_thread(_settle, part, whole)
        finally:
            part.unlink(missing_ok=True)


async def _append(
    conn: AsyncConnection[Row], packed: gzip.GzipFile, name: str, ids: Sequence[Any]
) -> None:
    async with conn.cursor(name="archive") as cursor:
        await cursor.execute(_SQL[name], {"ids": ids})
        while rows := await cursor.fetchmany(PAGE):
            text = "".join(row["line"] + "\n" for row in rows)
            await asyncio.to_thread(packed.write, text.encode())


def _settle(part: Path, whole: Path) -> None:
    """Behind this a power cut does not lose it."""
    with part.open("rb") as written:
        os.fsync(written.fileno())
    part.rename(whole)
    folder = os.open(whole.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
