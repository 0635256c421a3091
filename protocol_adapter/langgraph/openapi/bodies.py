"""Bodies that this door reads, as JSON schemas.

The closed sets are those that the routes check with; that every key which a route reads stands
here, and none besides, is a test.
"""

from __future__ import annotations

from langgraph_durable.model import ThreadStatus
from protocol_adapter.langgraph import assistants, bulk, crons, threads
from protocol_adapter.langgraph.request import STREAM_MODES
from protocol_adapter.langgraph.selection import (
    ASSISTANT_FIELDS,
    CRON_COLUMNS,
    THREAD_COLUMNS,
)
from protocol_adapter.langgraph.store import LONGEST_MINUTES
from protocol_adapter.openapi import (
    ANY,
    FLAG,
    OBJECT,
    TEXT,
    UUID,
    Schema,
    asked,
    listed,
    nullable,
    number,
    one_of,
    ref,
)

SOME_TEXT: Schema = {"type": "string", "minLength": 1}
TEXTS = listed(TEXT)
STATE_KEYS: Schema = {"type": "array", "items": TEXT}
PAGE: dict[str, Schema] = {"limit": number(1, 1000), "offset": number(0, 2**31 - 1)}
ORDER = one_of(("asc", "desc"))
IF_EXISTS = one_of(("raise", "do_nothing"))
IF_NOT_EXISTS = one_of(("create", "reject"))
KEPT = one_of(("delete", "keep"))
DURABILITY = one_of(("sync", "async", "exit"))
MULTITASK = one_of(("enqueue", "reject", "interrupt", "rollback"))
PRUNING = one_of(("delete", "keep_latest"))
MINUTES: Schema = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e8}
MODES: Schema = {"anyOf": [one_of(STREAM_MODES), listed(one_of(STREAM_MODES))]}
NODES: Schema = {"anyOf": [TEXT, TEXTS]}
SEND = asked(("node",), node=TEXT, input=ANY)
TARGET: Schema = {"anyOf": [TEXT, SEND]}
PAIR: Schema = {"type": "array", "prefixItems": [TEXT, ANY], "minItems": 2, "maxItems": 2}
LABEL: Schema = {"type": "string", "pattern": r"^[^.]+$"}
LABELS = listed(LABEL)


_RUN: dict[str, Schema] = {
    "assistant_id": SOME_TEXT,
    "input": ANY,
    "command": ref("Command"),
    "config": ref("Config"),
    "context": OBJECT,
    "metadata": OBJECT,
    "checkpoint": ref("CheckpointPlace"),
    "checkpoint_id": TEXT,
    "stream_mode": MODES,
    "stream_subgraphs": FLAG,
    "stream_resumable": ANY,
    "feedback_keys": ANY,
    "langsmith_tracer": ANY,
    "interrupt_before": NODES,
    "interrupt_after": NODES,
    "durability": DURABILITY,
    "checkpoint_during": FLAG,
    "multitask_strategy": MULTITASK,
    "if_not_exists": IF_NOT_EXISTS,
    "on_completion": KEPT,
    "after_seconds": number(0, 3e8, "number"),
    "webhook": TEXT,
    "strict_resume": FLAG,
}
_DATES: dict[str, Schema] = {
    "schedule": TEXT,
    "timezone": TEXT,
    "end_time": TEXT,
    "enabled": FLAG,
}
_CRON = {key: {**_RUN, **_DATES, "on_run_completed": KEPT}[key] for key in sorted(crons.KEYS)}
_CRON_FILTERS = {"assistant_id": TEXT, "thread_id": TEXT, "enabled": FLAG, "metadata": OBJECT}
_SAID: dict[str, Schema] = {
    "graph_id": TEXT,
    "name": TEXT,
    "description": TEXT,
    "config": ref("Config"),
    "context": OBJECT,
    "metadata": OBJECT,
}
_ASSISTANT_FILTERS = {"metadata": OBJECT, "graph_id": TEXT, "name": TEXT}
_THREAD_FILTERS = {"metadata": OBJECT, "values": OBJECT, "status": one_of(tuple(ThreadStatus))}
_PLACE = {
    "checkpoint_id": TEXT,
    "checkpoint_ns": TEXT,
    "checkpoint_map": {"type": "object", "additionalProperties": nullable(TEXT)},
}

