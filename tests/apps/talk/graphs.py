"""A chat graph whose answers follow from the question, for clients of the Responses door.

``count`` tells how many questions it has heard, ``slow`` takes its time, ``look`` calls a tool
that takes its time, ``pay`` one that asks a person first, ``fail`` raises. A client's own function
tool is called when one is declared.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt

USAGE = UsageMetadata(input_tokens=3, output_tokens=2, total_tokens=5)


class Words(BaseChatModel):
    """Says ``text`` word by word."""

    text: str
    pause_seconds: float = 0

    @property
    def _llm_type(self) -> str:
        return "words"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.text))])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for word in self.text.split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
            await asyncio.sleep(self.pause_seconds)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=USAGE))


async def talk(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
    last = state["messages"][-1]
    asked = str(last.content)
    declared = config["configurable"].get("responses", {}).get("tools", [])
    functions = [tool["name"] for tool in declared if tool["type"] == "function"]
    if isinstance(last, ToolMessage):
        return await says(asked, state)
    if functions:
        return {"messages": [calls(functions[0], city="Graz")]}
    match asked.split()[0]:
        case "count":
            heard = [m for m in state["messages"] if m.type == "human"]
            return await says(f"{len(heard)} heard", state)
        case "slow":
            return await says("one " * 300, state, pause_seconds=0.1)
        case "pay":
            return {"messages": [calls("pay", amount=7)]}
        case "look":
            return {"messages": [calls("look")]}
        case "fail":
            raise ValueError("boom")
    return await says(f"You said: {asked}", state)


async def says(text: str, state: MessagesState, pause_seconds: float = 0) -> dict[str, Any]:
    words = Words(text=text, pause_seconds=pause_seconds)
    return {"messages": [await words.ainvoke(state["messages"])]}


def calls(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"id": f"call_{name}", "name": name, "args": args}])


def pay(state: MessagesState) -> dict[str, Any]:
    approved = interrupt({"question": "Pay 7?"})
    text = "paid" if approved else "not paid"
    return {"messages": [ToolMessage(text, name="pay", tool_call_id="call_pay")]}


async def look(state: MessagesState) -> dict[str, Any]:
    await asyncio.sleep(30)
    return {"messages": [ToolMessage("seen", name="look", tool_call_id="call_look")]}


def route(state: MessagesState) -> str:
    last = state["messages"][-1]
    called = [call["name"] for call in last.tool_calls] if isinstance(last, AIMessage) else []
    return next((name for name in called if name in ("pay", "look")), END)


graph = (
    StateGraph(MessagesState)
    .add_node("model", talk)
    .add_node("pay", pay)
    .add_node("look", look)
    .add_edge(START, "model")
    .add_conditional_edges("model", route, ["pay", "look", END])
    .add_edge("pay", "model")
    .add_edge("look", "model")
    .compile()
)
