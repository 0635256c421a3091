"""What the two routes of the agent streaming protocol read and answer."""

from __future__ import annotations

from protocol_adapter.langgraph.openapi.forms import CURSOR, one
from protocol_adapter.langgraph.protocol_events import CHANNELS
from protocol_adapter.openapi import (
    OBJECT,
    TEXT,
    Answer,
    Operation,
    Schema,
    asked,
    listed,
    number,
    one_of,
    ref,
    row,
)

CHANNEL: Schema = {"anyOf": [one_of(tuple(CHANNELS)), {"type": "string", "pattern": "^custom:."}]}
ID: Schema = {"type": "integer", "minimum": 0}
DONE = row(type=one_of(("success",)), id=ID, result=OBJECT)
PROTOCOL_SCHEMAS: dict[str, Schema] = {
    "ProtocolCommand": asked(("id", "method"), id=ID, method=TEXT, params=OBJECT),
    "CommandAnswer": {
        "anyOf": [
            {**DONE, "properties": {**DONE["properties"], "meta": OBJECT}},
            row(type=one_of(("error",)), id=ID, error=TEXT, message=TEXT),
        ]
    },
    "Subscription": asked(
        ("channels",),
        channels={**listed(CHANNEL), "minItems": 1},
        namespaces=listed(listed(TEXT)),
        depth=number(0, 2**31),
        since=number(0, 2**53),
    ),
}
PROTOCOL = {
    "POST /threads/{thread_id}/commands": Operation(
        "Carry out a command; one that cannot be is answered as an error, with 200",
        one("CommandAnswer"),
        ref("ProtocolCommand"),
    ),
    "POST /threads/{thread_id}/stream/events": Operation(
        "Events of a thread, on the channels subscribed to; it has no end",
        {200: Answer(streams=True)},
        ref("Subscription"),
        headers=CURSOR,
        refusals=(404,),
    ),
}
