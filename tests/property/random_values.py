"""Values that graphs emit: the ones JSON knows, and all the others."""

from __future__ import annotations

import enum
from collections import deque
from dataclasses import dataclass
from datetime import UTC, timedelta, timezone
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langgraph.types import Interrupt, Send
from pydantic import BaseModel

NASTY = ("\x00", "\ud800", "\udfff", "\u2028", "\u2029", "\x85", "\x1c\x0b", "\r\n", "\\u0000", '"')


@dataclass
class Note:
    text: Any
    more: Any = None


class Pair(NamedTuple):
    left: Any
    right: Any


class Model(BaseModel):
    inside: Any


class Colour(enum.Enum):
    RED = "red"
    BROKEN = "\ud800"
    HUGE = 10**400


class Word(enum.StrEnum):
    YES = "yes"


any_text = st.one_of(
    st.text(max_size=8),
    st.lists(st.sampled_from([*NASTY, "a", "é", "😀"]), max_size=4).map("".join),
)
safe_text = st.text(alphabet=st.characters(exclude_characters="\x00"), max_size=8)
zones = st.sampled_from([UTC, timezone(timedelta(hours=-3, seconds=7))])

json_scalars: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    safe_text,
)
odd_scalars: st.SearchStrategy[Any] = st.one_of(
    any_text,
    st.floats(),
    st.integers().map(lambda n: n * 10**15),
    st.sampled_from([10**400, -(10**400), 2**64, -(2**63) - 1]),
    st.binary(max_size=4),
    st.binary(max_size=4).map(bytearray),
    st.decimals(),
    st.complex_numbers(),
    st.uuids(),
    st.datetimes(timezones=st.none() | zones),
    st.dates(),
    st.times(timezones=st.none() | zones),
    st.timedeltas(),
    st.sampled_from([*Colour, *Word, PurePosixPath("a/\x00b"), object(), int, len]),
    any_text.map(ValueError),
)
scalars = st.one_of(json_scalars, odd_scalars)

hashable = st.one_of(any_text, st.binary(max_size=3), st.integers(), st.uuids())
keys = st.sampled_from(
    [
        any_text,
        st.binary(max_size=3),
        st.integers(),
        st.booleans(),
        st.floats(allow_nan=False),
        st.uuids(),
        st.dates(),
        st.tuples(st.integers(), any_text),
        st.sampled_from(Colour),
    ]
)


def _messages(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    extra = st.dictionaries(safe_text, inside, max_size=2)
    call = st.fixed_dictionaries(
        {"id": safe_text, "name": safe_text, "args": st.dictionaries(safe_text, inside, max_size=2)}
    )
    calls = st.lists(call, max_size=2)
    return st.one_of(
        st.builds(HumanMessage, content=safe_text, additional_kwargs=extra),
        st.builds(AIMessage, content=safe_text, tool_calls=calls, additional_kwargs=extra),
        st.builds(AIMessageChunk, content=safe_text, additional_kwargs=extra),
        st.builds(ToolMessage, content=safe_text, tool_call_id=safe_text, artifact=inside),
    )


def _containers(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    listed = st.lists(inside, max_size=4)
    return st.one_of(
        listed,
        listed.map(tuple),
        listed.map(deque),
        st.sets(hashable, max_size=3),
        st.frozensets(hashable, max_size=3),
        keys.flatmap(lambda key: st.dictionaries(key, inside, max_size=4)),
        st.builds(Note, text=inside, more=inside),
        st.builds(Pair, inside, inside),
        st.builds(Model, inside=inside),
        st.builds(Send, safe_text, inside),
        st.builds(Interrupt, value=inside, id=safe_text),
        _messages(inside),
    )


def _json_containers(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(inside, max_size=4), st.dictionaries(safe_text, inside, max_size=4))


values = st.recursive(scalars, _containers, max_leaves=12)
json_values = st.recursive(json_scalars, _json_containers, max_leaves=12)
