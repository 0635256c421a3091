"""Is it alive, and what is it: ``/ok`` and ``/info``, ``/health`` and ``/agent/info``."""

from __future__ import annotations

import os
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import StoreUnavailable
from protocol_adapter.openapi import FLAG, OBJECT, TEXT, Answer, Door, Operation, nullable, ref, row

# Studio and other clients compare this with the releases of the official server whose calls
# they make; it is the protocol spoken here, not the release of this package.
PROTOCOL_VERSION = "0.16.7"
FLAGS = {
    "assistants": True,
    "crons": True,
    "langsmith": False,
    "strict_resume": True,
    "stream_namespaces": True,
}

_ALIVE = {200: Answer(schema=row(ok=FLAG))}
_INFO = row(
    version=TEXT, langgraph_py_version=nullable(TEXT), flags=OBJECT, host=OBJECT, server=OBJECT
)
_AGENT = row(
    name=TEXT, use_case=TEXT, agent_api=TEXT, mlflow_version=nullable(TEXT), version=nullable(TEXT)
)
SERVER = Door(
    operations={
        "GET /": Operation("Is it alive?", _ALIVE, query={"check_db": TEXT}),
        "GET /ok": Operation("Is it alive?", _ALIVE, query={"check_db": TEXT}),
        "GET /info": Operation("What is it?", {200: Answer(schema=_INFO)}),
        "GET /health": Operation("Is it alive?", {200: Answer(schema=row(status=TEXT))}),
        "GET /agent/info": Operation("What is it?", {200: Answer(schema=_AGENT)}),
        "GET /metrics": Operation(
            "How do things stand? For Prometheus, or JSON if asked.",
            {200: Answer(schema=OBJECT, plain=True)},
            query={"format": TEXT},
        ),
    },
    schemas={"Unavailable": row(detail=TEXT)},
    refusal=ref("Unavailable"),
    refusals=(503,),
)


def routes(engine: DurableEngine) -> list[BaseRoute]:
    """``/ok`` needs no database unless ``check_db=1`` asks for it, where it may look at all."""
    described = "meta" not in engine.disabled

    async def ok(request: Request) -> Response:
        if described and request.query_params.get("check_db") in ("1", "true"):
            await engine.ensure_started()
            if not await engine.ping():
                raise StoreUnavailable
        return JSONResponse({"ok": True})

    async def info(request: Request) -> Response:
        return JSONResponse(describe())

    async def healthy(request: Request) -> Response:
        return JSONResponse({"status": "healthy"})

    async def agent_info(request: Request) -> Response:
        return JSONResponse(describe_agent())

    about = [Route("/info", info), Route("/agent/info", agent_info)] if described else []
    return [Route("/", ok), Route("/ok", ok), Route("/health", healthy), *about]


def describe() -> dict[str, Any]:
    """What ``/info`` says about this server."""
    return {
        "version": PROTOCOL_VERSION,
        "langgraph_py_version": _release("langgraph"),
        "flags": FLAGS,
        "host": {"kind": "self-hosted", "project_id": None, "revision_id": None},
        "server": {"name": "langgraph-durable", "version": _release("langgraph-durable")},
    }


def describe_agent() -> dict[str, Any]:
    """What ``/agent/info`` says, in the words of MLflow's agent servers."""
    return {
        "name": os.environ.get("DATABRICKS_APP_NAME") or "langgraph-durable",
        "use_case": "agent",
        "agent_api": "responses",
        "mlflow_version": _release("mlflow"),
        "version": _release("langgraph-durable"),
    }


@cache
def _release(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
