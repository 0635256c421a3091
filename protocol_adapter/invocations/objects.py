"""An invocation as its client sees it. Pure."""

from __future__ import annotations

from typing import Any

from langgraph_durable.model import Run, RunStatus
from langgraph_durable.serde import decode

from . import ids

STATUSES = ("queued", "in_progress", "completed", "failed", "cancelled", "requires_action")
_ENDS = {
    RunStatus.ERROR: "failed",
    RunStatus.TIMEOUT: "failed",
    RunStatus.INTERRUPTED: "cancelled",
}
_QUESTIONS = "__interrupt__"


def invocation(run: Run) -> dict[str, Any]:
    """Every key, at every moment. ``output`` are the graph's last values once it has ended,
    ``questions`` what it asks a person, ``error`` is ``{"type", "message"}``."""
    output = decode(run.output) if run.output else None
    questions: list[dict[str, Any]] = []
    if isinstance(output, dict) and _QUESTIONS in output:
        questions = [{"id": q["id"], "value": q["value"]} for q in output.pop(_QUESTIONS)]
        output = output or None
    return {
        **identity(run),
        "status": _status(run, asks=bool(questions)),
        "attempt": run.attempt,
        "output": output if run.status.terminal else None,
        "questions": questions,
        "error": run.error and {"type": run.error["error"], "message": run.error["message"]},
        "created_at": run.created_at,
        "completed_at": run.finished_at,
    }


def identity(run: Run) -> dict[str, Any]:
    """What never changes about it."""
    return {"id": ids.invocation_id(run), "session_id": run.thread_id, "graph": run.graph_id}


def _status(run: Run, *, asks: bool) -> str:
    if run.status is RunStatus.SUCCESS:
        return "requires_action" if asks else "completed"
    if run.status is RunStatus.PENDING and run.attempt == 0:
        return "queued"
    return _ENDS.get(run.status, "in_progress")
