"""Runs as MLflow traces. Imports MLflow, so it is itself imported only where that is asked for.

The spans of a run and of its attempts are written here by ids that every process can work out;
below an attempt's span LangChain's own spans hang by MLflow's autologging, which takes the
attempt for a parent in another process. What a process wrote before it died therefore stays, and
its successor closes what it left open. Writing happens on a thread of its own: a tracking server
that is slow or away costs spans, never a run.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from hashlib import blake2b
from queue import Empty, Full, Queue
from threading import Thread
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from langgraph_durable.model import Event, RunStatus
from langgraph_durable.serde import encode
from langgraph_durable.store.runs import Claim
from langgraph_durable.tracing import AttemptTrace, Tracing, trace_id

_log = logging.getLogger(__name__)

BACKLOG_SPANS = 1_000
STOP_SECONDS = 5.0
ROOT = 0
"""The number of a run's own span; an attempt's span has the attempt's."""

_FAILED = (RunStatus.ERROR, RunStatus.TIMEOUT)

Span = dict[str, Any]
Put = Callable[[Sequence[Span]], None]


class MlflowTracing(Tracing):
    """Where to: MLflow's own ``MLFLOW_TRACKING_URI``, ``MLFLOW_EXPERIMENT_NAME`` and so on."""

    def __init__(self) -> None:
        self._spans: Queue[Sequence[Span] | None] = Queue(BACKLOG_SPANS)
        self._thread = Thread(target=self._write_all, name="durable-tracing", daemon=True)
        self._complained = False

    async def start(self) -> None:
        await asyncio.to_thread(_set_up)
        self._thread.start()

    async def stop(self) -> None:
        if self._thread.is_alive():
            await asyncio.to_thread(self._stop)

    def attempt(self, claim: Claim) -> AttemptTrace:
        return _MlflowAttempt(claim, self._put)

    def _put(self, spans: Sequence[Span]) -> None:
        try:
            self._spans.put_nowait(spans)
        except Full:
            self._complain("too many wait for MLflow")

    def _stop(self) -> None:
        import mlflow

        try:
            self._spans.put(None, timeout=STOP_SECONDS)
        except Full:
            return
        self._thread.join(STOP_SECONDS)
        flush = Thread(target=mlflow.flush_trace_async_logging, daemon=True)
        flush.start()
        flush.join(STOP_SECONDS)

    def _write_all(self) -> None:
        ended = False
        while not ended:
            batch = [self._spans.get(), *self._waiting()]
            ended = None in batch
            try:
                _write([span for spans in batch for span in spans or ()])
                self._complained = False
            except Exception as error:
                self._complain(f"{type(error).__name__}: {error}")

    def _waiting(self) -> Iterator[Sequence[Span] | None]:
        with suppress(Empty):
            for _ in range(BACKLOG_SPANS):
                yield self._spans.get_nowait()

    def _complain(self, reason: str) -> None:
        level = logging.DEBUG if self._complained else logging.WARNING
        self._complained = True
        _log.log(level, "spans were not written: %s", reason)


