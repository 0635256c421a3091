"""A chat for clients of all kinds: it counts aloud, one number every 100 ms, or asks back.

``count 300`` says the numbers from 0 to 299, each as a token and as a custom event. ``ask me``
interrupts with the question ``me`` and repeats the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    message_chunk_to_message,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

PAUSE_SECONDS = 0.1


class Counter(BaseChatModel):
    """Says the numbers below ``end``, each as one chunk."""

    end: int

    @property
    def _llm_type(self) -> str:
        return "counter"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        text = "".join(f"{number} " for number in range(self.end))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        write = get_stream_writer()
        for number in range(self.end):
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{number} "))
            write({"number": number})
            await asyncio.sleep(PAUSE_SECONDS)


async def count(state: MessagesState) -> dict[str, Any]:
    counter = Counter(end=int(words(state)[1]))
    first, *rest = [chunk async for chunk in counter.astream(state["messages"])]
    return {"messages": [message_chunk_to_message(sum(rest, start=first))]}


def ask(state: MessagesState) -> dict[str, Any]:
    answer = interrupt({"question": words(state)[1]})
    return {"messages": [AIMessage(f"You said {answer}.")]}


def words(state: MessagesState) -> list[str]:
    return state["messages"][-1].text.split()


def verb(state: MessagesState) -> str:
    return words(state)[0]


chat = (
    StateGraph(MessagesState)
    .add_node("count", count)
    .add_node("ask", ask)
    .add_conditional_edges(START, verb, ["count", "ask"])
    .compile()
)
nested = StateGraph(MessagesState).add_node("chat", chat).add_edge(START, "chat").compile()
