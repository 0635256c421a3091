"""RemoteGraph and LangGraph's own graphs, called alike through either half of their interface."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver


class Half:
    """Calls methods of graphs: the synchronous ones in a thread, or their asynchronous twins."""

    def __init__(self, name: str) -> None:
        self._asynchronous = name == "async"

    async def __call__(self, graph: Any, method: str, *args: Any, **more: Any) -> Any:
        """The result; the list of all when the method gives them one by one."""
        if not self._asynchronous:
            return await asyncio.to_thread(_whole, getattr(graph, method), *args, **more)
        given = getattr(graph, f"a{method}")(*args, **more)
        if isinstance(given, AsyncIterator):
            return [each async for each in given]
        return await given


def _whole(method: Any, *args: Any, **more: Any) -> Any:
    given = method(*args, **more)
    return list(given) if isinstance(given, Iterator) else given


def on_a_thread(thread_id: str | None = None) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id or str(uuid.uuid4())}}


def remembering(graph: Any) -> Any:
    """The graph as it stands, with a memory of its own in this process."""
    return graph.copy(update={"checkpointer": InMemorySaver()})


def names_of(namespace: tuple[str, ...]) -> tuple[str, ...]:
    """A namespace without its task ids, which differ from run to run."""
    return tuple(part.partition(":")[0] for part in namespace)


def gist(mode: str, data: Any) -> Any:
    """What a part of a stream says, without ids and times."""
    if mode == "messages":
        message, about = data
        content = message["content"] if isinstance(message, dict) else message.content
        return content, about["langgraph_node"]
    if mode == "tasks":
        return data["name"], data.get("input"), data.get("result")
    if mode == "checkpoints":
        return data["values"], data["next"], data["metadata"]["step"]
    if mode == "debug":
        inner = "checkpoints" if data["type"] == "checkpoint" else "tasks"
        return data["step"], data["type"], gist(inner, data["payload"])
    return data
