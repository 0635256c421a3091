"""Comparing an answer with a recorded shape.

A shape is a JSON value in which these stand for any value of a kind: ``...`` for anything, a type
for its instances, a :class:`Matches` for text of a form. Objects may have more keys than their
shape, lists have exactly its length. ``{name}`` in text stands for a value kept earlier.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Matches:
    """Text that a regular expression describes whole."""

    pattern: str


@dataclass(frozen=True)
class Exactly:
    """An object with these keys and no other."""

    shape: dict[str, Any]


TIME = Matches(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*")
SOME = Matches(r"(?s).+")


def difference(actual: Any, shape: Any, kept: Mapping[str, str], at: str = "$") -> str | None:
    """Where and how ``actual`` leaves its shape; None when it does not."""
    if shape is ...:
        return None
    if isinstance(shape, type):
        fits = isinstance(actual, shape)
    elif isinstance(shape, Matches):
        fits = isinstance(actual, str) and _matches(actual, shape.pattern, kept)
    elif isinstance(shape, Exactly):
        if isinstance(actual, dict) and actual.keys() != shape.shape.keys():
            return f"{at}: expected only {sorted(shape.shape)}, got {sorted(actual)}"
        return _in_object(actual, shape.shape, kept, at)
    elif isinstance(shape, dict):
        return _in_object(actual, shape, kept, at)
    elif isinstance(shape, list):
        return _in_list(actual, shape, kept, at)
    else:
        fits = actual == filled(shape, kept)
    return None if fits else f"{at}: expected {shape!r}, got {actual!r}"


def filled(value: Any, kept: Mapping[str, str]) -> Any:
    """``value`` with every ``{name}`` in its texts replaced."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda m: kept.get(m[1], m[0]), value)
    if isinstance(value, dict):
        return {filled(k, kept): filled(v, kept) for k, v in value.items()}
    if isinstance(value, list):
        return [filled(item, kept) for item in value]
    return value


def pick(value: Any, path: str) -> Any:
    """The value at a path such as ``0.checkpoint.checkpoint_id``."""
    for step in path.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def _matches(actual: str, pattern: str, kept: Mapping[str, str]) -> bool:
    return re.fullmatch(filled(pattern, kept), actual) is not None


def _in_object(actual: Any, shape: dict[Any, Any], kept: Mapping[str, str], at: str) -> str | None:
    if not isinstance(actual, dict):
        return f"{at}: expected an object, got {actual!r}"
    for name, inner in shape.items():
        key = filled(name, kept)
        if key not in actual:
            return f"{at}.{key}: missing; there are {sorted(actual)}"
        if found := difference(actual[key], inner, kept, f"{at}.{key}"):
            return found
    return None


def _in_list(actual: Any, shape: list[Any], kept: Mapping[str, str], at: str) -> str | None:
    if not isinstance(actual, list) or len(actual) != len(shape):
        return f"{at}: expected a list of {len(shape)}, got {actual!r}"
    for index, (item, inner) in enumerate(zip(actual, shape, strict=True)):
        if found := difference(item, inner, kept, f"{at}[{index}]"):
            return found
    return None
