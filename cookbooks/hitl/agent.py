"""An agent that proposes, waits for a person as long as it takes, and then works for a minute.

Nothing is held while it waits: the question lies in the database, and any server goes on when the
answer comes. ``ROLL_OUT_SECONDS`` shortens the minute.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, Literal
from uuid import uuid4

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

SECONDS = float(os.environ.get("ROLL_OUT_SECONDS", "60"))


async def propose(state: MessagesState) -> dict[str, Any]:
    """What a model would do: decide for a tool. Tool calls are the proposal."""
    call = {"id": f"call_{uuid4().hex}", "name": "roll_out", "args": {"what": _asked(state)}}
    return {"messages": [AIMessage(f"I would roll out: {_asked(state)}.", tool_calls=[call])]}


async def ask(state: MessagesState) -> Command[Literal["roll_out", "report"]]:
    """Asks in the form of LangChain's human-in-the-loop middleware, which every client knows."""
    call = _call(state)
    action = {"name": call["name"], "args": call["args"], "description": "May I?"}
    review = {"action_name": call["name"], "allowed_decisions": ["approve", "reject"]}
    answer = interrupt({"action_requests": [action], "review_configs": [review]})
    decision = answer["decisions"][0]
    if decision["type"] == "approve":
        return Command(goto="roll_out")
    reason = decision.get("message") or "the person said no"
    return Command(goto="report", update=_result(call, f"not rolled out: {reason}"))


async def roll_out(state: MessagesState) -> dict[str, Any]:
    """The long work. A server that dies in it is replaced by one that begins it again: so what
    must not happen twice has to be asked for under the call's id, which stays the same.
    """
    call = _call(state)
    await asyncio.sleep(SECONDS)
    return _result(call, f"rolled out: {call['args']['what']}")


async def report(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage(f"It is {state['messages'][-1].text}.")]}


def _asked(state: MessagesState) -> str:
    return next(m.text for m in reversed(state["messages"]) if m.type == "human")


def _call(state: MessagesState) -> Any:
    last = state["messages"][-1]
    assert isinstance(last, AIMessage)
    return last.tool_calls[0]


def _result(call: Any, text: str) -> dict[str, Any]:
    return {"messages": [ToolMessage(text, tool_call_id=call["id"], name=call["name"])]}


graph = (
    StateGraph(MessagesState)
    .add_node("propose", propose)
    .add_node("ask", ask)
    .add_node("roll_out", roll_out)
    .add_node("report", report)
    .add_edge(START, "propose")
    .add_edge("propose", "ask")
    .add_edge("roll_out", "report")
    .add_edge("report", END)
    .compile(name="hitl")
)
