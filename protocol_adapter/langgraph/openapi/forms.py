"""Forms of answers that many routes share."""

from __future__ import annotations

from protocol_adapter.langgraph.http import SWITCHES
from protocol_adapter.langgraph.openapi.answers import COUNT
from protocol_adapter.openapi import Answer, listed, one_of, ref

CURSOR = ("Last-Event-ID",)
NOTHING = {204: Answer()}
TOTAL = {200: Answer(schema=COUNT)}
SWITCH = one_of(tuple(SWITCHES))
PAGED = "X-Pagination-Total"


def one(name: str, *headers: str) -> dict[int, Answer]:
    """One object of this name."""
    return {200: Answer(schema=ref(name), headers=headers)}


def many(name: str, *headers: str) -> dict[int, Answer]:
    """A list of objects of this name."""
    return {200: Answer(schema=listed(ref(name)), headers=headers)}
