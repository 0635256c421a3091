"""Graphs whose calls have side effects: each is one line ``<call> <key>`` in the executions."""

from __future__ import annotations

import uuid
from typing import Any

from graphs import GATES, executed, gate
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langgraph_durable.tools import guard, idempotency_key, once

AMOUNTS = (1, 2, 3)


@tool
async def pay(amount: int) -> str:
    """Pay; the last payment takes as long as the test wants."""
    executed(f"pay {amount} {idempotency_key()[:16]}")
    if amount == AMOUNTS[-1]:
        await gate("pay")
    return f"paid {amount}"


async def think(state: MessagesState) -> dict[str, Any]:
    if state["messages"][-1].type == "tool":
        return {"messages": [AIMessage("done")]}
    calls = [{"name": "pay", "args": {"amount": n}, "id": uuid.uuid4().hex} for n in AMOUNTS]
    return {"messages": [AIMessage("", tool_calls=calls)]}


def next_step(state: MessagesState) -> str:
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else END


def payments(policy: Any) -> Any:
    return (
        StateGraph(MessagesState)
        .add_node("model", think)
        .add_node("tools", ToolNode([pay], awrap_tool_call=guard(default=policy)))
        .add_edge(START, "model")
        .add_conditional_edges("model", next_step, ["tools", END])
        .add_edge("tools", "model")
        .compile()
    )


async def find_out(key: str, arguments: Any) -> str | None:
    """The bank's word: it has happened when the test says so."""
    executed(f"find out {arguments['amount']} {key[:16]}")
    return "was paid" if (GATES / "happened").exists() else None


payments_retry = payments("retry")
payments_ask = payments("ask")
payments_found_out = payments(find_out)


async def charge(amount: int) -> dict[str, int]:
    executed(f"charge {amount} {idempotency_key()[:16]}")
    return {"charged": amount}


async def shop(state: MessagesState) -> dict[str, Any]:
    first = await once("first", charge, 1)
    second = await once("second", charge, 2)
    await gate("shop")
    return {"messages": [AIMessage(f"{first['charged']} and {second['charged']}")]}


purchases = StateGraph(MessagesState).add_node("shop", shop).add_edge(START, "shop").compile()
