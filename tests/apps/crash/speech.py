"""A model that can be stopped in the middle of a message, inside a subgraph."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from graphs import executed, gate
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph import START, MessagesState, StateGraph

WORDS = ("Once ", "upon ", "a ", "time")


class Speaker(BaseChatModel):
    """Waits at the gate ``speak`` behind its second word."""

    @property
    def _llm_type(self) -> str:
        return "speaker"

    async def _astream(self, *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
        for number, word in enumerate(WORDS):
            if number == 2:
                await gate("speak")
            yield ChatGenerationChunk(message=AIMessageChunk(word))

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("".join(WORDS)))])


def said_by(*models: Any) -> Any:
    async def node(state: MessagesState) -> dict[str, Any]:
        executed("speak")
        return {"messages": [await model.ainvoke(state["messages"]) for model in models]}

    return node


inner = StateGraph(MessagesState)
inner.add_node("speak", said_by(Speaker()))
inner.add_edge(START, "speak")

outer = StateGraph(MessagesState)
outer.add_node("story", inner.compile())
outer.add_edge(START, "story")
speech = outer.compile()
