"""Any model of the OpenAI Agents SDK, its answers kept: after a crash they are not paid for twice.

Each answer is the result of a LangGraph task, told as a LangChain message: that is what the
protocols show. Its text is written word by word while it comes.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from agents import Model, ModelResponse, Usage
from agents.items import TResponseStreamEvent
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage
from langgraph.config import get_stream_writer
from langgraph.func import task
from openai.types.responses import Response, ResponseFunctionToolCall, ResponseOutputMessage


@task
async def answer(model: Model, request: Mapping[str, Any]) -> AIMessage:
    """What ``model`` says to ``request``, told while it comes."""
    write = get_stream_writer()
    async for event in model.stream_response(**request):
        if event.type == "response.output_text.delta":
            write(AIMessageChunk(content=event.delta, id=event.item_id))
        elif event.type == "response.completed":
            return message_of(event.response)
    raise RuntimeError("the model stopped before the end of its answer")


class DurableModel(Model):
    """``model``, whose answers are appended to ``turn`` too."""

    def __init__(self, model: Model, turn: list[AnyMessage]) -> None:
        self._model = model
        self._turn = turn

    async def get_response(self, *_: Any, **request: Any) -> ModelResponse:
        message = await answer(self._model, request)
        self._turn.append(message)
        kept = Response.model_validate(message.response_metadata["response"])
        return ModelResponse(output=kept.output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **request: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError("Runner.run_streamed: the server streams what tasks write")


def message_of(response: Response) -> AIMessage:
    """A model's answer as one message, the answer itself kept inside."""
    said = [item for item in response.output if isinstance(item, ResponseOutputMessage)]
    calls = [item for item in response.output if isinstance(item, ResponseFunctionToolCall)]
    return AIMessage(
        response.output_text,
        id=said[0].id if said else response.id,
        tool_calls=[
            {"id": call.call_id, "name": call.name, "args": json.loads(call.arguments)}
            for call in calls
        ],
        response_metadata={"response": response.model_dump(mode="json", exclude_unset=True)},
    )
