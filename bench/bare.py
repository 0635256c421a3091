"""LangGraph without a server: the same graphs, checkpointed by its own saver, as it comes."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from bench.app.graphs import BUILDERS

POOL = 8


@dataclass(frozen=True)
class Bare:
    graphs: Mapping[str, Any]
    name: str = "bare"

    async def thread(self) -> str:
        return str(uuid.uuid4())

    async def wait(self, thread: str, graph: str, given: dict[str, Any]) -> Any:
        return await self.graphs[graph].ainvoke(given, _config(thread), durability="sync")

    async def stream(
        self, thread: str, graph: str, given: dict[str, Any], mode: str
    ) -> AsyncIterator[int]:
        parts = self.graphs[graph].astream(
            given, _config(thread), stream_mode=mode, durability="sync"
        )
        async for _ in parts:
            yield 1

    async def state(self, thread: str) -> None:
        await self.graphs["steps"].aget_state(_config(thread))

    async def history(self, thread: str) -> None:
        async for _ in self.graphs["steps"].aget_state_history(_config(thread), limit=10):
            pass


@asynccontextmanager
async def bare(database_url: str) -> AsyncIterator[Bare]:
    """Graphs on one saver over a pool."""
    kwargs = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool[AsyncConnection[DictRow]](
        database_url, min_size=POOL, max_size=POOL, kwargs=kwargs, open=False
    ) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        yield Bare({name: builder.compile(saver) for name, builder in BUILDERS.items()})


def _config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}}
