"""Typed reading of JSON objects: null is absent, a wrong type is a 422 that names the key."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from langgraph_durable.errors import InvalidRequest

T = TypeVar("T")


class Unprocessable(InvalidRequest):
    """The request cannot be understood."""


def text(body: Mapping[str, Any], key: str) -> str | None:
    return _typed(body, key, str, "a string")


def flag(body: Mapping[str, Any], key: str) -> bool | None:
    return _typed(body, key, bool, "true or false")


def mapping(body: Mapping[str, Any], key: str) -> dict[str, Any]:
    return _typed(body, key, dict, "an object") or {}


def texts(body: Mapping[str, Any], key: str) -> list[str] | None:
    """A list of strings, or None when the key is absent."""
    value: list[str] | None = _typed(body, key, list, "a list of strings")
    if not all(isinstance(item, str) for item in value or ()):
        raise Unprocessable(f"'{key}' must be a list of strings")
    return value


def choice(body: Mapping[str, Any], key: str, allowed: Collection[str], default: str) -> str:
    value = text(body, key)
    return default if value is None else one_of(key, value, allowed)


def one_of(key: str, value: str, allowed: Collection[str]) -> str:
    if value not in allowed:
        raise Unprocessable(f"'{key}' must be one of {', '.join(allowed)}, not {value!r}")
    return value


def number(body: Mapping[str, Any], key: str, default: int, *, low: int, high: int) -> int:
    """An integer within ``low`` .. ``high``."""
    value = body.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Unprocessable(f"'{key}' must be an integer from {low} to {high}")
    return value


def seconds(body: Mapping[str, Any], key: str) -> float:
    """A time span of up to ten years; 0 when it is absent."""
    value = body.get(key)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 3e8:
        raise Unprocessable(f"'{key}' must be a number of seconds, not below 0")
    return float(value)


def digits(value: str) -> int | None:
    """The number that a query or a header spells out; None for anything else."""
    spelt = value.isascii() and value.isdigit() and len(value) < 19
    return int(value) if spelt else None


def thread_name(thread_id: str) -> str:
    """Any text that fits into one path segment may name a thread."""
    if not (0 < len(thread_id) <= 512 and thread_id.isprintable() and "/" not in thread_id):
        raise Unprocessable("'thread_id' must be 1 to 512 printable characters without '/'")
    return thread_id


def page(body: Mapping[str, Any]) -> tuple[int, int]:
    """``limit`` and ``offset`` of a search."""
    return (
        number(body, "limit", 10, low=1, high=1000),
        number(body, "offset", 0, low=0, high=2**31 - 1),
    )


def _typed(body: Mapping[str, Any], key: str, kind: type[T], name: str) -> T | None:
    value = body.get(key)
    if value is not None and not isinstance(value, kind):
        raise Unprocessable(f"'{key}' must be {name}")
    return value
