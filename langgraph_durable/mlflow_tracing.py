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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from queue import Empty, Full, Queue
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from langgraph_durable.model import Event as LogEvent
from langgraph_durable.model import RunStatus
from langgraph_durable.run_spans import Course, Span, attempt_span, run_span, traceparent
from langgraph_durable.store.claims import Claim
from langgraph_durable.tracing import AttemptTrace, Tracing

_log = logging.getLogger(__name__)

BACKLOG_SPANS = 1_000
CONNECT_SECONDS = 30.0
STOP_SECONDS = 5.0
DEFAULTS = {
    # A span that waits for others to be sent with it dies with its process.
    "MLFLOW_USE_BATCH_SPAN_PROCESSOR": "false",
    # MLflow sends what is left when its process exits, which must not take minutes.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}
"""What MLflow is told unless the environment says otherwise."""

Put = Callable[[Sequence[Span]], None]


class MlflowTracing(Tracing):
    """Where to: MLflow's own ``MLFLOW_TRACKING_URI``, ``MLFLOW_EXPERIMENT_NAME`` and so on.

    Until the tracking server has answered once, LangChain's spans are left out: MLflow would ask
    it for the experiment in the middle of a run, and wait.
    """

    def __init__(self) -> None:
        self._spans: Queue[Sequence[Span] | None] = Queue(BACKLOG_SPANS)
        self._thread = Thread(target=self._work, name="durable-tracing", daemon=True)
        self._tried, self._connected = Event(), Event()
        self._experiment_id = ""
        self._complained = False

    async def start(self) -> None:
        self._thread.start()
        await asyncio.to_thread(self._tried.wait, CONNECT_SECONDS)

    async def stop(self) -> None:
        if self._thread.is_alive():
            await asyncio.to_thread(self._stop)

    def attempt(self, claim: Claim) -> AttemptTrace:
        return _MlflowAttempt(claim, self._put, self._connected.is_set())

    def _put(self, spans: Sequence[Span]) -> None:
        try:
            self._spans.put_nowait(spans)
        except Full:
            self._complain("too many wait for MLflow")

    def _stop(self) -> None:
        with suppress(Full):
            self._spans.put(None, timeout=STOP_SECONDS)
        self._thread.join(STOP_SECONDS)
        if self._connected.is_set():
            import mlflow

            flush = Thread(target=mlflow.flush_trace_async_logging, daemon=True)
            flush.start()
            flush.join(STOP_SECONDS)

    # -- on the thread -----------------------------------------------------------------------

    def _work(self) -> None:
        self._try(self._connect)
        self._tried.set()
        ended = False
        while not ended:
            batch = [self._spans.get(), *self._waiting()]
            ended = None in batch
            spans = [span for each in batch for span in each or ()]
            if not self._connected.is_set():
                self._try(self._connect)
            if self._connected.is_set():
                self._try(partial(_write, self._experiment_id, spans))

    def _waiting(self) -> Iterator[Sequence[Span] | None]:
        with suppress(Empty):
            for _ in range(BACKLOG_SPANS):
                yield self._spans.get_nowait()

    def _connect(self) -> None:
        self._experiment_id = _connect()
        self._connected.set()

    def _try(self, step: Callable[[], None]) -> None:
        try:
            step()
            self._complained = False
        except Exception as error:
            self._complain(f"{type(error).__name__}: {error}")

    def _complain(self, reason: str) -> None:
        level = logging.DEBUG if self._complained else logging.WARNING
        self._complained = True
        _log.log(level, "spans were not written: %s", reason)


class _MlflowAttempt(AttemptTrace):
    def __init__(self, claim: Claim, put: Put, deep: bool) -> None:
        self._claim = claim
        self._put = put
        self._deep = deep
        self._started = time.time_ns()
        self._failure: str | None = "it did not end its run"
        self._context = ExitStack()

    def __enter__(self) -> Self:
        self._tell(Course(started=self._started))
        try:
            if self._deep:
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
        self._tell(Course(started=self._started, ended=time.time_ns(), failure=self._failure))

    def recovered(self, past: Sequence[LogEvent]) -> None:
        crashed = self._claim.attempt - 1
        times = [event.at * 1_000_000 for event in past if event.attempt == crashed]
        if times and self._claim.was is RunStatus.RUNNING:
            course = Course(started=min(times), ended=max(times), failure="its process died")
            self._tell(course, crashed)

    def ended(
        self,
        status: RunStatus | None,
        *,
        output: str | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        failed = status in (RunStatus.ERROR, RunStatus.TIMEOUT)
        self._failure = str((error or {}).get("message", "")) if failed else None
        if status is not None:
            began = int(self._claim.created_at.timestamp() * 1e9)
            course = Course(started=began, ended=time.time_ns(), failure=self._failure)
            self._put([run_span(self._claim, course, status=status, output=output)])

    def _tell(self, course: Course, attempt: int | None = None) -> None:
        self._put([attempt_span(self._claim, attempt or self._claim.attempt, course)])


def _under(run_id: str, attempt: int) -> AbstractContextManager[Any]:
    """A context whose spans are children of an attempt's."""
    from mlflow.tracing import set_tracing_context_from_http_request_headers

    parent: AbstractContextManager[Any] = set_tracing_context_from_http_request_headers(
        {"traceparent": traceparent(run_id, attempt)}
    )
    return parent


def _connect() -> str:
    """Ask for the experiment, and let LangChain's spans be written from now on."""
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    import mlflow
    from mlflow.tracking.fluent import _get_experiment_id
    from mlflow.utils.autologging_utils import autologging_is_disabled

    experiment_id = str(_get_experiment_id())
    mlflow.set_experiment(experiment_id=experiment_id)
    if autologging_is_disabled("langchain"):
        mlflow.langchain.autolog(silent=True)
    return experiment_id


def _write(experiment_id: str, spans: Sequence[Span]) -> None:
    from mlflow.entities import Span as MlflowSpan
    from mlflow.tracing.client import TracingClient

    newest = {span["span_id"]: span for span in spans}
    if newest:
        found = [MlflowSpan.from_dict(span) for span in newest.values()]
        TracingClient().log_spans(experiment_id, found)
