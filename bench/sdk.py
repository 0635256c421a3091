"""The stock client, as it comes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from langgraph_sdk.client import LangGraphClient


@dataclass(frozen=True)
class Sdk:
    client: LangGraphClient
    name: str = "sdk"

    async def thread(self) -> str:
        return str((await self.client.threads.create())["thread_id"])

    async def wait(self, thread: str, graph: str, given: dict[str, Any]) -> Any:
        return await self.client.runs.wait(thread, graph, input=given)

    async def stream(
        self, thread: str, graph: str, given: dict[str, Any], mode: str
    ) -> AsyncIterator[int]:
        asked: Any = "messages-tuple" if mode == "messages" else mode
        async for part in self.client.runs.stream(thread, graph, input=given, stream_mode=asked):
            if part.event == mode:
                yield 1

    async def state(self, thread: str) -> None:
        await self.client.threads.get_state(thread)

    async def history(self, thread: str) -> None:
        await self.client.threads.get_history(thread, limit=10)
