"""``.env`` files: one ``NAME=value`` a line, as shells and ``langgraph dev`` read them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LINE = re.compile(
    r"""^\s* (?:export\s+)? (?P<name>[A-Za-z_][\w.-]*) \s* = \s*
    (?: '(?P<single>[^']*)' | "(?P<double>(?:\\.|[^"\\])*)" | (?P<plain>(?!["'])[^\r\n]*?) )
    \s* (?:(?<=\s)\#.*|(?<=["'])\#.*)? $""",
    re.VERBOSE,
)
_REFERENCE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def parse(text: str, env: Mapping[str, str]) -> dict[str, str]:
    """The variables of ``text``; ``${NAME}`` and ``${NAME:-default}`` are looked up in them, then
    in ``env``. ValueError names the first line that makes no sense."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line)
        if match is None:
            raise ValueError(f"line {number} is not NAME=value")
        found[match["name"]] = _value(match, {**env, **found})
    return found


def _value(match: re.Match[str], known: Mapping[str, str]) -> str:
    if match["single"] is not None:
        return match["single"]
    if match["double"] is not None:
        text = _ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[1]), match["double"])
    else:
        text = match["plain"]
    return _REFERENCE.sub(lambda m: known.get(m[1]) or m[2] or "", text)
