"""What a client is told when the engine says no."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_durable.errors import (
    AssistantNotFound,
    CheckpointNotFound,
    DurableError,
    InvalidRequest,
    InvalidSignal,
    KeyReused,
    RunNotCancellable,
    RunNotFound,
    StoreUnavailable,
    ThreadBusy,
    ThreadExists,
    ThreadMoved,
    ThreadNotFound,
    UnknownGraph,
)
from protocol_adapter.envelope import Refusal as Refusal
from protocol_adapter.envelope import broken
from protocol_adapter.envelope import unavailable as unavailable

_ANSWERS: dict[type[DurableError], tuple[int, str]] = {
    RunNotFound: (404, "response_not_found"),
    ThreadNotFound: (404, "conversation_not_found"),
    CheckpointNotFound: (404, "checkpoint_not_found"),
    AssistantNotFound: (400, "model_not_found"),
    UnknownGraph: (400, "model_not_found"),
    RunNotCancellable: (400, "response_not_cancellable"),
    ThreadMoved: (409, "conversation_locked"),
    ThreadBusy: (409, "conversation_locked"),
    ThreadExists: (409, "conversation_exists"),
    KeyReused: (409, "idempotency_key_reused"),
    InvalidRequest: (400, "invalid_request"),
    InvalidSignal: (400, "invalid_signal"),
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
    return broken()


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
