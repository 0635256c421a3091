"""The ``messages`` mode: growing messages, folded from the chunks in the log. Pure."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import (
    AIMessageChunk,
    BaseMessageChunk,
    ChatMessageChunk,
    FunctionMessageChunk,
    HumanMessageChunk,
    SystemMessageChunk,
    ToolMessageChunk,
    message_chunk_to_message,
)

from langgraph_durable.serde import decode, encode

_CHUNKS: dict[str, type[BaseMessageChunk]] = {
    kind.__name__: kind
    for kind in (
        AIMessageChunk,
        ChatMessageChunk,
        FunctionMessageChunk,
        HumanMessageChunk,
        SystemMessageChunk,
        ToolMessageChunk,
    )
}


class MessageFold:
    """Folds ``[chunk, metadata]`` events; feed it the whole run, in order."""

    def __init__(self) -> None:
        self._grown: dict[str, BaseMessageChunk] = {}
        self._announced: set[str] = set()

    def add(self, data: str) -> list[tuple[str, str]]:
        """The frames, as name and JSON text, that one event gives: one or two."""
        message, metadata = decode(data)
        message_id = str(message.get("id"))
        frames = []
        if message_id not in self._announced:
            self._announced.add(message_id)
            frames.append(("messages/metadata", encode({message_id: {"metadata": metadata}})))
        if message["type"] in _CHUNKS:
            frames.append(("messages/partial", encode([self._grow(message_id, message)])))
        else:
            frames.append(("messages/complete", encode([message])))
        return frames

    def _grow(self, message_id: str, message: dict[str, Any]) -> dict[str, Any]:
        chunk = _CHUNKS[message["type"]].model_validate(message)
        before = self._grown.get(message_id)
        grown = chunk if before is None else before + chunk
        if not isinstance(grown, BaseMessageChunk):
            raise TypeError(f"chunks of message {message_id} do not add up")
        self._grown[message_id] = grown
        return message_chunk_to_message(grown).model_dump()
