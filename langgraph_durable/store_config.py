"""The ``store`` of a ``langgraph.json``, in LangGraph's own words; nothing is imported or made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph.store.base import TTLConfig
    from langgraph.store.postgres.base import PostgresIndexConfig

SWEEP_MINUTES = 5.0
LONGEST_MINUTES = 2**31 - 1
MOST_DIMENSIONS = 16_000  # of pgvector
MOST_INDEXED_DIMENSIONS = 2_000
"""Longer vectors are compared one by one: pgvector has no index for them."""


def _exact() -> TTLConfig:
    return {"omit_expired": True}


@dataclass(frozen=True, kw_only=True)
class StoreConfig:
    """How items are indexed and when they expire. Times are in minutes.

    ``index["embed"]`` is a name until the project is loaded, then what makes vectors of texts.
    """

    index: PostgresIndexConfig | None = None
    ttl: TTLConfig = field(default_factory=_exact)
    sweep_minutes: float = SWEEP_MINUTES


def read_store(raw: Any, problems: list[str]) -> StoreConfig:
    """What ``store`` says; what is wrong with it goes to ``problems``."""
    given = _object(raw, "store", problems)
    ttl = _object(given.get("ttl"), "store.ttl", problems)
    minutes = {
        key: _minutes(ttl.get(key), f"store.ttl.{key}", problems)
        for key in ("default_ttl", "sweep_interval_minutes")
    }
    refresh = ttl.get("refresh_on_read", True)
    if not isinstance(refresh, bool):
        problems.append("store.ttl.refresh_on_read: must be true or false")
    return StoreConfig(
        index=_index(given.get("index"), problems),
        ttl={
            "omit_expired": True,
            "refresh_on_read": bool(refresh),
            "default_ttl": minutes["default_ttl"],
        },
        sweep_minutes=minutes["sweep_interval_minutes"] or SWEEP_MINUTES,
    )


def unknown_keys(raw: Any) -> list[str]:
    """Keys under ``store`` that do nothing here."""
    known: Mapping[str, set[str]] = {
        "index": {"dims", "embed", "fields"},
        "ttl": {"refresh_on_read", "default_ttl", "sweep_interval_minutes"},
    }
    if not isinstance(raw, dict):
        return []
    unknown = [key for key in raw if key not in known]
    for key, inner in known.items():
        if isinstance(raw.get(key), dict):
            unknown += [f"{key}.{name}" for name in raw[key] if name not in inner]
    return sorted(unknown)


def _index(raw: Any, problems: list[str]) -> PostgresIndexConfig | None:
    if raw is None:
        return None
    before = len(problems)
    given = _object(raw, "store.index", problems)
    dims: Any = given.get("dims")
    embed: Any = given.get("embed")
    fields: Any = given.get("fields", ["$"])
    if isinstance(dims, bool) or not isinstance(dims, int) or not 0 < dims <= MOST_DIMENSIONS:
        problems.append(f"store.index.dims: must be a number from 1 to {MOST_DIMENSIONS}")
    if not isinstance(embed, str) or not all(embed.partition(":")):
        problems.append('store.index.embed: must be "provider:model" or "./file.py:function"')
    if not isinstance(fields, list) or not all(isinstance(f, str) and f for f in fields):
        problems.append("store.index.fields: must be a list of paths")
    if len(problems) > before:
        return None
    paths = list(dict.fromkeys(fields)) or ["$"]
    index: PostgresIndexConfig = {"dims": dims, "embed": embed, "fields": paths}
    if dims > MOST_INDEXED_DIMENSIONS:
        index["ann_index_config"] = {"kind": "flat"}
    return index


def _object(raw: Any, name: str, problems: list[str]) -> dict[str, Any]:
    if raw is not None and not isinstance(raw, dict):
        problems.append(f"{name}: must be an object")
    return raw if isinstance(raw, dict) else {}


def _minutes(raw: Any, name: str, problems: list[str]) -> float | None:
    if raw is None:
        return None
    number = not isinstance(raw, bool) and isinstance(raw, (int, float)) and math.isfinite(raw)
    if number and 0 < raw <= LONGEST_MINUTES:
        return float(raw)
    problems.append(f"{name}: must be a number of minutes above 0")
    return None
