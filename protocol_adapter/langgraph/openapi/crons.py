"""What the routes of crons read and answer."""

from __future__ import annotations

from protocol_adapter.langgraph.openapi.forms import NOTHING, PAGED, TOTAL, many, one
from protocol_adapter.openapi import Operation, ref

CRONS = {
    "POST /runs/crons": Operation(
        "Make a cron whose runs have a new thread each",
        one("Cron"),
        ref("CronCreate"),
        refusals=(404,),
    ),
    "POST /threads/{thread_id}/runs/crons": Operation(
        "Make a cron whose runs share a thread", one("Cron"), ref("CronCreate"), refusals=(404,)
    ),
    "POST /runs/crons/search": Operation(
        "Find crons", many("SelectedCron", PAGED), ref("CronSearch")
    ),
    "POST /runs/crons/count": Operation("Count crons", TOTAL, ref("CronCount")),
    "GET /runs/crons/{cron_id}": Operation("One cron", one("Cron"), refusals=(404,)),
    "PATCH /runs/crons/{cron_id}": Operation(
        "Change a cron", one("Cron"), ref("CronUpdate"), refusals=(404,)
    ),
    "DELETE /runs/crons/{cron_id}": Operation("Delete a cron", NOTHING, refusals=(404,)),
}
