"""What the routes of runs read and answer, on threads and without."""

from __future__ import annotations

from langgraph_durable.model import RunStatus
from protocol_adapter.langgraph.openapi.bodies import PAGE
from protocol_adapter.langgraph.openapi.forms import CURSOR, NOTHING, SWITCH, many, one
from protocol_adapter.langgraph.request import STREAM_MODES
from protocol_adapter.langgraph.selection import RUN_COLUMNS
from protocol_adapter.openapi import (
    ANY,
    OBJECT,
    TEXT,
    Answer,
    Operation,
    Schema,
    listed,
    one_of,
    ref,
)

PLACE = ("Content-Location",)
PLACES = ("Content-Location", "Location")
STREAM = {200: Answer(streams=True, headers=PLACES)}
RESULT = {200: Answer(schema=ANY, headers=PLACES)}
CANCELS: dict[str, Schema] = {"cancel_on_disconnect": SWITCH}
VIEW: dict[str, Schema] = {
    "stream_mode": listed(one_of(STREAM_MODES)),
    "stream_subgraphs": SWITCH,
}
SPACES: dict[str, Schema] = {"namespace": listed(TEXT), "checkpoint_id": TEXT}
ACTION: dict[str, Schema] = {"action": one_of(("interrupt", "rollback"))}


def _runs(runs: str, where: str) -> dict[str, Operation]:
    """What is there for a thread's runs and for stateless ones."""
    return {
        f"POST {runs}": Operation(
            f"Start a run {where}", one("Run", *PLACE), ref("RunCreate"), refusals=(404, 409)
        ),
        f"POST {runs}/stream": Operation(
            f"Start a run {where} and stream it",
            STREAM,
            ref("AttendedRunCreate"),
            query=SPACES,
            refusals=(404, 409),
        ),
        f"POST {runs}/wait": Operation(
            f"Start a run {where} and wait for its last values",
            RESULT,
            ref("AttendedRunCreate"),
            refusals=(404, 409),
        ),
        f"GET {runs}/{{run_id}}": Operation("One run", one("Run"), refusals=(404,)),
        f"GET {runs}/{{run_id}}/join": Operation(
            "Wait for the last values of a run", RESULT, query=CANCELS, refusals=(404,)
        ),
        f"GET {runs}/{{run_id}}/stream": Operation(
            "Stream a run, from now on or from an event on",
            STREAM,
            query={**VIEW, **SPACES, **CANCELS, "last_event_id": TEXT},
            headers=CURSOR,
            refusals=(404,),
        ),
    }


_OF_THREAD = "/threads/{thread_id}/runs"
RUNS = {
    f"GET {_OF_THREAD}": Operation(
        "The runs of a thread, the latest first",
        many("SelectedRun"),
        query={
            **PAGE,
            "status": one_of(tuple(RunStatus)),
            "select": listed(one_of(RUN_COLUMNS)),
        },
        refusals=(404,),
    ),
    **_runs(_OF_THREAD, "on a thread"),
    f"DELETE {_OF_THREAD}/{{run_id}}": Operation(
        "Delete a run that has ended", NOTHING, refusals=(400, 404, 409)
    ),
    f"POST {_OF_THREAD}/{{run_id}}/cancel": Operation(
        "Cancel a run",
        {200: Answer(schema=OBJECT, headers=PLACES), 202: Answer()},
        query={**ACTION, "wait": SWITCH},
        refusals=(404,),
    ),
    **_runs("/runs", "without a thread"),
    "POST /runs/batch": Operation(
        "Start many runs, each without a thread",
        many("Run"),
        listed(ref("BatchRunCreate")),
        refusals=(404,),
    ),
    "POST /runs/cancel": Operation(
        "Cancel runs by status or by id", NOTHING, ref("RunsCancel"), query=ACTION, refusals=(404,)
    ),
}
