"""Crons: runs that the server makes by itself, on a thread or each on a new one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Cron, CronWish
from protocol_adapter.langgraph.fields import (
    Unprocessable,
    choice,
    flag,
    mapping,
    page,
    text,
    texts,
)
from protocol_adapter.langgraph.http import answer, answer_page, json_body, segment
from protocol_adapter.langgraph.objects import cron_object
from protocol_adapter.langgraph.request import parse_run
from protocol_adapter.langgraph.selection import CRON_COLUMNS, check_columns, select

SORTS = (
    *("cron_id", "assistant_id", "thread_id", "created_at", "updated_at"),
    *("next_run_date", "end_time"),
)
DATES = ("schedule", "timezone", "end_time", "enabled")
OF_THE_RUN = (
    *("assistant_id", "input", "config", "metadata", "context", "webhook", "multitask_strategy"),
    *("interrupt_before", "interrupt_after", "stream_mode", "stream_subgraphs", "durability"),
    *("stream_resumable", "checkpoint_during"),
)
KEYS = frozenset({*OF_THE_RUN, *DATES, "on_run_completed"})


class Crons:
    """The routes under ``/runs/crons`` and ``/threads/{thread_id}/runs/crons``."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    def routes(self) -> list[BaseRoute]:
        one = "/runs/crons/{cron_id}"
        return [
            Route("/runs/crons", self.create, methods=["POST"]),
            Route("/threads/{thread_id}/runs/crons", self.create, methods=["POST"]),
            Route("/runs/crons/search", self.search, methods=["POST"]),
            Route("/runs/crons/count", self.count, methods=["POST"]),
            Route(one, self.get, methods=["GET"]),
            Route(one, self.update, methods=["PATCH"]),
            Route(one, self.delete, methods=["DELETE"]),
        ]

    async def create(self, request: Request) -> Response:
        given = await json_body(request)
        body = {key: given[key] for key in given if key in KEYS and given[key] is not None}
        thread_id = segment(request, "thread_id") if "thread_id" in request.path_params else None
        wish = parse_cron(body, thread_id)
        await self._engine.check_webhook(wish.request.webhook)
        return answer(cron_object(await self._engine.create_cron(wish)))

    async def get(self, request: Request) -> Response:
        return answer(cron_object(await self._engine.cron(_id(request))))

    async def update(self, request: Request) -> Response:
        body = await json_body(request)
        await self._engine.check_webhook(text(body, "webhook") or None)
        changed = await self._engine.update_cron(
            _id(request), lambda held: changed_cron(held, body)
        )
        return answer(cron_object(changed))

    async def delete(self, request: Request) -> Response:
        await self._engine.delete_cron(_id(request))
        return Response(status_code=204)

    async def search(self, request: Request) -> Response:
        body = await json_body(request)
        limit, offset = page(body)
        columns = texts(body, "select")
        check_columns(columns, CRON_COLUMNS)
        found, total = await self._engine.search_crons(
            **_filters(body),
            limit=limit,
            offset=offset,
            sort_by=choice(body, "sort_by", SORTS, "created_at"),
            sort_order=choice(body, "sort_order", ("asc", "desc"), "desc"),
        )
        now = {"now": datetime.now(UTC)} if "now" in (columns or ()) else {}
        rows = [select(cron_object(cron) | now, columns) for cron in found]
        return answer_page(rows, total, offset)

    async def count(self, request: Request) -> Response:
        _, total = await self._engine.search_crons(**_filters(await json_body(request)), limit=1)
        return answer(total)


def parse_cron(body: Mapping[str, Any], thread_id: str | None) -> CronWish:
    """The cron that a body asks for, its run checked as if it were made now.

    ``thread_id`` None asks for a new thread each time, which ``on_run_completed`` may keep.
    Raises Unprocessable, InvalidRequest.
    """
    schedule = text(body, "schedule")
    if not schedule:
        raise Unprocessable("'schedule' is required: five fields of cron, like '*/5 * * * *'")
    kept = choice(body, "on_run_completed", ("delete", "keep"), "delete")
    run = {key: body[key] for key in OF_THE_RUN if key in body}
    enabled = flag(body, "enabled")
    return CronWish(
        request=parse_run({**run, "on_completion": kept}, thread_id, attended=False),
        schedule=schedule,
        timezone=text(body, "timezone"),
        end_time=_moment(body, "end_time"),
        enabled=enabled is not False,
        payload=dict(body),
    )


def changed_cron(held: Cron, body: Mapping[str, Any]) -> CronWish:
    """The cron with all that a body names; null says nothing, except that an end time is gone.

    Its assistant stays: a body may name it, and no other.
    """
    told = {key: body[key] for key in body if key in KEYS and body[key] is not None}
    kept = dict(held.payload)
    own = kept["assistant_id"]
    if told.pop("assistant_id", own) not in (own, held.assistant_id):
        raise Unprocessable("'assistant_id' is fixed: make another cron for another assistant")
    if "end_time" in body and body["end_time"] is None:
        kept.pop("end_time", None)
    return parse_cron({**kept, **told}, held.thread_id)


def _id(request: Request) -> str:
    return segment(request, "cron_id")


def _filters(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "assistant": text(body, "assistant_id") or None,
        "thread_id": text(body, "thread_id") or None,
        "enabled": flag(body, "enabled"),
        "metadata": mapping(body, "metadata") or None,
    }


def _moment(body: Mapping[str, Any], key: str) -> datetime | None:
    """A time in ISO 8601, in UTC unless it says otherwise."""
    given = text(body, key)
    if given is None:
        return None
    try:
        found = datetime.fromisoformat(given)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unprocessable(f"'{key}' must be a time in ISO 8601, not {given!r}") from None
