"""Agents that are plain functions: LangGraph's functional API, with tasks that wait at gates."""

from __future__ import annotations

from typing import Any

from graphs import executed, gate
from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.config import get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.types import interrupt


@task
async def prepare(text: str) -> str:
    executed("prepare")
    return text.upper()


@task
async def work(text: str) -> str:
    executed("work")
    get_stream_writer()({"type": "progress", "at": "work"})
    await gate("work")
    return f"{text}!"


@entrypoint()
async def loop(given: dict[str, Any], *, previous: list[str] | None = None) -> Any:
    """Says word by word what it makes of what it is told, and remembers it."""
    executed("loop")
    write = get_stream_writer()
    texts = [m["content"] for m in given["messages"]]
    asked = [text for text in texts if "[RECOVERY]" not in text]
    if len(asked) < len(texts):
        executed("loop was told of a crash")
    name = f"said-{len(previous or [])}"
    write(AIMessageChunk("Well: ", id=name))
    made = await work(await prepare(asked[-1]))
    write(AIMessageChunk(made, id=name))
    remembered = [*(previous or []), made]
    answer = AIMessage(f"Well: {made}", id=name)
    return entrypoint.final(value={"messages": [answer], "remembered": remembered}, save=remembered)


@entrypoint()
async def asking(given: dict[str, Any], *, previous: list[str] | None = None) -> Any:
    """Asks before it works, and answers in plain text."""
    executed("asking")
    made = await prepare(given["messages"][-1]["content"])
    if not interrupt({"question": f"work on {made}?"}):
        return entrypoint.final(value="As you wish.", save=previous or [])
    remembered = [*(previous or []), await work(made)]
    return entrypoint.final(value=" ".join(remembered), save=remembered)
