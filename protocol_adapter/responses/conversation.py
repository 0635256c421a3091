"""Which thread a request belongs to.

Clients name their conversation in many ways; the first of these that is there decides:

1. ``conversation``: a string or ``{"id"}``
2. ``previous_response_id``: the thread of that response
3. an interrupt: the thread whose open question the input answers
4. ``custom_inputs.thread_id``
5. ``custom_inputs.session_id``
6. ``context.conversation_id``
7. none: a new thread, named after the response

Ids are opaque; a rotated one (``<id>::attempt-2``) reaches the same thread as the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .refusal import Refusal

_LONGEST_ID = 512


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread id and the key of the request that named it; ``new`` when none did."""

    id: str
    source: str

    @property
    def new(self) -> bool:
        return self.source == "new"


def resolve(
    body: Mapping[str, Any],
    *,
    response_id: str,
    previous: str | None = None,
    asking: str | None = None,
) -> Conversation:
    """The conversation of ``body``.

    ``previous`` is the thread of its ``previous_response_id``, ``asking`` the thread whose
    question it answers. Raises :class:`Refusal` for ids of a wrong type and for both
    ``conversation`` and ``previous_response_id``.
    """
    if "conversation" in body and "previous_response_id" in body:
        raise Refusal(
            "'conversation' and 'previous_response_id' exclude each other: send one of them.",
            param="previous_response_id",
            code="mutually_exclusive_parameters",
        )
    named = {
        "conversation": _conversation(body),
        "previous_response_id": previous,
        "interrupt": asking,
        "custom_inputs.thread_id": _inner(body, "custom_inputs", "thread_id"),
        "custom_inputs.session_id": _inner(body, "custom_inputs", "session_id"),
        "context.conversation_id": _inner(body, "context", "conversation_id"),
    }
    found = (Conversation(name, source) for source, name in named.items() if name is not None)
    return next(found, Conversation(response_id, "new"))


def _conversation(body: Mapping[str, Any]) -> str | None:
    conversation = body.get("conversation")
    if isinstance(conversation, Mapping):
        return _checked(conversation.get("id", ""), "conversation.id")
    return None if conversation is None else _checked(conversation, "conversation")


def _inner(body: Mapping[str, Any], outer: str, key: str) -> str | None:
    value = (body.get(outer) or {}).get(key)
    return None if value is None else _checked(value, f"{outer}.{key}")


def _checked(value: Any, param: str) -> str:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= _LONGEST_ID:
        raise Refusal(
            f"'{param}' must be a printable string of 1 to {_LONGEST_ID} characters.", param=param
        )
    return value