class _MlflowAttempt(AttemptTrace):
    def __init__(self, claim: Claim, put: Put) -> None:
        self._claim = claim
        self._put = put
        self._started = time.time_ns()
        self._status, self._message = "STATUS_CODE_ERROR", "it did not end its run"
        self._context = ExitStack()

    def __enter__(self) -> Self:
        self._put([self._span(ended=None, status="STATUS_CODE_UNSET")])
        try:
            self._context.enter_context(_under(self._claim.run_id, self._claim.attempt))
        except Exception as error:
            _log.warning("run %s is traced in part: %s", self._claim.run_id, error)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        stack: TracebackType | None,
    ) -> None:
        try:
            self._context.close()
        except Exception as broken:
            _log.debug("the trace of run %s was not left", self._claim.run_id, exc_info=broken)
        span = self._span(ended=time.time_ns(), status=self._status, message=self._message)
        self._put([span])

    def recovered(self, past: Sequence[Event]) -> None:
        crashed = self._claim.attempt - 1
        times = [event.at * 1_000_000 for event in past if event.attempt == crashed]
        if not times or self._claim.was is not RunStatus.RUNNING:
            return
        status, message = "STATUS_CODE_ERROR", "its process died"
        span = self._span(
            crashed, started=min(times), ended=max(times), status=status, message=message
        )
        self._put([span])

    def ended(
        self,
        status: RunStatus | None,
        *,
        output: str | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        failed = status in _FAILED
        self._status = "STATUS_CODE_ERROR" if failed else "STATUS_CODE_OK"
        self._message = str((error or {}).get("message", "")) if failed else ""
        if status is not None:
            self._put([self._root(status, output)])

    def _root(self, status: RunStatus, output: str | None) -> Span:
        claim = self._claim
        asked = claim.request.get("command") or claim.request.get("input")
        return _span(
            claim.run_id,
            ROOT,
            name=claim.graph_id,
            started=int(claim.created_at.timestamp() * 1e9),
            ended=time.time_ns(),
            status=self._status,
            message=self._message,
            attributes={
                "mlflow.spanInputs": encode(asked),
                "mlflow.spanOutputs": output or "null",
                "session.id": encode(claim.thread_id),
                **_facts(claim, status=status, attempts=claim.attempt),
            },
        )

    def _span(
        self,
        number: int | None = None,
        *,
        started: int | None = None,
        ended: int | None,
        status: str,
        message: str = "",
    ) -> Span:
        attempt = self._claim.attempt if number is None else number
        return _span(
            self._claim.run_id,
            attempt,
            name=f"attempt {attempt}",
            started=started or self._started,
            ended=ended,
            status=status,
            message=message,
            attributes=_facts(self._claim, attempt=attempt),
        )


def _facts(claim: Claim, **more: Any) -> dict[str, str]:
    ids = {"run_id": claim.run_id, "thread_id": claim.thread_id}
    told = {**ids, "assistant_id": claim.assistant_id, **more}
    return {f"langgraph_durable.{key}": encode(value) for key, value in told.items()}


def _span(
    run_id: str,
    number: int,
    *,
    name: str,
    started: int,
    ended: int | None,
    status: str,
    message: str,
    attributes: Mapping[str, str],
) -> Span:
    """A span in the words of OpenTelemetry's JSON; times are nanoseconds since 1970."""
    return {
        "trace_id": b64encode(UUID(run_id).bytes).decode(),
        "span_id": b64encode(_span_id(run_id, number)).decode(),
        "parent_span_id": "" if number == ROOT else b64encode(_span_id(run_id, ROOT)).decode(),
        "name": name,
        "start_time_unix_nano": started,
        "end_time_unix_nano": ended,
        "status": {"code": status, "message": message},
        "attributes": {
            "mlflow.traceRequestId": encode(trace_id(run_id)),
            "mlflow.spanType": encode("AGENT" if number == ROOT else "CHAIN"),
            **attributes,
        },
    }


def _span_id(run_id: str, number: int) -> bytes:
    return blake2b(UUID(run_id).bytes + number.to_bytes(4), digest_size=8).digest()


def _under(run_id: str, attempt: int) -> Any:
    """A context whose spans are children of an attempt's."""
    from mlflow.tracing import set_tracing_context_from_http_request_headers

    parent = f"00-{UUID(run_id).hex}-{_span_id(run_id, attempt).hex()}-01"
    return set_tracing_context_from_http_request_headers({"traceparent": parent})


def _set_up() -> None:
    # A span that waits for others to be sent with it dies with its process.
    os.environ.setdefault("MLFLOW_USE_BATCH_SPAN_PROCESSOR", "false")
    import mlflow
    from mlflow.utils.autologging_utils import autologging_is_disabled

    if autologging_is_disabled("langchain"):
        mlflow.langchain.autolog(silent=True)


def _write(spans: Sequence[Span]) -> None:
    from mlflow.entities import Span as MlflowSpan
    from mlflow.tracing.client import TracingClient
    from mlflow.tracking.fluent import _get_experiment_id

    newest = {span["span_id"]: span for span in spans}
    if not newest:
        return
    TracingClient().log_spans(
        _get_experiment_id(), [MlflowSpan.from_dict(span) for span in newest.values()]
    )
