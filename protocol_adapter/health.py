"""Is it alive, and what is it: ``/ok`` and ``/info``."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import StoreUnavailable

# Studio and other clients compare this with the releases of the official server whose calls
# they make; it is the protocol spoken here, not the release of this package.
PROTOCOL_VERSION = "0.16.7"
FLAGS = {"assistants": True, "crons": True, "langsmith": False}


def routes(engine: DurableEngine) -> list[BaseRoute]:
    """``/ok`` needs no database unless ``check_db=1`` asks for it."""

    async def ok(request: Request) -> Response:
        if request.query_params.get("check_db") in ("1", "true"):
            await engine.ensure_started()
            if not await engine.ping():
                raise StoreUnavailable
        return JSONResponse({"ok": True})

    async def info(request: Request) -> Response:
        return JSONResponse(describe())

    return [Route("/", ok), Route("/ok", ok), Route("/info", info)]


def describe() -> dict[str, Any]:
    """What ``/info`` says about this server."""
    return {
        "version": PROTOCOL_VERSION,
        "langgraph_py_version": _release("langgraph"),
        "flags": FLAGS,
        "host": {"kind": "self-hosted", "project_id": None, "revision_id": None},
        "server": {"name": "langgraph-durable", "version": _release("langgraph-durable")},
    }


def _release(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
