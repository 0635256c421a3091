"""A model that needs no key and always says the same: it makes demos and tests repeatable."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from agents import Model, ModelResponse
from agents.items import TResponseStreamEvent
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

RECOVERY = "[RECOVERY]"
_WAIT = re.compile(r"\bwait\w*\s+(?:for\s+)?(\d+(?:\.\d+)?)", re.IGNORECASE)
_WAITED = re.compile(r"waited (\d+(?:\.\d+)?) seconds")

Item = Mapping[str, Any]


class ScriptedModel(Model):
    """Asked to "wait N" it calls ``wait(N)``; then it tells what it did and was asked so far.

    ``pause`` is the time between two words, in seconds.
    """

    def __init__(self, pause: float = 0.02) -> None:
        self._pause = pause

    async def get_response(self, *args: Any, **more: Any) -> ModelResponse:
        raise NotImplementedError("it streams")

    async def stream_response(
        self, system_instructions: str | None, input: Any, *args: Any, **more: Any
    ) -> AsyncIterator[TResponseStreamEvent]:
        output = next_output(input)
        for item in output:
            if isinstance(item, ResponseOutputMessage):
                for event in _words(item):
                    yield event
                    await asyncio.sleep(self._pause)
        answer = Response(
            id=f"answer_{uuid4().hex}",
            created_at=0,
            model="scripted",
            object="response",
            output=output,
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(response=answer, sequence_number=0, type="response.completed")


def next_output(items: Sequence[Item]) -> list[ResponseOutputItem]:
    """What comes next in a conversation: calls for every wait that is left, or an answer."""
    asked = [index for index, item in enumerate(items) if _asks(item)]
    known = " ".join(_text(item) for item in items[asked[-1] + 1 :] if not _speaks(item))
    waits, waited = _WAIT.findall(_text(items[asked[-1]])), _WAITED.findall(known)
    if left := waits[len(waited) :]:
        return [_call(float(seconds)) for seconds in left]
    things = ", ".join(f'"{_text(items[index])}"' for index in asked)
    done = f"I waited {' and '.join(waited)} seconds. " if waited else ""
    return [_message(f"{done}You have asked me {len(asked)}: {things}.")]


def _text(item: Item) -> str:
    return str(item.get("content") or item.get("output") or "")


def _speaks(item: Item) -> bool:
    return item.get("role") == "assistant" or item.get("type") == "function_call"


def _asks(item: Item) -> bool:
    return item.get("role") == "user" and RECOVERY not in _text(item)


def _call(seconds: float) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        call_id=f"call_{uuid4().hex[:24]}",
        name="wait",
        arguments=json.dumps({"seconds": seconds}),
        type="function_call",
    )


def _message(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(text=text, annotations=[], type="output_text")
    name = f"msg_{uuid4().hex[:24]}"
    return ResponseOutputMessage(
        id=name, content=[part], role="assistant", status="completed", type="message"
    )


def _words(message: ResponseOutputMessage) -> Iterator[ResponseTextDeltaEvent]:
    [part] = message.content
    assert isinstance(part, ResponseOutputText)
    for number, word in enumerate(re.findall(r"\S+\s*", part.text)):
        yield ResponseTextDeltaEvent(
            content_index=0,
            delta=word,
            item_id=message.id,
            logprobs=[],
            output_index=0,
            sequence_number=number,
            type="response.output_text.delta",
        )
