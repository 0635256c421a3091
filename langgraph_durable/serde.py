"""The one encoder: any value a graph may emit becomes JSON text that every client can read.

Shapes follow the official server: messages are flat ``model_dump()`` dicts, dataclasses and
Pydantic models become objects, sets become lists, bytes become base64, NaN becomes null.
NUL characters and lone surrogates are replaced, since neither JSON clients nor Postgres take them.
"""

from __future__ import annotations

import base64
import dataclasses
import re
from collections import deque
from collections.abc import Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any

import orjson
from langgraph.types import Send

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
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


def clean(value: Any) -> Any:
    """``value`` with every string, key and number made safe to encode."""
    if isinstance(value, str):
        return _UNSAFE.sub("\ufffd", value) if _UNSAFE.search(value) else value
    if isinstance(value, bool) or value is None or isinstance(value, float):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else float(value)
    if isinstance(value, Mapping):
        return {_key(k): clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, deque)) and not hasattr(value, "_asdict"):
        return [clean(v) for v in value]
    return clean(_default(value))


def _key(key: Any) -> str:
    if isinstance(key, bytes):
        key = base64.b64encode(key).decode()
    return str(clean(str(key)))


def _default(value: Any) -> Any:
    for adapt in (_model, _container, _scalar):
        found = adapt(value)
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
        return float(value) if value % 1 else int(value)
    if isinstance(value, BaseException):
        return {"error": type(value).__name__, "message": str(value)}
    if isinstance(value, (PurePath, complex, re.Pattern)):
        return str(value)
    return None
