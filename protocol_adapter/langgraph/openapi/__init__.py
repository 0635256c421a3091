"""This door's part of the OpenAPI document, as data beside the routes it describes."""

from __future__ import annotations

from protocol_adapter.langgraph.openapi.answers import ANSWERED
from protocol_adapter.langgraph.openapi.assistants import ASSISTANTS
from protocol_adapter.langgraph.openapi.bodies import BODIES
from protocol_adapter.langgraph.openapi.crons import CRONS
from protocol_adapter.langgraph.openapi.protocol import PROTOCOL, PROTOCOL_SCHEMAS
from protocol_adapter.langgraph.openapi.runs import RUNS
from protocol_adapter.langgraph.openapi.store import STORE
from protocol_adapter.langgraph.openapi.threads import THREADS
from protocol_adapter.openapi import Door, ref

LANGGRAPH = Door(
    operations={**ASSISTANTS, **THREADS, **RUNS, **PROTOCOL, **CRONS, **STORE},
    schemas={**ANSWERED, **BODIES, **PROTOCOL_SCHEMAS},
    refusal=ref("Refusal"),
    refusals=(422, 503),
    body_refusals=(400,),
)
