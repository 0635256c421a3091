"""A loop of the OpenAI Agents SDK, hosted as a plain function: LangGraph's functional API.

What the function saves comes back as ``previous`` at the next turn: that is where its session
lives, so it is never ahead of the run that wrote it, nor behind. The model is scripted, so that no
key is needed; name a real one in ``MODEL``, such as ``MODEL=gpt-5-mini``.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, Literal

from agents import Agent, Model, OpenAIProvider, RunConfig, Runner, function_tool
from agents.tool_context import ToolContext
from langchain_core.messages import AnyMessage, ToolMessage, convert_to_messages
from langgraph.func import entrypoint, task
from openai.types.responses import EasyInputMessageParam

from cookbooks.openai_agents.durable_model import DurableModel
from cookbooks.openai_agents.memory import Memory
from cookbooks.openai_agents.scripted_model import ScriptedModel


@task
async def waited(call_id: str, seconds: float) -> ToolMessage:
    await asyncio.sleep(seconds)
    text = f"waited {seconds:g} seconds"
    return ToolMessage(text, name="wait", tool_call_id=call_id, id=f"{call_id}-result")


@function_tool
async def wait(call: ToolContext[list[AnyMessage]], seconds: float) -> str:
    """Wait that many seconds."""
    message = await waited(call.tool_call_id, seconds)
    call.context.append(message)
    return message.text


def chat_model() -> Model:
    """The model named in ``MODEL``, or the scripted one."""
    name = os.environ.get("MODEL")
    return OpenAIProvider().get_model(name) if name else ScriptedModel()


def _item(message: AnyMessage) -> EasyInputMessageParam:
    role: Literal["user", "assistant"] = "user" if message.type == "human" else "assistant"
    return {"role": role, "content": message.text, "type": "message"}


@entrypoint()
async def agent(given: dict[str, Any], *, previous: dict[str, Any] | None = None) -> Any:
    """One turn: ``{"messages": [...]}`` in, the whole conversation out."""
    past = previous or {"items": [], "messages": []}
    turn: list[Any] = convert_to_messages(given["messages"])
    memory = Memory(past["items"])
    await Runner.run(
        Agent("waiter", tools=[wait], model=DurableModel(chat_model(), turn)),
        [_item(message) for message in turn],
        context=turn,
        session=memory,
        run_config=RunConfig(tracing_disabled=True),
    )
    conversation = [*past["messages"], *turn]
    return entrypoint.final(
        value={"messages": conversation},
        save={"items": memory.items, "messages": conversation},
    )
