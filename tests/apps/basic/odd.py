"""Graphs that do what users do and servers stumble over."""

from __future__ import annotations

import enum
import math
from collections import namedtuple
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from graphs import chain  # type: ignore[import-not-found]
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.graph import MessagesState
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

NUMBER = UUID("12345678-1234-5678-1234-567812345678")
NOON = datetime(2026, 2, 3, 12, 0, 0, 10_000, tzinfo=UTC)


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Note:
    text: str
    when: datetime


class Person(BaseModel):
    name: str
    born: date


Pair = namedtuple("Pair", "left right")

VALUES: dict[str, Any] = {
    "nan": math.nan,
    "infinity": [math.inf, -math.inf],
    "bytes": b"\x00\xff",
    "bytes as keys": {b"key": b"value"},
    "uuid": {"id": NUMBER, NUMBER: 1},
    "times": [NOON, NOON.date(), time(1, 2, 3), timedelta(seconds=90)],
    "decimal": [Decimal("1.50"), Decimal("3"), Decimal("NaN")],
    "enum": {"colour": Colour.RED, Colour.RED: 1},
    "set": [{1}, frozenset({2})],
    "dataclass": Note("hi", NOON),
    "pydantic": Person(name="Ada", born=date(1815, 12, 10)),
    "namedtuple": Pair(1, b"2"),
    "path": Path("/a/b"),
    "large": [-(2**63), 2**64 - 1],
    "text": "a\x00b\u2028c😀",
}


class Kept(TypedDict, total=False):
    kind: str
    value: Any
    answer: Any


def keep(state: Kept) -> Kept:
    """The value in a custom event and in the state."""
    value = VALUES[state["kind"]]
    get_stream_writer()({"value": value})
    return {"value": value}


def ask(state: Kept) -> Kept:
    return {"answer": interrupt({"value": VALUES[state["kind"]]})}


odd = chain(Kept, keep=keep, ask=ask).compile()
odd = odd.with_config(metadata={"tenant": NUMBER, "since": NOON, "share": math.nan, "raw": b"\xff"})


class Secret(TypedDict):
    secret: str


def tell(state: Kept, runtime: Runtime[Secret]) -> Kept:
    return {"value": f"{len(runtime.context['secret'])} letters"}


contextual = chain(Kept, tell=tell, context=Secret).compile()


def needy(config: RunnableConfig) -> Any:
    """Cannot be made without knowing for whom."""
    user = config["configurable"]["user"]

    def greet(state: Kept) -> Kept:
        return {"value": f"hello {user}"}

    return chain(Kept, greet=greet).compile()


async def talk(state: MessagesState) -> dict[str, Any]:
    """One message with an id of the graph's own, one without, and one of the person's."""
    return {"messages": [AIMessage("named", id="ai-1"), AIMessage("nameless"), HumanMessage("me")]}


names = chain(MessagesState, talk=talk).compile()
