"""Reading a LangGraph event stream, strictly: the exact bytes this door promises."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

_FRAME = re.compile(rb"event: ([^\r\n]+)\r\ndata: ([^\r\n]+)\r\n(?:id: (\d+)\r\n)?\r\n")
_COMMENT = re.compile(rb": [^\r\n]+\r\n\r\n")


@dataclass(frozen=True)
class Frame:
    """One event frame as it came."""

    event: str
    data: Any
    id: int | None


def read_frames(raw: bytes) -> list[Frame]:
    """Every frame of a whole body; anything that is neither frame nor comment is an error."""
    frames, position = [], 0
    while position < len(raw):
        comment = _COMMENT.match(raw, position)
        found = comment or _FRAME.match(raw, position)
        assert found is not None, f"not a frame: {raw[position : position + 200]!r}"
        if not comment:
            event, data, event_id = found.groups()
            frames.append(
                Frame(event.decode(), orjson.loads(data), int(event_id) if event_id else None)
            )
        position = found.end()
    return frames
