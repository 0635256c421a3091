"""A small agent with one slow tool: something to interrupt, kill and recover.

The model is scripted, so that no key is needed; name a real one in ``MODEL``, such as
``MODEL=openai:gpt-5-mini``, to use it instead.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send

from cookbooks.wait_agent.scripted_model import ScriptedModel


@tool
async def wait(seconds: float) -> str:
    """Wait that many seconds."""
    await asyncio.sleep(seconds)
    return f"waited {seconds:g} seconds"


def chat_model() -> BaseChatModel:
    """The model named in ``MODEL``, or the scripted one."""
    name = os.environ.get("MODEL")
    if not name:
        return ScriptedModel()
    from langchain.chat_models import init_chat_model

    model: BaseChatModel = init_chat_model(name)
    return model


model = chat_model().bind_tools([wait])


async def think(state: MessagesState) -> dict[str, Any]:
    return {"messages": [await model.ainvoke(state["messages"])]}


def to_tools(state: MessagesState) -> list[Send] | str:
    """One task for each tool call: a crash in one repeats no other."""
    last = state["messages"][-1]
    if isinstance(last, AIMessage) and last.tool_calls:
        return [Send("tools", [call]) for call in last.tool_calls]
    return END


graph = (
    StateGraph(MessagesState)
    .add_node("think", think)
    .add_node("tools", ToolNode([wait]))
    .add_edge(START, "think")
    .add_conditional_edges("think", to_tools, ["tools", END])
    .add_edge("tools", "think")
    .compile(name="wait_agent")
)
