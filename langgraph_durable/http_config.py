"""The ``http`` of a ``langgraph.json``: under what path it is served, what is left out, and what
of a request's headers graphs may read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from langgraph_durable.headers import HeaderRule, read_rule

PARTS = ("assistants", "threads", "runs", "store", "meta", "webhooks")
"""What can be left out of a server."""

_ABSENT = ("mcp", "a2a", "ui")
"""What the official server can leave out and this one never has."""


@dataclass(frozen=True, kw_only=True)
class HttpConfig:
    """``disabled`` are names out of :data:`PARTS`; their routes are not served. ``headers`` says
    which headers of a request its graph may read.
    """

    mount_prefix: str | None = None
    disabled: frozenset[str] = frozenset()
    headers: HeaderRule = field(default_factory=HeaderRule)


def read_http(raw: Any, problems: list[str]) -> HttpConfig:
    """What ``http`` says; what is wrong with it goes to ``problems``."""
    if raw is not None and not isinstance(raw, dict):
        problems.append("http: must be an object")
    given = raw if isinstance(raw, dict) else {}
    for key in _switches():
        if given.get(key) is not None and not isinstance(given[key], bool):
            problems.append(f"http.{key}: must be true or false")
    return HttpConfig(
        mount_prefix=_mount_prefix(given.get("mount_prefix"), problems),
        disabled=frozenset(part for part in PARTS if given.get(f"disable_{part}") is True),
        headers=read_rule(given.get("configurable_headers"), problems),
    )


def unknown_keys(raw: Any) -> list[str]:
    """Keys under ``http`` that do nothing here."""
    known = {"mount_prefix", "configurable_headers", *_switches()}
    return sorted(raw.keys() - known) if isinstance(raw, dict) else []


def _switches() -> list[str]:
    return [f"disable_{part}" for part in (*PARTS, *_ABSENT)]


def _mount_prefix(prefix: Any, problems: list[str]) -> str | None:
    if prefix is not None and not isinstance(prefix, str):
        problems.append("http.mount_prefix: must be a string")
        return None
    return None if prefix is None else prefix.rstrip("/")
