"""Ids on the wire and the ids they stand for.

A response is named after its run, an item after its message or tool call. When something with
the same name has to be told again (a message that a recovery repeats, text that goes on behind a
tool call), the later item carries ``~2``, ``~3`` ... behind it.
"""

from __future__ import annotations

import re
from collections.abc import Container
from itertools import count
from uuid import UUID

_RESPONSE_ID = re.compile(r"resp_([0-9a-f]{32})")
_AGAIN = re.compile(r"~\d+$")

APPROVAL = "mcpr_"
MCP_CALL = "mcp_"


def response_id(run_id: str) -> str:
    """``resp_`` and the run's id without dashes."""
    return f"resp_{run_id.replace('-', '')}"


def run_id(response_id: str) -> str | None:
    """The run behind a response id; None when it is not one of ours."""
    found = _RESPONSE_ID.fullmatch(response_id)
    return str(UUID(found[1])) if found else None


def again(name: str, taken: Container[str], prefix: str = "") -> str:
    """``name``, with the first free ``~n`` when ``prefix + name`` is taken."""
    names = (name if n == 1 else f"{name}~{n}" for n in count(1))
    return next(candidate for candidate in names if prefix + candidate not in taken)


def original(name: str) -> str:
    """The message or call id behind an item's or a call's id on the wire."""
    return _AGAIN.sub("", name)
