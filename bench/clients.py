"""Three who run a graph: the stock SDK, a bare socket, and LangGraph without a server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol


class Client(Protocol):
    """What all of them can; ``name`` stands in the names of their figures."""

    @property
    def name(self) -> str: ...

    async def thread(self) -> str:
        """A fresh thread."""
        ...

    async def wait(self, thread: str, graph: str, given: dict[str, Any]) -> Any:
        """Run a graph to its end: its output."""
        ...

    def stream(
        self, thread: str, graph: str, given: dict[str, Any], mode: str
    ) -> AsyncIterator[int]:
        """Run a graph: how many events of ``custom`` or ``messages`` have come together."""
        ...

    async def state(self, thread: str) -> None: ...

    async def history(self, thread: str) -> None:
        """The last ten states."""
        ...
