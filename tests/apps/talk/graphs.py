"""A chat graph whose answers follow from the question, for clients of the Responses door.

``count`` tells how many questions it has heard, ``slow`` takes its time, ``look`` calls a tool
that takes its time, ``add`` one that does not, ``pay`` one that asks a person first, ``think``
thinks aloud, ``cite`` names a source, ``refuse`` refuses, ``loop`` never ends and ``fail`` raises.
``show`` repeats what it was given as JSON. A client's own function tool is called when one is
declared, and a JSON schema that it wants is kept.

``verse`` has no messages: it takes a ``topic`` and answers with a ``verse``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, TypedDict

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
    thought: str = ""
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
        for word in self.thought.split():
            block = {"type": "reasoning", "reasoning": f"{word} ", "index": 0}
            yield ChatGenerationChunk(message=AIMessageChunk(content=[block]))
        for word in self.text.split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
            await asyncio.sleep(self.pause_seconds)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=USAGE))


async def talk(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
    last = state["messages"][-1]
    asked = last.text
    request = config["configurable"].get("responses", {})
    functions = [tool["name"] for tool in request.get("tools", ()) if is_own(tool)]
    if isinstance(last, ToolMessage):
        return await says(asked, state)
    if functions:
        return {"messages": [calls(functions[0], city="Graz")]}
    if request.get("text", {}).get("format", {}).get("type") == "json_schema":
        return {"messages": [AIMessage('{"city":"Graz","degrees":21}')]}
    match asked.split()[0]:
        case "count":
            heard = [m for m in state["messages"] if m.type == "human"]
            return await says(f"{len(heard)} heard", state)
        case "slow":
            return await says("one " * 300, state, pause_seconds=0.1)
        case "think":
            return await says("I am", state, thought="I think so")
        case "show":
            return {"messages": [AIMessage(json.dumps(shown(state["messages"], request)))]}
        case "pay":
            return {"messages": [calls("pay", amount=7)]}
        case "add":
            return {"messages": [calls("add", a=2, b=3)]}
        case "look" | "loop" as name:
            return {"messages": [calls(name)]}
        case "fail":
            raise ValueError("boom")
    return written.get(asked) or await says(f"You said: {asked}", state)


def is_own(tool: dict[str, Any]) -> bool:
    """Is it a tool that the client runs itself, and not its wish to be asked by one?"""
    return tool["type"] == "function" and tool["name"] != "langgraph_interrupt"


SOURCE = {"type": "citation", "url": "https://a.test/", "title": "A", "start_index": 0}
written = {
    "cite": {
        "messages": [AIMessage([{"type": "text", "text": "So it is", "annotations": [SOURCE]}])]
    },
    "refuse": {"messages": [AIMessage([{"type": "refusal", "refusal": "I would rather not"}])]},
}


def shown(messages: list[BaseMessage], request: dict[str, Any]) -> dict[str, Any]:
    """What a graph gets of a request, as far as clients can choose it."""
    content = messages[-1].content
    return {
        "system": [message.text for message in messages if message.type == "system"],
        "blocks": content if isinstance(content, list) else [],
        "request": request,
    }


async def says(text: str, state: MessagesState, **how: Any) -> dict[str, Any]:
    return {"messages": [await Words(text=text, **how).ainvoke(state["messages"])]}


def calls(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"id": f"call_{name}", "name": name, "args": args}])


def pay(state: MessagesState) -> dict[str, Any]:
    approved = interrupt({"question": "Pay 7?"})
    text = "paid" if approved else "not paid"
    return {"messages": [ToolMessage(text, name="pay", tool_call_id="call_pay")]}


async def look(state: MessagesState) -> dict[str, Any]:
    await asyncio.sleep(30)
    return {"messages": [ToolMessage("seen", name="look", tool_call_id="call_look")]}


def add(state: MessagesState) -> dict[str, Any]:
    return {"messages": [ToolMessage("5", name="add", tool_call_id="call_add")]}


def loop(state: MessagesState) -> None:
    """Once more."""


TOOLS = ("pay", "look", "add", "loop")


def route(state: MessagesState) -> str:
    last = state["messages"][-1]
    called = [call["name"] for call in last.tool_calls] if isinstance(last, AIMessage) else []
    return next((name for name in called if name in TOOLS), END)


graph = (
    StateGraph(MessagesState)
    .add_node("model", talk)
    .add_node("pay", pay)
    .add_node("look", look)
    .add_node("add", add)
    .add_node("loop", loop)
    .add_edge(START, "model")
    .add_conditional_edges("model", route, [*TOOLS, END])
    .add_edge("pay", "model")
    .add_edge("look", "model")
    .add_edge("add", "model")
    .add_edge("loop", "loop")
    .compile()
    .with_config(recursion_limit=10)
)


class Poem(TypedDict, total=False):
    topic: str
    verse: str


def rhyme(state: Poem) -> Poem:
    return {"verse": f"O {state['topic']}!"}


verse = StateGraph(Poem).add_node("rhyme", rhyme).add_edge(START, "rhyme").compile()
