"""The one error shape of this door: ``{"error": {message, type, param, code}}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_durable.errors import (
    AssistantNotFound,
    CheckpointNotFound,
    DurableError,
    InvalidRequest,
    KeyReused,
    RunNotCancellable,
    RunNotFound,
    StoreUnavailable,
    ThreadBusy,
    ThreadExists,
    ThreadNotFound,
    UnknownGraph,
)


class Refusal(Exception):
    """An answer with an error body; ``status`` is the HTTP status."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        param: str | None = None,
        code: str | None = None,
        kind: str = "invalid_request_error",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.param = param
        self.code = code
        self.kind = kind
        self.headers = dict(headers or {})

    @property
    def body(self) -> dict[str, Any]:
        return {
            "error": {
                "message": self.message,
                "type": self.kind,
                "param": self.param,
                "code": self.code,
            }
        }


_ANSWERS: dict[type[DurableError], tuple[int, str]] = {
    RunNotFound: (404, "response_not_found"),
    ThreadNotFound: (404, "conversation_not_found"),
    CheckpointNotFound: (404, "checkpoint_not_found"),
    AssistantNotFound: (400, "model_not_found"),
    UnknownGraph: (400, "model_not_found"),
    RunNotCancellable: (400, "response_not_cancellable"),
    ThreadBusy: (409, "conversation_locked"),
    ThreadExists: (409, "conversation_exists"),
    KeyReused: (409, "idempotency_key_reused"),
    InvalidRequest: (400, "invalid_request"),
}


def refusal_of(error: Exception) -> Refusal:
    """What a client is told about ``error``: never more than the engine's own words."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, StoreUnavailable):
        return unavailable(error.message)
    if isinstance(error, DurableError) and type(error) in _ANSWERS:
        status, code = _ANSWERS[type(error)]
        headers = {"x-should-retry": "false"} if isinstance(error, KeyReused) else {}
        return Refusal(error.message, status=status, code=code, headers=headers)
    return Refusal("The server had an error.", status=500, kind="server_error", code="server_error")


def unavailable(message: str) -> Refusal:
    """Not now, but soon: the client may come again after a second."""
    return Refusal(
        message,
        status=503,
        kind="server_error",
        code="service_unavailable",
        headers={"Retry-After": "1"},
    )


def response_not_found(response_id: str) -> Refusal:
    return Refusal(
        f"Response with id '{response_id}' not found.", status=404, code="response_not_found"
    )


def model_not_found(model: str, served: Sequence[str], *, status: int = 400) -> Refusal:
    """No graph of that name."""
    return Refusal(
        f"The model '{model}' does not exist; served are {', '.join(served)}.",
        status=status,
        param="model",
        code="model_not_found",
    )
