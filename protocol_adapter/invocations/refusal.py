"""What a client is told when the engine says no."""

from __future__ import annotations

from langgraph_durable import errors
from protocol_adapter.envelope import Refusal, broken, unavailable

_ANSWERS: dict[type[errors.DurableError], tuple[int, str | None, str]] = {
    errors.RunNotFound: (404, None, "invocation_not_found"),
    errors.EventsNotKept: (410, None, "events_not_kept"),
    errors.ThreadNotFound: (404, "session_id", "session_not_found"),
    errors.KeyReused: (409, "id", "id_reused"),
    errors.RunNotCancellable: (409, None, "invocation_not_cancellable"),
    errors.AssistantNotFound: (422, "graph", "graph_not_found"),
    errors.UnknownGraph: (422, "graph", "graph_not_found"),
    errors.InvalidRequest: (422, None, "invalid_request"),
}


def refusal_of(error: Exception) -> Refusal:
    """Never more than the engine's own words."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, errors.StoreUnavailable):
        return unavailable(error.message)
    for kind, (status, param, code) in _ANSWERS.items():
        if isinstance(error, kind):
            return Refusal(str(error), status=status, param=param, code=code)
    return broken()


def reused(invocation_id: str) -> Refusal:
    return Refusal(
        f"The id '{invocation_id}' belongs to another invocation.",
        status=409,
        param="id",
        code="id_reused",
    )


def nothing_asked(session_id: str) -> Refusal:
    return Refusal(
        f"The session '{session_id}' waits for no answer.",
        status=409,
        param="input",
        code="nothing_to_answer",
    )
