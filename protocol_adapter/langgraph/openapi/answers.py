"""Objects that this door answers, as JSON schemas.

The rows have the columns of ``selection``: a new one without a type fails at import.
"""

from __future__ import annotations

from collections.abc import Iterable

from langgraph_durable.model import RunStatus, ThreadStatus
from protocol_adapter.langgraph.selection import (
    ASSISTANT_FIELDS,
    CRON_FIELDS,
    RUN_FIELDS,
    STATE_FIELDS,
    THREAD_FIELDS,
)
from protocol_adapter.openapi import (
    ANY,
    FLAG,
    MOMENT,
    OBJECT,
    TEXT,
    UUID,
    Schema,
    listed,
    nullable,
    number,
    one_of,
    part_of,
    ref,
    row,
)

COUNT = number(0, 2**63 - 1)
NULL: Schema = {"type": "null"}
INTERRUPT: Schema = {
    **{"type": "object", "required": ["id", "value"], "additionalProperties": False},
    "properties": {"id": TEXT, "value": ANY, "response_schema": OBJECT},
}
COLUMNS: dict[str, Schema] = {
    "assistant_id": UUID,
    "checkpoint": nullable(ref("Checkpoint")),
    "checkpoint_id": nullable(TEXT),
    "config": OBJECT,
    "context": nullable(OBJECT),
    "created_at": MOMENT,
    "cron_id": UUID,
    "description": nullable(TEXT),
    "enabled": FLAG,
    "end_time": nullable(MOMENT),
    "error": nullable(ref("GraphError")),
    "graph_id": TEXT,
    "interrupts": listed(ref("Interrupt")),
    "kwargs": OBJECT,
    "metadata": OBJECT,
    "multitask_strategy": one_of(("enqueue", "reject", "interrupt", "rollback")),
    "name": TEXT,
    "next": listed(TEXT),
    "next_run_date": nullable(MOMENT),
    "on_run_completed": nullable(one_of(("delete", "keep"))),
    "parent_checkpoint": nullable(ref("Checkpoint")),
    "parent_checkpoint_id": nullable(TEXT),
    "payload": OBJECT,
    "run_id": UUID,
    "schedule": TEXT,
    "state_updated_at": MOMENT,
    "tasks": listed(ref("Task")),
    "thread_id": TEXT,
    "timezone": nullable(TEXT),
    "updated_at": MOMENT,
    "user_id": TEXT,
    "values": ANY,
    "version": number(1, 2**31 - 1),
}


def _row(fields: Iterable[str], **own: Schema) -> Schema:
    """The columns of a noun; ``own`` are those that mean something else to it."""
    return row(**({name: own.get(name) or COLUMNS[name] for name in fields}))


ASSISTANT = _row(ASSISTANT_FIELDS)
VERSION = _row(name for name in ASSISTANT_FIELDS if name != "updated_at")
THREAD = _row(
    THREAD_FIELDS,
    status=one_of(tuple(ThreadStatus)),
    values=nullable(OBJECT),
    interrupts={"type": "object", "additionalProperties": listed(ref("Interrupt"))},
)
RUN = _row(RUN_FIELDS, status=one_of(tuple(RunStatus)))
CRON = _row(CRON_FIELDS, thread_id=nullable(TEXT))
STATE = _row(STATE_FIELDS, metadata=nullable(OBJECT), created_at=nullable(MOMENT))
TTL = row(
    strategy=one_of(("delete", "keep_latest")),
    ttl_minutes={"type": "number"},
    expires_at=nullable(MOMENT),
)
CHECKPOINT: Schema = {
    **{"type": "object", "required": ["thread_id", "checkpoint_ns", "checkpoint_id"]},
    "properties": {
        "thread_id": TEXT,
        "checkpoint_ns": TEXT,
        "checkpoint_id": nullable(TEXT),
        "checkpoint_map": OBJECT,
    },
    "additionalProperties": False,
}
TASK = row(
    id=TEXT,
    name=TEXT,
    path=listed(ANY),
    error=nullable(TEXT),
    interrupts=listed(ref("Interrupt")),
    checkpoint=nullable(ref("Checkpoint")),
    state=nullable(ref("ThreadState")),
    result=ANY,
)
ITEM = row(namespace=listed(TEXT), key=TEXT, value=OBJECT, created_at=MOMENT, updated_at=MOMENT)
SCHEMAS_OF_A_GRAPH = {
    f"{kind}_schema": nullable(OBJECT) for kind in ("input", "output", "state", "config", "context")
}

ANSWERED: dict[str, Schema] = {
    "Assistant": ASSISTANT,
    "AssistantVersion": VERSION,
    "SelectedAssistant": part_of(ASSISTANT),
    "Schemas": row(**SCHEMAS_OF_A_GRAPH),
    "GraphSchemas": row(graph_id=TEXT, **SCHEMAS_OF_A_GRAPH),
    "Graph": row(nodes=listed(OBJECT), edges=listed(OBJECT)),
    "Thread": THREAD,
    "ThreadWithTtl": {**THREAD, "properties": {**THREAD["properties"], "ttl": TTL}},
    "SelectedThread": {
        **part_of(THREAD),
        "properties": {**THREAD["properties"], "context": NULL, "extracted": OBJECT},
    },
    "ThreadState": STATE,
    "SelectedState": part_of(STATE),
    "UpdatedState": row(
        checkpoint=ref("Checkpoint"), configurable=ref("Checkpoint"), checkpoint_id=TEXT
    ),
    "Checkpoint": CHECKPOINT,
    "Task": TASK,
    "Interrupt": INTERRUPT,
    "GraphError": row(error=TEXT, message=TEXT),
    "Run": RUN,
    "SelectedRun": {
        **part_of(RUN),
        "properties": {**RUN["properties"], "cancel_reason": NULL},
    },
    "Cron": CRON,
    "SelectedCron": {**part_of(CRON), "properties": {**CRON["properties"], "now": MOMENT}},
    "Item": ITEM,
    "FoundItem": row(**ITEM["properties"], score=nullable({"type": "number"})),
    "Refusal": row(detail=TEXT),
}
