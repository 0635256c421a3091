"""The paths of this door, and what they need to read a request and to write an answer."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.routing import BaseRoute, Route

from protocol_adapter.envelope import METHODS, Handler, endpoint, integer, json_body
from protocol_adapter.envelope import json_answer as json
from protocol_adapter.envelope import text_answer as json_text

from .refusal import Refusal, refusal_of

__all__ = ["Paths", "flag", "integer", "json", "json_body", "json_text", "routes"]

_PREFIXES = ("", "/v1")

Paths = Mapping[str, Mapping[str, Handler]]
"""A path and its handlers by method; a path without any is unknown."""


def routes(paths: Paths) -> list[BaseRoute]:
    """Every path, with and without ``/v1`` in front."""
    return [
        Route(f"{prefix}{path}", endpoint(verbs, refusal_of), methods=METHODS)
        for prefix in _PREFIXES
        for path, verbs in paths.items()
    ]


def flag(text: str | None, param: str) -> bool:
    flags = {"true": True, "1": True, "false": False, "0": False}
    if text is not None and text.lower() not in flags:
        raise Refusal(f"'{param}' must be true or false.", param=param)
    return flags[(text or "false").lower()]
