"""The one encoder: any value a graph may emit becomes JSON text that every client can read.

Shapes follow the official server: messages are flat ``model_dump()`` dicts, dataclasses and
Pydantic models become objects, sets become lists, bytes become base64, time spans become seconds,
NaN becomes null.
NUL characters and lone surrogates are replaced, since neither JSON clients nor Postgres take them.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import re
import uuid
from collections import deque
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

import orjson
from langchain_core.messages import BaseMessage
from langgraph.types import Send

from langgraph_durable.errors import InvalidRequest

DEEPEST = 200
"""How deep clients may nest JSON: orjson writes 254 levels, and answers wrap what was sent."""

# orjson 3.13 writes a time of 10 ms as one of 100 ms
_OPTIONS = (
    orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
)
_LINE_BREAKS = re.compile("[\u0085\u2028\u2029]")
_UNSAFE = re.compile("[\x00\ud800-\udfff]")


def encode(value: Any) -> str:
    """JSON text of ``value`` on one line, safe for SSE, Postgres and strict JSON parsers."""
    try:
        text = orjson.dumps(value, default=_default, option=_OPTIONS).decode()
    except (TypeError, orjson.JSONEncodeError):
        text = orjson.dumps(clean(value), default=_default, option=_OPTIONS).decode()
    if "\\u0000" in text:
        text = orjson.dumps(clean(orjson.loads(text))).decode()
    if text.isascii():
        return text
    return _LINE_BREAKS.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def decode(text: str | bytes) -> Any:
    """The Python value of JSON text."""
    return orjson.loads(text)


def received(raw: bytes) -> Any:
    """The value of JSON text that a client sent, its NUL characters replaced.

    Raises ValueError when it is no JSON, InvalidRequest when it is nested too deeply.
    """
    value = orjson.loads(raw)
    if raw.count(b"[") + raw.count(b"{") > DEEPEST and _deeper(value, DEEPEST):
        raise InvalidRequest(f"The request is nested more than {DEEPEST} levels deep.")
    # Postgres stores no NUL, in no kind of text.
    return clean(value) if b"\\u0000" in raw else value


def _deeper(value: Any, levels: int) -> bool:
    inside = [value]
    for _ in range(levels):
        inside = [
            inner
            for outer in inside
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
    return bool(inside)


def clean(value: Any) -> Any:
    """``value`` with every string, key and number made safe to encode."""
    if isinstance(value, Enum):
        return clean(value.value)
    if isinstance(value, str):
        return _UNSAFE.sub("\ufffd", value) if _UNSAFE.search(value) else value
    if value is None or isinstance(value, (bool, float, UUID)):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else _float(value)
    if isinstance(value, Mapping):
        return {_key(k): clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, deque)) and not hasattr(value, "_asdict"):
        return [clean(v) for v in value]
    return clean(_default(value))


def name_messages(value: Any) -> None:
    """Give every message that has no id one, in place.

    The reducer would do so later: then the log, the state and a recovered run would each know
    the same message by another id.
    """
    if isinstance(value, BaseMessage):
        if value.id is None:
            value.id = str(uuid.uuid4())
    elif isinstance(value, Mapping):
        for item in value.values():
            name_messages(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            name_messages(item)


def _key(key: Any) -> str:
    """A key as orjson spells it, or as text where orjson knows none."""
    key = key.value if isinstance(key, Enum) else key
    if isinstance(key, bytes):
        return base64.b64encode(key).decode()
    if not isinstance(key, str):
        try:
            [key] = orjson.loads(orjson.dumps({key: None}, option=_OPTIONS))
        except TypeError:
            key = str(key)
    return str(clean(key))


def _default(value: Any) -> Any:
    for adapt in (_model, _container, _scalar):
        try:
            found = adapt(value)
        except Exception:
            # A value that cannot tell what it is must not fail the run that shows it.
            return None
        if found is not None:
            return found
    return None


def _model(value: Any) -> Any:
    if isinstance(value, Send):
        return {"node": value.node, "args": value.arg}
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if hasattr(value, "dict") and not isinstance(value, type) and callable(value.dict):
        return value.dict()
    return None


def _container(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, (set, frozenset, deque, tuple)):
        return list(value)
    if isinstance(value, Mapping):
        return {_key(k): v for k, v in value.items()}
    return None


def _scalar(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, BaseException):
        return {"error": type(value).__name__, "message": str(value)}
    if isinstance(value, (PurePath, complex, re.Pattern)):
        return str(value)
    return None


def _number(value: Decimal) -> float | int:
    if not value.is_finite():
        return math.nan
    whole = value.adjusted() < 19 and value == value.to_integral_value()
    return int(value) if whole else _float(value)


def _float(value: int | Decimal) -> float:
    """The nearest double; infinite, hence null on the wire, where there is none."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
