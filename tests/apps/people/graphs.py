"""Graphs that ask people, for clients of the Responses door.

Every execution of a node is counted, see ``tests/apps/crash/graphs.py``.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt

from tests.apps.crash.graphs import GATES, executed, gate


def calls(*wanted: tuple[str, dict[str, Any]]) -> AIMessage:
    listed = [{"id": f"call_{name}", "name": name, "args": args} for name, args in wanted]
    return AIMessage("", tool_calls=listed)


# -- a conversation --------------------------------------------------------------------------------


async def hear(state: MessagesState) -> dict[str, Any]:
    """Tell everything that was heard; ``wait`` waits at the gate ``hear``, ``fail`` fails."""
    executed("hear")
    heard = [m.text for m in state["messages"] if m.type in ("human", "system")]
    match heard[-1]:
        case "wait":
            await gate("hear")
        case "fail":
            raise ValueError("boom")
    return {"messages": [AIMessage(" | ".join(heard))]}


chat = StateGraph(MessagesState).add_node(hear).add_edge(START, "hear").compile()


# -- one question ----------------------------------------------------------------------------------


async def model(state: MessagesState) -> dict[str, Any]:
    last = state["messages"][-1]
    if isinstance(last, ToolMessage):
        return {"messages": [AIMessage(f"It is {last.text}.")]}
    if last.text == "pay":
        return {"messages": [calls(("pay", {"amount": 7}))]}
    return {"messages": [AIMessage(f"Heard {last.text}.")]}


async def pay(state: MessagesState) -> dict[str, Any]:
    """Ask, wait at the gate ``pay`` when there is a file ``hold``, fail while there is ``fail``."""
    answer = interrupt({"question": "Pay 7?"})
    executed("pay")
    if (GATES / "hold").exists():
        await gate("pay")
    if (GATES / "fail").exists():
        raise ValueError("the bank is closed")
    text = f"paid ({answer})" if answer else "not paid"
    return {"messages": [ToolMessage(text, name="pay", tool_call_id="call_pay")]}


def route(state: MessagesState) -> str:
    last = state["messages"][-1]
    return "pay" if isinstance(last, AIMessage) and last.tool_calls else END


payer = (
    StateGraph(MessagesState)
    .add_node(model)
    .add_node(pay)
    .add_edge(START, "model")
    .add_conditional_edges("model", route, ["pay", END])
    .add_edge("pay", "model")
    .compile()
)


# -- a question, and a call that the client answers ------------------------------------------------


async def order(state: MessagesState) -> dict[str, Any]:
    """Call ``pay``, which asks, and the client's ``stock``; then tell the results, in order."""
    results = [m.text for m in state["messages"] if isinstance(m, ToolMessage)]
    if results:
        return {"messages": [AIMessage("; ".join(results))]}
    return {"messages": [calls(("pay", {"amount": 7}), ("stock", {"of": "tea"}))]}


buyer = (
    StateGraph(MessagesState)
    .add_node(order)
    .add_node(pay)
    .add_edge(START, "order")
    .add_conditional_edges("order", route, ["pay", END])
    .add_edge("pay", "order")
    .compile()
)


# -- several questions -----------------------------------------------------------------------------


class Answers(TypedDict, total=False):
    answers: Annotated[list[str], operator.add]


def asks(*questions: str) -> Any:
    def node(state: Answers) -> Answers:
        given = [f"{question}:{interrupt(question)}" for question in questions]
        executed("+".join(questions))
        return {"answers": given}

    return node


twice = StateGraph(Answers).add_node("ask", asks("q1", "q2")).add_edge(START, "ask").compile()
both = (
    StateGraph(Answers)
    .add_node("left", asks("left"))
    .add_node("right", asks("right"))
    .add_edge(START, "left")
    .add_edge(START, "right")
    .compile()
)


# -- LangChain's own middleware --------------------------------------------------------------------


@tool
def send(to: str) -> str:
    """Send it."""
    executed(f"send {to}")
    return f"sent to {to}"


@tool
def wipe(path: str) -> str:
    """Remove it."""
    executed(f"wipe {path}")
    return f"wiped {path}"


class Planner(BaseChatModel):
    """Calls both tools, and then tells what came of it."""

    @property
    def _llm_type(self) -> str:
        return "planner"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        results = [m.text for m in messages if isinstance(m, ToolMessage)]
        answer = AIMessage("; ".join(results))
        if not results:
            answer = calls(("send", {"to": "ann"}), ("wipe", {"path": "/tmp"}))
        return ChatResult(generations=[ChatGeneration(message=answer)])


actions = create_agent(
    Planner(),
    [send, wipe],
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"send": True, "wipe": True})],
)


# -- no conversation at all ------------------------------------------------------------------------


class Keyed(TypedDict, total=False):
    question: str
    answer: Any
    steps: Annotated[list[str], operator.add]


def answer(state: Keyed) -> Keyed:
    asked = state["question"]
    return {"answer": {"of": asked} if asked == "object" else asked.upper(), "steps": [asked]}


keyed = StateGraph(Keyed).add_node("reply", answer).add_edge(START, "reply").compile()


def again(state: Keyed) -> Keyed:
    return {"steps": ["again"]}


loop = (
    StateGraph(Keyed)
    .add_node(again)
    .add_edge(START, "again")
    .add_edge("again", "again")
    .compile()
    .with_config(recursion_limit=5)
)
