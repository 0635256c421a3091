"""Reading a stream of server-sent events frame by frame; half a frame is none."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import httpx

from tests.chaos.transcript import Frame


async def frames(answer: httpx.Response) -> AsyncGenerator[Frame, None]:
    """Whole frames until the stream ends; comments are passed over."""
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if not line:
            if "data" in fields:
                yield _frame(fields)
            fields = {}
            continue
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")


def _frame(fields: dict[str, str]) -> Frame:
    event_id = fields.get("id")
    return Frame(
        int(event_id) if event_id is not None else None, fields.get("event", ""), fields["data"]
    )
