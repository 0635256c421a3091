"""Messages as streams of content blocks: start, block by block, finish. Pure.

The rule is the ``messages`` channel of the agent streaming protocol (``MessagesData`` of
``langchain_protocol``). Both official clients tell concurrent messages apart by ``id`` or
``run_id``, which the protocol wants on the start only; here every event carries them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.ai import add_usage

ROLES = {"ai": "ai", "AIMessageChunk": "ai", "human": "human", "system": "system"}
"""The messages that are told; a tool's result is told by the ``tools`` channel and the values."""

GROWING = ("text", "reasoning", "args")
"""What a later chunk of a block continues."""

Data = dict[str, Any]


class MessageStreams:
    """The messages of one run; feed it every ``[message, metadata]`` pair, in order."""

    def __init__(self) -> None:
        self._open: dict[str, _Message] = {}
        self._told: set[str] = set()

    def add(
        self, message: Mapping[str, Any], metadata: Mapping[str, Any], namespace: list[str]
    ) -> Iterator[Data]:
        """What one chunk, or one whole message, tells."""
        role, message_id = ROLES.get(message["type"]), str(message.get("id"))
        if role is None or message_id in self._told:
            return
        growing = self._open.get(message_id)
        if growing is None:
            growing = self._open[message_id] = _Message(message_id, metadata, namespace)
            yield growing.start(role)
        yield from growing.add(message)
        if message["type"] != "AIMessageChunk" or message.get("chunk_position") == "last":
            yield from self._close(growing)

    def close(self, task_id: str | None = None) -> Iterator[tuple[_Message, Data]]:
        """Finish what is still open: that of one task, or all of it, at the end of an attempt.

        Another attempt may tell a message again under the same id.
        """
        for message in list(self._open.values()):
            if task_id in (None, message.task_id):
                for data in self._close(message):
                    yield message, data
        if task_id is None:
            self._told.clear()

    def _close(self, message: _Message) -> Iterator[Data]:
        self._told.add(message.message_id)
        del self._open[message.message_id]
        yield from message.finish()


class _Message:
    """One message while it grows."""

    def __init__(self, message_id: str, metadata: Mapping[str, Any], namespace: list[str]) -> None:
        self.message_id = message_id
        self.namespace = namespace
        self.node = metadata.get("langgraph_node")
        self.task_id = str(metadata.get("langgraph_checkpoint_ns")).rpartition(":")[2]
        self._blocks: dict[Any, Data] = {}
        self._metadata: Data = {}
        self._usage: Any = None

    def start(self, role: str) -> Data:
        about = {"metadata": {"langgraph_node": self.node}} if self.node else {}
        return self._event("message-start", role=role, **about)

    def add(self, message: Mapping[str, Any]) -> Iterator[Data]:
        for key, block in _blocks_of(message):
            known = self._blocks.get(key)
            if known is None:
                known = {**block, "index": len(self._blocks)}
                self._blocks[key or known["index"]] = known
                yield self._event(
                    "content-block-start", index=known["index"], content=_empty(block)
                )
            else:
                _grow(known, block)
            if delta := _delta(block):
                yield self._event("content-block-delta", index=known["index"], delta=delta)
        self._metadata |= message.get("response_metadata") or {}
        if usage := message.get("usage_metadata"):
            self._usage = add_usage(self._usage, usage)

    def finish(self) -> Iterator[Data]:
        for block in self._blocks.values():
            index = block.pop("index")
            yield self._event("content-block-finish", index=index, content=_whole(block))
        told = {"usage": self._usage, "metadata": self._metadata}
        yield self._event("message-finish", **{k: v for k, v in told.items() if v})

    def _event(self, name: str, **fields: Any) -> Data:
        return {"event": name, "id": self.message_id, "run_id": self.message_id, **fields}


def _blocks_of(message: Mapping[str, Any]) -> Iterator[tuple[Any, Data]]:
    """The blocks of one chunk, each under the key that its later chunks have too.

    A block under None is whole, or at least not continued.
    """
    chunk = message["type"] == "AIMessageChunk"
    calls = message.get("tool_call_chunks") or () if chunk else ()
    for block in [*_said(message), *({"type": "tool_call_chunk", **call} for call in calls)]:
        rest = {k: v for k, v in block.items() if k != "index" and v is not None}
        index = block.get("index")
        goes_on = chunk and (index is not None or rest["type"] in ("text", "reasoning"))
        yield (rest["type"], index) if goes_on else None, rest


def _said(message: Mapping[str, Any]) -> list[Any]:
    """Everything but the pieces of tool calls, as content blocks of LangChain's own making."""
    content = message.get("content")
    chunk = message["type"] == "AIMessageChunk"
    called = not chunk and (message.get("tool_calls") or message.get("invalid_tool_calls"))
    if isinstance(content, str) and not message.get("additional_kwargs") and not called:
        return [{"type": "text", "text": content}] if content else []
    if chunk:
        grown = AIMessageChunk.model_validate(message).content_blocks
        return [block for block in grown if "tool_call" not in block["type"]]
    whole = AIMessage.model_validate({**message, "type": "ai"})
    return [*whole.content_blocks, *whole.invalid_tool_calls]


def _grows(block: Data, key: str) -> bool:
    return key in block and isinstance(block[key], str)


def _empty(block: Data) -> Data:
    """A block as it starts; that of a client's tool call always has an id and a name."""
    needed = {"id": None, "name": None} if block["type"] == "tool_call_chunk" else {}
    return {**needed, **block, **{k: "" for k in GROWING if _grows(block, k)}}


def _grow(known: Data, block: Data) -> None:
    """Texts and lists are continued; whatever else a later chunk says replaces what was said.

    A chunk that names a call with nothing says nothing: some providers send such names.
    """
    for key, value in block.items():
        if (key in GROWING and _grows(known, key)) or isinstance(value, list):
            known[key] = known.get(key, type(value)()) + value
        elif value != "":
            known[key] = value


def _delta(block: Data) -> Data | None:
    kind = block["type"]
    if kind in ("text", "reasoning"):
        said = block.get(kind)
        return {"type": f"{kind}-delta", kind: said} if said else None
    if kind in ("tool_call_chunk", "server_tool_call_chunk"):
        said = block.get("args")
        return {"type": "tool-call-delta", "args": said} if said else None
    return None


def _whole(block: Data) -> Data:
    """A finished block: chunks of a tool call become the call, or an invalid one."""
    if block["type"] not in ("tool_call_chunk", "server_tool_call_chunk"):
        return block
    call = {"id": block.get("id"), "name": block.get("name") or ""}
    try:
        args = json.loads(block.get("args") or "{}")
    except ValueError:
        args = None
    if not isinstance(args, dict):
        error = "The arguments are not a JSON object."
        return {"type": "invalid_tool_call", **call, "args": block.get("args"), "error": error}
    return {"type": block["type"].removesuffix("_chunk"), **call, "args": args}
