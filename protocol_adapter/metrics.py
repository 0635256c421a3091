"""``/metrics``: how things stand, for Prometheus, or as JSON in the official server's shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import StoreUnavailable
from langgraph_durable.model import Numbers

TEXT = "text/plain; version=0.0.4; charset=utf-8"
_NAME = "langgraph_durable"
Sample = tuple[str, float]


def routes(engine: DurableEngine) -> list[BaseRoute]:
    """Text while the database is away too: that is when somebody looks. None without ``meta``."""

    async def metrics(request: Request) -> Response:
        if request.query_params.get("format") == "json":
            return JSONResponse(as_json(await _numbers(engine), engine.jobs_max))
        try:
            numbers = await _numbers(engine)
        except StoreUnavailable:
            numbers = None
        return PlainTextResponse(as_text(engine, numbers), media_type=TEXT)

    return [] if "meta" in engine.disabled else [Route("/metrics", metrics)]


async def _numbers(engine: DurableEngine) -> Numbers:
    await engine.ensure_started()
    return await engine.numbers()


def as_json(numbers: Numbers, jobs_max: int) -> dict[str, Any]:
    """The queue of all servers and the jobs of this process."""
    return {
        "queue": {
            "n_pending": numbers.pending,
            "n_running": numbers.running,
            "pending_runs_wait_time_max_secs": numbers.longest_wait,
            "pending_runs_wait_time_med_secs": numbers.median_wait,
            "pending_unblocked_runs_wait_time_max_secs": numbers.longest_unblocked_wait,
        },
        "workers": {
            "max": jobs_max,
            "active": numbers.jobs_active,
            "available": max(jobs_max - numbers.jobs_active, 0),
        },
    }


def as_text(engine: DurableEngine, numbers: Numbers | None) -> str:
    """Prometheus' text format. What counts one process only is labelled with it."""
    found = [
        *_metric("up", "This process serves requests.", [("", not engine.draining)]),
        *_metric("database_up", "The database answers.", [("", numbers is not None)]),
    ]
    if numbers is not None:
        found += [*_queue(numbers), *_process(engine, numbers)]
    return "".join(f"{line}\n" for line in found)


def _queue(numbers: Numbers) -> list[str]:
    by_status = [
        ('{status="pending"}', numbers.pending),
        ('{status="running"}', numbers.running),
    ]
    waited = [("", numbers.longest_unblocked_wait or 0)]
    return [
        *_metric("runs", "Runs that have not ended, on all servers.", by_status),
        *_metric("queue_depth", "Runs whose time to start has come.", [("", numbers.due)]),
        *_metric("queue_wait_seconds", "Longest wait for nothing but a worker.", waited),
        *_metric("workers", "Processes that execute runs.", [("", numbers.workers)]),
    ]


def _process(engine: DurableEngine, numbers: Numbers) -> list[str]:
    here = f'{{worker="{engine.worker_id}"}}'
    written = [(here, numbers.events_written)]
    return [
        *_metric("jobs_max", "Runs that this process executes at most.", [(here, engine.jobs_max)]),
        *_metric("jobs_active", "Runs that it executes.", [(here, numbers.jobs_active)]),
        *_metric("events_written_total", "Events it made durable.", written, "counter"),
        *_metric("followers", "Clients that follow or wait here.", [(here, numbers.followers)]),
    ]


def _metric(name: str, about: str, samples: Sequence[Sample], kind: str = "gauge") -> list[str]:
    head = [f"# HELP {_NAME}_{name} {about}", f"# TYPE {_NAME}_{name} {kind}"]
    return head + [f"{_NAME}_{name}{labels} {float(value):.12g}" for labels, value in samples]
