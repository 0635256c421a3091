"""What clients of MLflow's agent servers rely on: inputs and outputs of their own, and headers.

``agent`` asks its tool what it was given, waits at the gate ``work`` meanwhile, and answers. What
its tool sees of the request goes to ``<GATES>/seen``, one JSON line for each execution.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph

from tests.apps.crash.graphs import GATES, gate

HEADERS = ("x-tenant", "x-forwarded-access-token", "x-forwarded-for", "authorization")


class State(MessagesState, total=False):
    custom_outputs: dict[str, Any]


class Model(BaseChatModel):
    """Calls ``look`` first, and then says what the tool answered, word by word."""

    @property
    def _llm_type(self) -> str:
        return "seed"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=_answer(messages))])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        answer = _answer(messages)
        if answer.tool_calls:
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_calls=answer.tool_calls))
        for word in answer.text.split():
            yield ChatGenerationChunk(message=AIMessageChunk(f"{word} "))


def _answer(messages: list[BaseMessage]) -> AIMessage:
    if isinstance(messages[-1], ToolMessage):
        return AIMessage(f"I looked: {messages[-1].text}")
    return AIMessage("", tool_calls=[{"id": "call_1", "name": "look", "args": {}}])


async def think(state: State) -> State:
    return {"messages": [await Model().ainvoke(state["messages"])]}


async def look(state: State, config: RunnableConfig) -> State:
    configurable = config["configurable"]
    seen = {name: configurable[name] for name in HEADERS if name in configurable}
    with (GATES / "seen").open("a") as file:
        file.write(json.dumps(seen) + "\n")
    await gate("work")
    asked = configurable.get("responses", {})
    told = {key: asked.get(key) for key in ("custom_inputs", "context")}
    return {
        "messages": [ToolMessage("all is well", tool_call_id="call_1")],
        "custom_outputs": {"seen": told},
    }


def _next(state: State) -> str:
    last = state["messages"][-1]
    return "look" if isinstance(last, AIMessage) and last.tool_calls else END


_builder = StateGraph(State)
_builder.add_node("think", think)
_builder.add_node("look", look)
_builder.add_edge(START, "think")
_builder.add_conditional_edges("think", _next, ["look", END])
_builder.add_edge("look", "think")
agent = _builder.compile()
