"""Graphs whose calls go through the ledger: by tools, by ``once``, under both strategies."""

from __future__ import annotations

from typing import Any

from graphs import State, nonce_of, say, work
from journal import note, noted
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode

from langgraph_durable.tools import guard, once

ORDERS = (1, 2, 3)


@tool
async def pay(order: str) -> str:
    """Pay an order."""
    with noted("call", order):
        await work(order, "pay")
    return f"paid {order}"


def watched(policy: Any) -> Any:
    """The guard, and a line when a call's result is known to the ledger."""
    guarded = guard(default=policy)

    async def wrap(request: Any, execute: Any) -> Any:
        result = await guarded(request, execute)
        note("call", request.tool_call["args"]["order"], "returned")
        return result

    return wrap


async def think(state: State) -> State:
    """Three payments at once for a turn, then an end."""
    nonce = nonce_of(state["messages"])
    if f"{nonce}:think" in state.get("items", []):
        return {"items": [f"{nonce}:paid"]}
    with noted("node", "think"):
        await work(nonce, "think")
    calls = [
        {"name": "pay", "args": {"order": f"{nonce}-{n}"}, "id": f"call-{nonce}-{n}"}
        for n in ORDERS
    ]
    return {"messages": [AIMessage("", tool_calls=calls)], "items": [f"{nonce}:think"]}


def next_step(state: State) -> str:
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else "say"


def payments(policy: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("think", think)
    builder.add_node("tools", ToolNode([pay], awrap_tool_call=watched(policy)))
    builder.add_node("say", say)
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", next_step, ["tools", "say"])
    builder.add_edge("tools", "think")
    builder.add_edge("say", END)
    return builder.compile()


pay_retry = payments("retry")
pay_ask = payments("ask")
pay_log = payments("retry")


async def charge(order: str) -> str:
    with noted("call", order):
        await work(order, "charge")
    return f"charged {order}"


async def shop(state: State) -> State:
    nonce = nonce_of(state["messages"])
    with noted("node", "shop"):
        for n in ORDERS:
            await once(f"charge-{n}", charge, f"{nonce}-{n}", policy="retry")
            note("call", f"{nonce}-{n}", "returned")
    return {"items": [f"{nonce}:shop"]}


builder = StateGraph(State)
builder.add_node("shop", shop)
builder.add_node("say", say)
builder.add_edge(START, "shop")
builder.add_edge("shop", "say")
builder.add_edge("say", END)
shopping = builder.compile()
