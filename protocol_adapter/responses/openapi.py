"""This door's part of the OpenAPI document, as data beside the routes it describes."""

from __future__ import annotations

from protocol_adapter.openapi import (
    ANY,
    FLAG,
    OBJECT,
    TEXT,
    Answer,
    Door,
    Operation,
    Schema,
    asked,
    listed,
    nullable,
    number,
    one_of,
    ref,
    row,
)

from .config import GRANULARITIES, TOOL_ITEMS
from .objects import CUSTOM_OUTPUTS, ECHOED
from .request import TYPES

_KINDS: dict[type, Schema] = {
    bool: FLAG,
    dict: OBJECT,
    float: {"type": "number"},
    int: {"type": "integer"},
    list: listed(OBJECT),
    str: TEXT,
}
_STATUSES = ("queued", "in_progress", "completed", "incomplete", "failed", "cancelled")
_NAMED = ("X-Response-Id",)
_RESPONSE = Answer(schema=ref("Response"), streams=True, headers=_NAMED)


def _of(key: str) -> Schema:
    """What the door takes under ``key``."""
    kinds = [_KINDS[kind] for kind in TYPES[key]]
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


_ASKED = {
    **{key: _of(key) for key in TYPES},
    "tool_items": one_of(TOOL_ITEMS),
    "stream_granularity": one_of(GRANULARITIES),
}
_ANSWERED: dict[str, Schema] = {
    "id": TEXT,
    "object": one_of(("response",)),
    "created_at": {"type": "integer"},
    "completed_at": nullable({"type": "integer"}),
    "status": one_of(_STATUSES),
    "background": FLAG,
    "error": nullable(OBJECT),
    "incomplete_details": nullable(OBJECT),
    "model": TEXT,
    "output": listed(OBJECT),
    "conversation": row(id=TEXT),
    "usage": nullable(OBJECT),
    **{key: nullable(_of(key)) for key in ECHOED},
}
_WHOLE = row(**_ANSWERED)
_ERROR = row(message=TEXT, type=TEXT, param=nullable(TEXT), code=nullable(TEXT))
_DELETED = Answer(schema=row(id=TEXT, object=TEXT, deleted=FLAG))
_LIST = Answer(
    schema=row(
        object=one_of(("list",)),
        data=listed(OBJECT),
        first_id=nullable(TEXT),
        last_id=nullable(TEXT),
        has_more=FLAG,
    )
)
_PAGE = {"limit": number(1, 100), "order": one_of(("asc", "desc")), "after": TEXT}
_SIGNAL = {"id": TEXT}
_CONVERSATION = Answer(
    schema=row(id=TEXT, object=TEXT, created_at={"type": "integer"}, metadata=OBJECT)
)
_OPERATIONS = {
    "POST /responses": Operation(
        "Take a turn of a conversation",
        {200: _RESPONSE},
        ref("ResponseCreate"),
        refusals=(404, 409),
    ),
    "GET /responses/{response_id}": Operation(
        "One response, or its stream from an event on",
        {200: _RESPONSE},
        query={
            "stream": one_of(("true", "false", "1", "0")),
            "starting_after": number(0, 10**18 - 1),
        },
        refusals=(404,),
    ),
    "DELETE /responses/{response_id}": Operation(
        "Delete a response that has ended",
        {200: _DELETED},
        refusals=(404,),
    ),
    "POST /responses/{response_id}/cancel": Operation(
        "Cancel a background response", {200: Answer(schema=ref("Response"))}, refusals=(404,)
    ),
    "POST /responses/{response_id}/signals/{name}": Operation(
        "Signal a run of the conversation that waits, or will wait; with an id, once",
        {200: Answer(schema=row(id=TEXT, object=TEXT, name=TEXT, new=FLAG))},
        ANY,
        needs_body=False,
        query=_SIGNAL,
        refusals=(404,),
    ),
    "GET /responses/{response_id}/input_items": Operation(
        "What a response was made from", {200: _LIST}, query=_PAGE, refusals=(404,)
    ),
    "POST /conversations": Operation(
        "A new conversation",
        {200: _CONVERSATION},
        nullable(ref("ConversationCreate")),
        needs_body=False,
    ),
    "GET /conversations/{conversation_id}": Operation(
        "One conversation", {200: _CONVERSATION}, refusals=(404,)
    ),
    "POST /conversations/{conversation_id}": Operation(
        "Give a conversation other metadata",
        {200: _CONVERSATION},
        ref("ConversationCreate"),
        refusals=(404,),
    ),
    "DELETE /conversations/{conversation_id}": Operation(
        "Delete a conversation and everything in it", {200: _DELETED}, refusals=(404, 409)
    ),
    "GET /conversations/{conversation_id}/items": Operation(
        "What was said in a conversation", {200: _LIST}, query=_PAGE, refusals=(404,)
    ),
    "POST /conversations/{conversation_id}/items": Operation(
        "Put items into a conversation", {200: _LIST}, ref("ItemsCreate"), refusals=(404,)
    ),
    "GET /conversations/{conversation_id}/items/{item_id}": Operation(
        "One item", {200: Answer(schema=OBJECT)}, refusals=(404,)
    ),
    "DELETE /conversations/{conversation_id}/items/{item_id}": Operation(
        "Take a message out of a conversation", {200: _CONVERSATION}, refusals=(404,)
    ),
    "GET /models": Operation("The served graphs", {200: Answer(schema=OBJECT)}),
    "GET /models/{model}": Operation("One graph", {200: Answer(schema=OBJECT)}, refusals=(404,)),
}

RESPONSES = Door(
    operations={
        name.replace(" /", f" {prefix}/"): operation
        for prefix in ("", "/v1")
        for name, operation in _OPERATIONS.items()
    },
    schemas={
        "Response": {
            **_WHOLE,
            "properties": {**_ANSWERED, CUSTOM_OUTPUTS: ANY},
        },
        "ResponseCreate": asked(("input",), **_ASKED),
        "ConversationCreate": asked((), metadata=OBJECT, items=listed(OBJECT)),
        "ItemsCreate": asked(("items",), items=listed(OBJECT)),
        "ResponseRefusal": row(error=_ERROR),
    },
    refusal=ref("ResponseRefusal"),
    refusals=(400, 503),
)
