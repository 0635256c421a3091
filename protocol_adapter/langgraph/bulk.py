"""Many runs in one call: batches of stateless runs, and cancelling by status or by id."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import RunNotCancellable, RunNotFound
from protocol_adapter.langgraph.fields import Unprocessable, choice, one_of, text, texts
from protocol_adapter.langgraph.http import answer, json_body, json_objects
from protocol_adapter.langgraph.objects import run_object
from protocol_adapter.langgraph.request import parse_run

OPEN = {"pending": ("pending",), "running": ("running",), "all": ("pending", "running")}


class Bulk:
    """``POST /runs/batch`` and ``POST /runs/cancel``."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/runs/batch", self.create, methods=["POST"]),
            Route("/runs/cancel", self.cancel, methods=["POST"]),
        ]

    async def create(self, request: Request) -> Response:
        """Every body is understood before the first run is made."""
        bodies = await json_objects(request)
        if any(body.get("thread_id") is not None for body in bodies):
            raise Unprocessable("'thread_id' is not for a batch: its runs have no threads")
        headers = self._engine.allowed_headers(request.headers)
        parsed = [parse_run(body, None, attended=False) for body in bodies]
        wishes = [replace(wish, headers=headers) for wish in parsed]
        for wish in wishes:
            await self._engine.assistant(wish.assistant)
            await self._engine.check_webhook(wish.webhook)
        return answer([run_object(await self._engine.submit(wish)) for wish in wishes])

    async def cancel(self, request: Request) -> Response:
        action = cancel_action(request)
        body = await json_body(request)
        thread_id, run_ids = text(body, "thread_id"), texts(body, "run_ids")
        given = {key for key in ("status", "thread_id", "run_ids") if body.get(key) is not None}
        if given not in ({"status"}, {"thread_id", "run_ids"}):
            raise Unprocessable("Give either status, or thread_id with run_ids.")
        if run_ids is not None and thread_id is not None:
            done = [await self._cancel(i, thread_id, action) for i in run_ids]
        else:
            statuses = OPEN[choice(body, "status", tuple(OPEN), "all")]
            found = await self._engine.open_runs(statuses)
            done = [await self._cancel(run.run_id, None, action) for run in found]
        if not any(done):
            raise RunNotFound("No runs found to cancel.")
        return Response(status_code=204)

    async def _cancel(self, run_id: str, thread_id: str | None, action: str) -> bool:
        try:
            await self._engine.cancel(run_id, thread_id, action=action)
        except (RunNotFound, RunNotCancellable):
            return False
        return True


def cancel_action(request: Request) -> str:
    """The query's ``action``: interrupt keeps what the run did, rollback undoes it."""
    action = request.query_params.get("action") or "interrupt"
    return one_of("action", action, ("interrupt", "rollback"))
