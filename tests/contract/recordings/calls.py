"""One recorded call: a request and what clients can rely on in the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Frames = Sequence[tuple[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request and what it got. ``keep`` names values of the answer for later calls."""

    method: str
    path: str
    body: Any = None
    raw: bytes | None = None
    sent: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, Any] = field(default_factory=dict)
    shape: Any = ...
    frames: Frames | None = None
    keep: Mapping[str, str] = field(default_factory=dict)
    differs: str | None = None


def get(path: str, **expected: Any) -> Call:
    return Call(method="GET", path=path, **expected)


def post(path: str, body: Any = None, **expected: Any) -> Call:
    return Call(method="POST", path=path, body=body, **expected)


def put(path: str, body: Any = None, **expected: Any) -> Call:
    return Call(method="PUT", path=path, body=body, **expected)


def delete(path: str, **expected: Any) -> Call:
    return Call(method="DELETE", path=path, **expected)


def patch(path: str, body: Any, **expected: Any) -> Call:
    return Call(method="PATCH", path=path, body=body, **expected)