BODIES: dict[str, Schema] = {
    "AssistantCreate": asked(
        ("graph_id",),
        **{**_SAID, "graph_id": SOME_TEXT},
        assistant_id=UUID,
        if_exists=IF_EXISTS,
    ),
    "AssistantUpdate": asked(**_SAID),
    "AssistantSearch": asked(
        **_ASSISTANT_FILTERS,
        **PAGE,
        select=listed(one_of(ASSISTANT_FIELDS)),
        sort_by=one_of(assistants.SORTS),
        sort_order=ORDER,
    ),
    "AssistantCount": asked(**_ASSISTANT_FILTERS),
    "AssistantVersions": asked(**PAGE, metadata=OBJECT),
    "AssistantLatest": asked(("version",), version=number(1, 2**31 - 1)),
    "ThreadCreate": asked(
        thread_id={"type": "string", "pattern": "^[^/]+$", "maxLength": 512},
        metadata=OBJECT,
        if_exists=IF_EXISTS,
        ttl=ref("TimeToLive"),
        supersteps=listed(ref("Superstep")),
    ),
    "ThreadUpdate": asked(metadata=OBJECT, ttl=ref("TimeToLive")),
    "ThreadSearch": asked(
        **_THREAD_FILTERS,
        **PAGE,
        ids=TEXTS,
        select=listed(one_of(THREAD_COLUMNS)),
        extract={"type": "object", "additionalProperties": TEXT, "maxProperties": 10},
        sort_by=one_of(threads.SORTS),
        sort_order=ORDER,
    ),
    "ThreadCount": asked(**_THREAD_FILTERS),
    "ThreadPrune": asked(("thread_ids",), thread_ids=TEXTS, strategy=PRUNING),
    "StateUpdate": asked(
        values=ANY, as_node=TEXT, checkpoint=ref("CheckpointPlace"), checkpoint_id=TEXT
    ),
    "StateAtCheckpoint": asked(
        checkpoint=ref("CheckpointPlace"), subgraphs=FLAG, select=STATE_KEYS
    ),
    "History": asked(
        limit=number(1, 1000),
        before={"anyOf": [TEXT, ref("CheckpointPlace")]},
        metadata=OBJECT,
        checkpoint=ref("CheckpointPlace"),
        select=STATE_KEYS,
    ),
    "RunCreate": asked(("assistant_id",), **_RUN),
    "BatchRunCreate": asked(("assistant_id",), **_RUN, thread_id={"type": "null"}),
    "AttendedRunCreate": asked(
        ("assistant_id",), **_RUN, on_disconnect=one_of(("cancel", "continue"))
    ),
    "RunsCancel": asked(status=one_of(tuple(bulk.OPEN)), thread_id=TEXT, run_ids=TEXTS),
    "CronCreate": asked(("assistant_id", "schedule"), **{**_CRON, "schedule": SOME_TEXT}),
    "CronUpdate": asked(**_CRON),
    "CronSearch": asked(
        **_CRON_FILTERS,
        **PAGE,
        select=listed(one_of(CRON_COLUMNS)),
        sort_by=one_of(crons.SORTS),
        sort_order=ORDER,
    ),
    "CronCount": asked(**_CRON_FILTERS),
    "ItemPut": asked(
        ("namespace", "key", "value"),
        namespace=LABELS,
        key=TEXT,
        value=OBJECT,
        index={"anyOf": [FLAG, TEXTS]},
        ttl={"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_MINUTES},
    ),
    "ItemDelete": asked(("namespace", "key"), namespace=LABELS, key=TEXT),
    "ItemSearch": asked(
        **PAGE, namespace_prefix=LABELS, query=TEXT, filter=OBJECT, refresh_ttl=FLAG
    ),
    "NamespaceList": asked(**PAGE, prefix=LABELS, suffix=LABELS, max_depth=number(1, 1000)),
    "Config": asked(
        configurable=OBJECT, metadata=OBJECT, tags=TEXTS, recursion_limit=number(1, 2**31 - 1)
    ),
    "Command": asked(
        graph={"type": "null"},
        resume=ANY,
        update={"anyOf": [OBJECT, listed(PAIR)]},
        goto={"anyOf": [TARGET, listed(TARGET)]},
    ),
    "CheckpointPlace": asked(**_PLACE, configurable=asked(**_PLACE)),
    "TimeToLive": {"anyOf": [MINUTES, asked(("ttl",), ttl=MINUTES, strategy=PRUNING)]},
    "Superstep": asked(updates=listed(asked(values=ANY, command=ref("Command"), as_node=TEXT))),
}
