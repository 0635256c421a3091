"""The spans of a run and of its attempts, in the words of OpenTelemetry's JSON.

Their ids follow from the run's id and the attempt's number, so that any process can write any of
them again: the newest one counts.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from uuid import UUID

from langgraph_durable.serde import encode
from langgraph_durable.store.claims import Claim
from langgraph_durable.tracing import trace_id

Span = dict[str, Any]

_ROOT = 0
"""The number of a run's own span; an attempt's span has the attempt's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """When something began and ended, in nanoseconds since 1970, and how; None: it goes on."""

    started: int
    ended: int | None = None
    failure: str | None = None

    @property
    def status(self) -> dict[str, str]:
        if self.failure is not None:
            return {"code": "STATUS_CODE_ERROR", "message": self.failure}
        return {"code": f"STATUS_CODE_{'OK' if self.ended else 'UNSET'}", "message": ""}


def run_span(claim: Claim, course: Course, *, status: str, output: str | None) -> Span:
    """The span of a whole run, what it was asked and what it answered (JSON text) with it."""
    asked = claim.request.get("command") or claim.request.get("input")
    attributes = {
        "mlflow.spanInputs": encode(asked),
        "mlflow.spanOutputs": output or "null",
        "session.id": encode(claim.thread_id),
        **_facts(claim, status=status, attempts=claim.attempt),
    }
    return _span(claim.run_id, _ROOT, claim.graph_id, course, attributes)


def attempt_span(claim: Claim, number: int, course: Course) -> Span:
    """The span of one attempt of the claimed run."""
    facts = _facts(claim, attempt=number)
    return _span(claim.run_id, number, f"attempt {number}", course, facts)


def traceparent(run_id: str, attempt: int) -> str:
    """An attempt's span as the parent of others, in the words of W3C's trace context."""
    return f"00-{UUID(run_id).hex}-{_span_id(run_id, attempt).hex()}-01"


def _facts(claim: Claim, **more: Any) -> dict[str, str]:
    ids = {"run_id": claim.run_id, "thread_id": claim.thread_id}
    told = {**ids, "assistant_id": claim.assistant_id, **more}
    return {f"langgraph_durable.{key}": encode(value) for key, value in told.items()}


def _span(
    run_id: str, number: int, name: str, course: Course, attributes: Mapping[str, str]
) -> Span:
    root = number == _ROOT
    return {
        "trace_id": b64encode(UUID(run_id).bytes).decode(),
        "span_id": b64encode(_span_id(run_id, number)).decode(),
        "parent_span_id": "" if root else b64encode(_span_id(run_id, _ROOT)).decode(),
        "name": name,
        "start_time_unix_nano": course.started,
        "end_time_unix_nano": course.ended,
        "status": course.status,
        "attributes": {
            "mlflow.traceRequestId": encode(trace_id(run_id)),
            "mlflow.spanType": encode("AGENT" if root else "CHAIN"),
            **attributes,
        },
    }


def _span_id(run_id: str, number: int) -> bytes:
    return blake2b(UUID(run_id).bytes + number.to_bytes(4), digest_size=8).digest()
