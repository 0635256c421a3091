"""This door's part of the OpenAPI document, as data beside the routes it describes."""

from __future__ import annotations

from protocol_adapter.openapi import (
    ANY,
    FLAG,
    MOMENT,
    TEXT,
    Answer,
    Door,
    Operation,
    asked,
    listed,
    nullable,
    number,
    one_of,
    ref,
    row,
)

from .ids import LONGEST
from .objects import STATUSES

_NAME = {"type": "string", "minLength": 1, "maxLength": LONGEST}
_GRAPH = {"type": "string", "minLength": 1}
_PLACE = ("Location",)
_ERROR = row(message=TEXT, type=TEXT, param=nullable(TEXT), code=nullable(TEXT))
_INVOCATION = row(
    id=TEXT,
    session_id=TEXT,
    graph=TEXT,
    status=one_of(STATUSES),
    attempt={"type": "integer"},
    output=ANY,
    questions=listed(row(id=TEXT, value=ANY)),
    error=nullable(row(type=TEXT, message=TEXT)),
    created_at=MOMENT,
    completed_at=nullable(MOMENT),
)
_EVENT = row(id={"type": "integer"}, event=TEXT, data=ANY)

INVOCATIONS = Door(
    operations={
        "POST /invocations": Operation(
            "Run a graph: a generic request, or one of the Responses protocol",
            {
                200: Answer(schema={"anyOf": [ref("Invocation"), ref("Response")]}, streams=True),
                202: Answer(schema=ref("Invocation"), headers=_PLACE),
            },
            ref("InvocationCreate"),
            refusals=(404, 409, 410),
        ),
        "GET /invocations/{id}": Operation(
            "How an invocation stands", {200: Answer(schema=ref("Invocation"))}, refusals=(404,)
        ),
        "GET /invocations/{id}/events": Operation(
            "What happened behind an event: a stream, or JSON where only that is accepted",
            {
                200: Answer(
                    schema=row(events=listed(_EVENT), next={"type": "integer"}), streams=True
                )
            },
            query={"after": number(0, 10**18 - 1)},
            headers=("Last-Event-ID",),
            refusals=(404, 410),
        ),
        "POST /invocations/{id}/cancel": Operation(
            "Stop an invocation for good",
            {200: Answer(schema=ref("Invocation"))},
            refusals=(404, 409),
        ),
        "POST /invocations/{id}/signals/{name}": Operation(
            "Signal a run of the session that waits, or will wait; with an id, once",
            {200: Answer(schema=row(id=TEXT, name=TEXT, new=FLAG))},
            ANY,
            needs_body=False,
            query={"id": TEXT},
            refusals=(404,),
        ),
    },
    schemas={
        "Invocation": _INVOCATION,
        "InvocationCreate": asked(
            ("input",),
            id=_NAME,
            session_id=_NAME,
            graph=_GRAPH,
            agent=_GRAPH,
            input=ANY,
            background=FLAG,
            stream=FLAG,
        ),
        "InvocationRefusal": row(error=_ERROR),
    },
    refusal=ref("InvocationRefusal"),
    refusals=(400, 503),
    body_refusals=(422,),
)
