"""An agent whose tools are LangChain's own, one of which runs an agent of its own."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import tool
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode


def calls(name: str, call_id: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": call_id}])


def tells(text: str) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter([AIMessage(text)]))


async def research(state: MessagesState) -> dict[str, Any]:
    return {"messages": [await tells("It is blue").ainvoke(state["messages"])]}


researcher = (
    StateGraph(MessagesState)
    .add_node("research", research)
    .add_edge(START, "research")
    .compile(name="researcher")
)


@tool
async def lookup(word: str) -> str:
    """Ask the researcher."""
    get_stream_writer()({"name": "progress", "share": 0.5})
    answer = await researcher.ainvoke({"messages": [("human", word)]})
    return str(answer["messages"][-1].content)


@tool
async def broken(word: str) -> str:
    """Fails."""
    raise ValueError(f"no {word} today")


TOOLS = {"sky": "lookup", "sea": "broken"}


async def model(state: MessagesState) -> dict[str, list[AnyMessage]]:
    last = state["messages"][-1]
    if last.type == "human":
        word = str(last.content)
        call_id = f"call_{len(state['messages'])}"
        return {"messages": [calls(TOOLS[word], call_id, word=word)]}
    return {"messages": [await tells("The end").ainvoke(state["messages"])]}


def next_step(state: MessagesState) -> str:
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else END


toolbox = (
    StateGraph(MessagesState)
    .add_node("model", model)
    .add_node("tools", ToolNode([lookup, broken], handle_tool_errors=True))
    .add_edge(START, "model")
    .add_conditional_edges("model", next_step, ["tools", END])
    .add_edge("tools", "model")
    .compile()
)
