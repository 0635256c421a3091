"""What the routes of threads read and answer, runs aside."""

from __future__ import annotations

from protocol_adapter.langgraph.openapi.answers import COUNT
from protocol_adapter.langgraph.openapi.bodies import STATE_KEYS
from protocol_adapter.langgraph.openapi.forms import (
    CURSOR,
    NOTHING,
    PAGED,
    SWITCH,
    TOTAL,
    many,
    one,
)
from protocol_adapter.langgraph.thread_stream import MODES
from protocol_adapter.langgraph.threads import INCLUDED
from protocol_adapter.openapi import (
    ANY,
    FLAG,
    TEXT,
    Answer,
    Operation,
    listed,
    number,
    one_of,
    ref,
    row,
)

THREADS = {
    "POST /threads": Operation(
        "Make a thread", one("Thread"), ref("ThreadCreate"), refusals=(404, 409)
    ),
    "POST /threads/search": Operation(
        "Find threads", many("SelectedThread", PAGED), ref("ThreadSearch")
    ),
    "POST /threads/count": Operation("Count threads", TOTAL, ref("ThreadCount")),
    "POST /threads/prune": Operation(
        "Delete threads, or all but their latest checkpoints",
        {200: Answer(schema=row(pruned_count=COUNT))},
        ref("ThreadPrune"),
        refusals=(409,),
    ),
    "POST /threads/{thread_id}/copy": Operation(
        "A new thread with all that this one holds", one("Thread"), refusals=(404, 409)
    ),
    "GET /threads/{thread_id}": Operation(
        "One thread",
        one("ThreadWithTtl"),
        query={"include": listed(one_of(INCLUDED))},
        refusals=(404,),
    ),
    "PATCH /threads/{thread_id}": Operation(
        "Change a thread's metadata or life time",
        {**one("Thread"), **NOTHING},
        ref("ThreadUpdate"),
        headers=("Prefer",),
        refusals=(404,),
    ),
    "DELETE /threads/{thread_id}": Operation(
        "Delete a thread with its runs and checkpoints", NOTHING, refusals=(404, 409)
    ),
    "GET /threads/{thread_id}/state": Operation(
        "The state of a thread",
        one("SelectedState"),
        query={"subgraphs": SWITCH, "select": STATE_KEYS},
        refusals=(400, 404),
    ),
    "POST /threads/{thread_id}/state": Operation(
        "Write to the state, as a node would",
        one("UpdatedState"),
        ref("StateUpdate"),
        refusals=(404, 409),
    ),
    "POST /threads/{thread_id}/state/checkpoint": Operation(
        "The state at a checkpoint",
        one("SelectedState"),
        ref("StateAtCheckpoint"),
        refusals=(404,),
    ),
    "GET /threads/{thread_id}/state/{checkpoint_id}": Operation(
        "The state at a checkpoint, by its id",
        one("SelectedState"),
        query={"subgraphs": SWITCH, "select": STATE_KEYS},
        refusals=(400, 404),
    ),
    "POST /threads/{thread_id}/history": Operation(
        "The states of a thread, the latest first",
        many("SelectedState"),
        ref("History"),
        refusals=(404,),
    ),
    "GET /threads/{thread_id}/history": Operation(
        "The states of a thread, the latest first",
        many("SelectedState"),
        query={"limit": number(1, 1000), "before": TEXT, "select": STATE_KEYS},
        refusals=(400, 404),
    ),
    "POST /threads/{thread_id}/signals/{name}": Operation(
        "Signal a run that waits, or will wait; with an id, once",
        {200: Answer(schema=row(thread_id=TEXT, name=TEXT, new=FLAG))},
        ANY,
        needs_body=False,
        query={"id": TEXT},
        refusals=(404,),
    ),
    "GET /threads/{thread_id}/stream": Operation(
        "Everything that happens on a thread, run after run; it has no end",
        {200: Answer(streams=True, headers=("Location",))},
        query={
            "stream_mode": listed(one_of(MODES)),
            "stream_modes": listed(one_of(MODES)),
        },
        headers=CURSOR,
        refusals=(404,),
    ),
}
