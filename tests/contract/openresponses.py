"""The Open Responses schema as a judge of the plain dialect.

``mcp_*`` items, their events and tools that are no functions are OpenAI's and no part of that
schema. The items and events are held to OpenAI's own models, and taken out of a Response before
the rest of it is held to the schema. ``response.resumed`` is this server's own.
"""

from __future__ import annotations

from typing import Any, get_args

import openresponses_types
import orjson
from openai.types.responses import ResponseOutputItem, ResponseStreamEvent
from openresponses_types import ResponseResource
from pydantic import BaseModel, TypeAdapter

Frame = dict[str, Any]

RESUMED = {"type", "sequence_number", "attempt", "from_seq", "conversation_id"}


def _events() -> dict[str, type[BaseModel]]:
    found = {}
    for name, model in vars(openresponses_types.types).items():
        if name.endswith("StreamingEvent"):
            [kind] = list(model.model_fields["type"].annotation)
            found[str(kind)] = model
    return found


def _openai_events() -> dict[str, type[BaseModel]]:
    models = get_args(get_args(ResponseStreamEvent)[0])
    return {get_args(model.model_fields["type"].annotation)[0]: model for model in models}


EVENTS = _events()
OPENAI_EVENTS = _openai_events()
OPENAI_ITEM: TypeAdapter[Any] = TypeAdapter(ResponseOutputItem)


def is_mcp(item: Any) -> bool:
    return str(item["type"]).startswith("mcp_")


def check_response(body: dict[str, Any]) -> None:
    """Raises ValidationError unless ``body`` is a Response."""
    for item in filter(is_mcp, body["output"]):
        OPENAI_ITEM.validate_python(item)
    plain = [item for item in body["output"] if not is_mcp(item)]
    functions = [tool for tool in body["tools"] if tool["type"] == "function"]
    text = {**body["text"], "format": dict(body["text"]["format"])}
    if "schema" in text["format"]:
        text["format"]["schema"] = None  # all that the schema allows there, by a slip
    ResponseResource.model_validate({**body, "output": plain, "tools": functions, "text": text})


def check_frame(frame: Frame) -> None:
    """Raises ValidationError unless ``frame`` is an event."""
    kind = frame["type"]
    if kind == "response.resumed":
        assert frame.keys() == RESUMED
    elif "response" in frame:
        check_response(frame["response"])
        assert EVENTS[kind].model_fields.keys() == frame.keys()
    elif ".mcp_" in kind or is_mcp(frame.get("item", {"type": ""})):
        OPENAI_EVENTS[kind].model_validate(frame)
    else:
        EVENTS[kind].model_validate(frame)


def read_stream(raw: bytes) -> list[Frame]:
    """The frames of a whole stream, which must be framed exactly as clients of all kinds take it:
    line feeds only, ``event`` before ``data``, nothing but comments between, ``[DONE]`` behind."""
    *blocks, done, rest = raw.split(b"\n\n")
    assert (done, rest) == (b"data: [DONE]", b"")
    frames = []
    for block in blocks:
        if block == b": ping":
            continue
        _, data = block.split(b"\n")
        frame = orjson.loads(data.removeprefix(b"data: "))
        assert block == b"event: " + frame["type"].encode() + b"\ndata: " + data[6:]
        frames.append(frame)
    return frames


def check_stream(frames: list[Frame]) -> None:
    """Raises unless a whole stream's frames are events, numbered without a gap."""
    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))
    for frame in frames:
        check_frame(frame)
