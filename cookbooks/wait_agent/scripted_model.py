"""A chat model that needs no key and always says the same: it makes demos and tests repeatable.

It reads the conversation like a real one, streams word by word and calls tools.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable

RECOVERY = "[RECOVERY]"
_WAIT = re.compile(r"\bwait\w*\s+(?:for\s+)?(\d+(?:\.\d+)?)", re.IGNORECASE)
_WAITED = re.compile(r"waited (\d+(?:\.\d+)?) seconds")


class ScriptedModel(BaseChatModel):
    """Asked to "wait N" it calls ``wait(N)``; then it tells how long it waited and what it was
    asked so far. ``pause`` is the time between two words, in seconds."""

    pause: float = 0.02

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        whole: Any = None
        for chunk in _chunks(messages):
            whole = chunk if whole is None else whole + chunk
        message = AIMessage(content=whole.content, tool_calls=whole.tool_calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(messages):
            yield ChatGenerationChunk(message=chunk)
            await asyncio.sleep(self.pause)


def _chunks(messages: Sequence[BaseMessage]) -> Iterator[AIMessageChunk]:
    """The next message, in the pieces in which it is streamed."""
    asked, after = _last_turn(messages)
    waits = _WAIT.findall(asked)
    waited = [seconds for message in after for seconds in _WAITED.findall(message.text)]
    if len(waited) >= len(waits):
        yield from (AIMessageChunk(content=word) for word in _words(_answer(messages, waited)))
        return
    for index, seconds in enumerate(waits[len(waited) :]):
        arguments, call_id = f'{{"seconds": {seconds}}}', f"call_{uuid4().hex[:24]}"
        call = tool_call_chunk(name="wait", args=arguments, id=call_id, index=index)
        yield AIMessageChunk(content="", tool_call_chunks=[call])


def _last_turn(messages: Sequence[BaseMessage]) -> tuple[str, Sequence[BaseMessage]]:
    """What was asked last, and what is known since: tool results, notes of a recovery."""
    for position in range(len(messages) - 1, -1, -1):
        if _asks(messages[position]):
            rest = messages[position + 1 :]
            known = [m for m in rest if isinstance(m, ToolMessage) or RECOVERY in m.text]
            return messages[position].text, known
    return "", ()


def _asks(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and RECOVERY not in message.text


def _answer(messages: Sequence[BaseMessage], waited: Sequence[str]) -> str:
    asked = [message.text for message in messages if _asks(message)]
    things = "one thing" if len(asked) == 1 else f"{len(asked)} things"
    listed = ", ".join(f'"{text}"' for text in asked)
    done = f"I waited {' and '.join(waited)} seconds. " if waited else ""
    return f"{done}You have asked me {things}: {listed}."


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text)
