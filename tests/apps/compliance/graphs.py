"""A graph that answers whatever the Open Responses acceptance suite asks for.

It calls the first function tool that a client declares, once, and says the rest in words.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph


async def answer(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
    asked = config["configurable"].get("responses", {})
    tools = [tool for tool in asked.get("tools", ()) if tool["type"] == "function"]
    last = state["messages"][-1]
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    if tools and not isinstance(last, ToolMessage):
        call = {"name": tools[0]["name"], "args": _arguments(tools[0]), "id": f"call_{last.id}"}
        return {"messages": [AIMessage("", tool_calls=[call], usage_metadata=usage)]}
    said = " ".join(_text(message.content) for message in state["messages"])
    return {"messages": [AIMessage(f"I have heard: {said}", usage_metadata=usage)]}


def _arguments(tool: dict[str, Any]) -> dict[str, Any]:
    """Something for every parameter that the tool needs."""
    parameters = tool.get("parameters") or {}
    samples = {"string": "San Francisco, CA", "number": 1.5, "integer": 1, "boolean": True}
    properties = parameters.get("properties") or {}
    return {
        name: (schema.get("enum") or [samples.get(schema.get("type"), "x")])[0]
        for name, schema in properties.items()
        if name in parameters.get("required", properties)
    }


def _text(content: Any) -> str:
    blocks = content if isinstance(content, list) else [content]
    texts = (b if isinstance(b, str) else b.get("text", f"[{b.get('type')}]") for b in blocks)
    return " ".join(texts)


graph = (
    StateGraph(MessagesState)
    .add_node("answer", answer)
    .add_edge(START, "answer")
    .add_edge("answer", END)
    .compile()
)
