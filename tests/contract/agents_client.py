"""The stock OpenAI Agents SDK with a served graph as its model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents import Agent, Tool, set_tracing_disabled
from agents.models.openai_responses import OpenAIResponsesModel
from openai import AsyncOpenAI

AgentOf = Callable[..., Agent[Any]]

set_tracing_disabled(True)


def agent_of(client: AsyncOpenAI) -> AgentOf:
    """Makes agents with the tools and options given."""
    model = OpenAIResponsesModel(model="talk", openai_client=client)

    def make(*tools: Tool, **more: Any) -> Agent[Any]:
        return Agent(name="agent", model=model, tools=list(tools), **more)

    return make


def kinds(result: Any) -> list[str]:
    """The types of the items that a run has made."""
    return [item.type.removesuffix("_item") for item in result.new_items]
