"""Pays bills through a service that knows idempotency keys; no crash makes it pay twice.

Every call of ``pay`` is guarded: written to the ledger before it is made and when it has returned.
What was running when the server died is made again, under the same key, and the service sees that
it has done that work. Ask it to ``pay 40 to Ann``. ``PAYMENT_SERVICE`` is the service's address.
"""

from __future__ import annotations

import os
import re
from typing import Any

import httpx
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langgraph_durable.tools import RETRY, guard, idempotency_key


@tool
async def pay(amount: int, payee: str) -> str:
    """Pay an amount to somebody."""
    async with httpx.AsyncClient(base_url=os.environ["PAYMENT_SERVICE"]) as service:
        answer = await service.post(
            "/payments",
            json={"amount": amount, "payee": payee},
            headers={"Idempotency-Key": idempotency_key()},
            timeout=30,
        )
    answer.raise_for_status()
    return f"Paid {amount} to {payee}, receipt {answer.json()['receipt']}."


async def think(state: MessagesState) -> dict[str, Any]:
    """Stands for a model: calls ``pay`` for each ``pay <amount> to <payee>``, then reports."""
    last = state["messages"][-1]
    if last.type == "tool":
        done = [m.content for m in state["messages"] if m.type == "tool"]
        return {"messages": [AIMessage(" ".join(map(str, done)))]}
    asked = re.findall(r"pay (\d+) to (\w+)", str(last.content))
    calls = [
        {"name": "pay", "args": {"amount": int(amount), "payee": payee}, "id": f"{last.id}-{n}"}
        for n, (amount, payee) in enumerate(asked)
    ]
    return {"messages": [AIMessage("" if calls else "Nothing to pay.", tool_calls=calls)]}


def next_step(state: MessagesState) -> str:
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else END


graph = (
    StateGraph(MessagesState)
    .add_node("model", think)
    .add_node("tools", ToolNode([pay], awrap_tool_call=guard({"pay": RETRY})))
    .add_edge(START, "model")
    .add_conditional_edges("model", next_step, ["tools", END])
    .add_edge("tools", "model")
    .compile()
)
