"""Request headers: which of them graphs may read, and how they are kept out of sight.

A header may be a person's token. It lives with its run's request, since a later attempt needs it
too, and in the config that the graph reads; nothing else may store or show it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

_KEYS = {"includes": "include", "excludes": "exclude"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderRule:
    """Names, lower-cased, in which ``*`` stands for anything. What is excluded is not included."""

    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()

    def allowed(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers that a graph may read, by lower-cased name."""
        named = {name.lower(): value for name, value in headers.items()}
        return {name: value for name, value in named.items() if self._allows(name)}

    def _allows(self, name: str) -> bool:
        return _matches(name, self.includes) and not _matches(name, self.excludes)


def _matches(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def read_rule(raw: Any, problems: list[str]) -> HeaderRule:
    """What ``http.configurable_headers`` says: ``{"includes": [...], "excludes": [...]}``."""
    where = "http.configurable_headers"
    if raw is not None and not isinstance(raw, dict):
        problems.append(f'{where}: must be {{"includes": [...], "excludes": [...]}}')
    given = raw if isinstance(raw, dict) else {}
    known = {*_KEYS, *_KEYS.values()}
    problems += [f"{where}.{key}: unknown" for key in given if key not in known]
    found = {key: _names(given, key, older, problems) for key, older in _KEYS.items()}
    return HeaderRule(**found)


def _names(given: Mapping[str, Any], key: str, older: str, problems: list[str]) -> tuple[str, ...]:
    names = given.get(key, given.get(older)) or []
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        # The only wildcard there is.
        return tuple(name.lower().replace("[", "[[]").replace("?", "[?]") for name in names)
    problems.append(f"http.configurable_headers.{key}: must be a list of header names")
    return ()


def hidden(config: Mapping[str, Any], headers: Collection[str]) -> dict[str, Any]:
    """A LangGraph config without what came from request headers."""
    if not headers:
        return dict(config)
    configurable = config.get("configurable") or {}
    shown = {key: value for key, value in configurable.items() if key not in headers}
    return {**config, "configurable": shown}


def hidden_in(part: Any, headers: Collection[str]) -> Any:
    """The payload of a ``checkpoints`` or ``debug`` stream part, which holds whole configs."""
    if not headers or not isinstance(part, dict):
        return part
    if isinstance(part.get("payload"), dict):
        part = {**part, "payload": hidden_in(part["payload"], headers)}
    configs = {key: part[key] for key in ("config", "parent_config") if part.get(key)}
    return {**part, **{key: hidden(config, headers) for key, config in configs.items()}}
