"""Liveness, and what is not there."""

from __future__ import annotations

from tests.contract.matching import Matches
from tests.contract.recordings.calls import Call, get

META = [
    get("/ok", shape={"ok": True}, differs="json-500", seen="meta 0"),
    get("/ok?check_db=1", shape={"ok": True}, differs="json-500", seen="meta 2"),
    get(
        "/info",
        shape={
            "version": str,
            "langgraph_py_version": str,
            "flags": {"assistants": True, "crons": bool, "langsmith": bool},
            "host": {"kind": "self-hosted"},
        },
        seen="meta 1",
    ),
    get("/nope", status=404, shape={"detail": "Not Found"}, seen="meta 3"),
    Call(
        method="PUT",
        path="/threads",
        body={},
        status=405,
        shape={"detail": "Method Not Allowed"},
        seen="meta 4",
    ),
    Call(
        method="OPTIONS",
        path="/threads",
        sent={
            "origin": "http://127.0.0.1:5173",
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type,x-api-key",
        },
        headers={
            "access-control-allow-origin": Matches(r"\*|http://127.0.0.1:5173"),
            "access-control-allow-methods": Matches(r"\*|.*POST.*"),
        },
        seen="meta 5",
    ),
    get(
        "/metrics?format=json",
        shape={
            "queue": {"n_pending": int, "n_running": int},
            "workers": {"max": int, "active": int, "available": int},
        },
        seen="meta 6",
    ),
]
