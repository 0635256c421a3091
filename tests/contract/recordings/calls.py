"""One recorded call: a request and what clients can rely on in the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Frames = Sequence[tuple[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request and what it got.

    ``keep`` names values of the answer, or of its frames, for later calls. ``seen`` says which
    recorded exchanges this is, as ``file number number, file number``. An ``aside`` call goes on
    while the later ones are made; a call that holds ``eventually`` is made until it does.
    """

    method: str
    path: str
    body: Any = None
    raw: bytes | None = None
    sent: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, Any] = field(default_factory=dict)
    shape: Any = ...
    frames: Frames | None = None
    ends: str = "success|error"
    keep: Mapping[str, str] = field(default_factory=dict)
    differs: str | None = None
    seen: str = ""
    aside: bool = False
    eventually: bool = False


EXPECTED = frozenset(Call.__dataclass_fields__) - {"method", "path", "body", "shape", "frames"}


def split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is said about the call, and what goes into its body."""
    said = {key: options[key] for key in options if key in EXPECTED}
    return said, {key: options[key] for key in options if key not in EXPECTED}


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
