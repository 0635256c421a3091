"""Ids on the wire and the ids they stand for.

A response is named after its run, an item after its message or tool call. When something with
the same name has to be told again (a message that a recovery repeats, text that goes on behind a
tool call), the later item carries ``~2``, ``~3`` ... behind it.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Container
from dataclasses import dataclass
from itertools import count
from uuid import UUID

_RESPONSE_ID = re.compile(r"resp_([0-9a-f]{32})")
_AGAIN = re.compile(r"~\d+$")

_INTERRUPT_ID = re.compile(r"[0-9a-f]{32}")
_QUESTION = re.compile(r"[A-Za-z0-9_-]{44}")
_WITH_ACTION = re.compile(r"(.+):([0-9]{1,3})", re.DOTALL)
_NO_ACTION = 255

APPROVAL = "mcpr_"
MCP_CALL = "mcp_"


def response_id(run_id: str) -> str:
    """``resp_`` and the run's id without dashes."""
    return f"resp_{run_id.replace('-', '')}"


def run_id(response_id: str) -> str | None:
    """The run behind a response id; None when it is not one of ours."""
    found = _RESPONSE_ID.fullmatch(response_id)
    return str(UUID(found[1])) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A graph's question on the wire: the run that asked it, its interrupt, and which of the
    actions it lists; None where the name does not tell."""

    interrupt_id: str
    run_id: str | None = None
    action: int | None = None


def question_name(question: Question) -> str:
    """What a question is called, in at most 64 characters: a client that keeps nothing else
    brings it back, and the answer finds its thread."""
    bare = f"{APPROVAL}{question.interrupt_id}"
    if question.run_id is None or not _INTERRUPT_ID.fullmatch(question.interrupt_id):
        return bare if question.action is None else f"{bare}:{question.action}"
    action = _NO_ACTION if question.action is None else question.action
    token = UUID(question.run_id).bytes + bytes.fromhex(question.interrupt_id) + bytes([action])
    return APPROVAL + urlsafe_b64encode(token).decode()


def question_of(name: str) -> Question:
    """The question behind a name, or behind an interrupt's bare id."""
    bare = name.removeprefix(APPROVAL)
    if _QUESTION.fullmatch(bare):
        token = urlsafe_b64decode(bare)
        action = None if token[-1] == _NO_ACTION else token[-1]
        run = str(UUID(bytes=token[:16]))
        return Question(interrupt_id=token[16:32].hex(), run_id=run, action=action)
    if found := _WITH_ACTION.fullmatch(bare):
        return Question(interrupt_id=found[1], action=int(found[2]))
    return Question(interrupt_id=bare)


def again(name: str, taken: Container[str], prefix: str = "") -> str:
    """``name``, with the first free ``~n`` when ``prefix + name`` is taken."""
    names = (name if n == 1 else f"{name}~{n}" for n in count(1))
    return next(candidate for candidate in names if prefix + candidate not in taken)


def original(name: str) -> str:
    """The message or call id behind an item's or a call's id on the wire."""
    return _AGAIN.sub("", name)
