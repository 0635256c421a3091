"""The ``webhooks`` of a ``langgraph.json``: whom runs may call, and with what headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST_URL = 4096
ENV_PREFIX = "LG_WEBHOOK_"
_KEYS = {"env_prefix", "url", "headers"}
_URL_KEYS = {
    "require_https",
    "allowed_domains",
    "allowed_ports",
    "max_url_length",
    "disable_loopback",
}
_REFERENCE = re.compile(r"\$\{\{\s*env\.(\w+)\s*\}\}")
_NAME = re.compile(r"[!#$%&'*+.^`|~\w-]+", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class WebhookConfig:
    """``allowed_domains`` and ``allowed_ports`` empty allow all. ``disable_loopback`` None leaves
    it to the settings. ``headers`` go with every call, and may hold secrets.
    """

    require_https: bool = False
    allowed_domains: tuple[str, ...] = ()
    allowed_ports: tuple[int, ...] = ()
    max_url_length: int = LONGEST_URL
    disable_loopback: bool | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def read_webhooks(raw: Any, env: Mapping[str, str], problems: list[str]) -> WebhookConfig:
    """What ``webhooks`` says; what is wrong with it goes to ``problems``.

    Once the block is there, addresses must be https unless it says otherwise.
    """
    if raw is None:
        return WebhookConfig()
    given = _object(raw, "webhooks", problems)
    url = _object(given.get("url"), "webhooks.url", problems)
    return WebhookConfig(
        require_https=_flag(url, "require_https", problems) is not False,
        allowed_domains=_domains(url.get("allowed_domains"), problems),
        allowed_ports=_ports(url.get("allowed_ports"), problems),
        max_url_length=_length(url.get("max_url_length"), problems),
        disable_loopback=_flag(url, "disable_loopback", problems),
        headers=_headers(given, env, problems),
    )


def unknown_keys(raw: Any) -> list[str]:
    """Keys under ``webhooks`` that do nothing here."""
    if not isinstance(raw, dict):
        return []
    url = raw.get("url")
    inner = url.keys() - _URL_KEYS if isinstance(url, dict) else set()
    return sorted([*(raw.keys() - _KEYS), *(f"url.{key}" for key in inner)])


def _object(raw: Any, name: str, problems: list[str]) -> dict[str, Any]:
    if raw is not None and not isinstance(raw, dict):
        problems.append(f"{name}: must be an object")
    return raw if isinstance(raw, dict) else {}


def _flag(url: Mapping[str, Any], key: str, problems: list[str]) -> bool | None:
    value = url.get(key)
    if value is not None and not isinstance(value, bool):
        problems.append(f"webhooks.url.{key}: must be true or false")
    return value if isinstance(value, bool) else None


def _domains(raw: Any, problems: list[str]) -> tuple[str, ...]:
    if not isinstance(raw, list | None) or not all(isinstance(d, str) and d for d in raw or ()):
        problems.append('webhooks.url.allowed_domains: must be a list such as ["*.example.com"]')
        return ()
    return tuple(domain.lower() for domain in raw or ())


def _ports(raw: Any, problems: list[str]) -> tuple[int, ...]:
    if not isinstance(raw, list | None) or not all(_within(port, 65535) for port in raw or ()):
        problems.append("webhooks.url.allowed_ports: must be a list of port numbers")
        return ()
    return tuple(raw or ())


def _length(raw: Any, problems: list[str]) -> int:
    if raw is None:
        return LONGEST_URL
    if not _within(raw, 2**16):
        problems.append("webhooks.url.max_url_length: must be a number from 1 to 65536")
        return LONGEST_URL
    return int(raw)


def _within(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most


def _headers(
    given: Mapping[str, Any], env: Mapping[str, str], problems: list[str]
) -> dict[str, str]:
    prefix = given.get("env_prefix", ENV_PREFIX)
    if not isinstance(prefix, str) or not prefix:
        problems.append("webhooks.env_prefix: must be a string that is not empty")
        return {}
    found = {}
    for name, text in _object(given.get("headers"), "webhooks.headers", problems).items():
        where = f"webhooks.headers.{name}"
        if not isinstance(text, str) or not _NAME.fullmatch(name):
            problems.append(f"{where}: must be a header's name and a string")
            continue
        value, wrong = _filled(text, prefix, env)
        if not wrong and not (value.isascii() and value.isprintable()):
            wrong = ["must be printable ASCII"]
        problems += [f"{where}: {problem}" for problem in wrong]
        found[name] = value
    return found


def _filled(text: str, prefix: str, env: Mapping[str, str]) -> tuple[str, list[str]]:
    """``text`` with its variables, and what is wrong with them. Never a value in a problem."""
    names = _REFERENCE.findall(text)
    wrong = [
        f"{name} does not begin with {prefix}" for name in names if not name.startswith(prefix)
    ]
    wrong += [f"{name} is not set" for name in names if name.startswith(prefix) and name not in env]
    if "${{" in _REFERENCE.sub("", text):
        wrong.append("only ${{ env.NAME }} can be referred to")
    return _REFERENCE.sub(lambda m: env.get(m[1], ""), text), wrong
