"""Every statement the engine runs, by name. Blocks begin with ``-- name --`` and a sentence."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString

_BLOCK = re.compile(r"^-- (\w+) --\n(.*?)(?=^-- \w+ --\n|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^--.*$", re.MULTILINE)


@cache
def statements(noun: str) -> dict[str, LiteralString]:
    """The statements of ``<noun>.sql`` by name.

    What stands in its block ``columns`` takes the place of ``:columns`` in the others. Nobody
    selects ``*``: a server's prepared statements would break when the next release adds a column.
    The files are part of the package, hence as trusted as literals in the code.
    """
    text = files(__package__).joinpath(f"{noun}.sql").read_text()
    found = {name: body.strip() for name, body in _BLOCK.findall(text)}
    columns = _COMMENT.sub("", found.get("columns", "")).strip()
    return {name: body.replace(":columns", columns) for name, body in found.items()}


def migrations() -> list[tuple[int, LiteralString]]:
    """All migrations in order, as (version, script)."""
    folder = files(__package__).joinpath("migrations")
    scripts = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [(int(f.name[:4]), f.read_text()) for f in scripts]
