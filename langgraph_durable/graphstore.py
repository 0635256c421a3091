"""The store that graphs and clients share: LangGraph's own, in Postgres."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from langgraph.store.base import BaseStore
from langgraph.store.postgres import AsyncPostgresStore

SEARCHING: Mapping[str, str] = {
    # A plan that knows no namespace walks all vectors in the order of the index, or all items.
    "plan_cache_mode": "auto",
    # Else the nearest 40 of all namespaces are found, and those of the one asked for are few.
    "hnsw.iterative_scan": "strict_order",
}
"""Session parameters of the store's connections."""

_ORDER = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}


class GraphStore(AsyncPostgresStore):
    """Each call is a statement of its own, and filters compare numbers as numbers.

    LangGraph sends the calls of one moment as one batch, in which an item that cannot be stored
    fails the calls of all other runs.
    """

    aget = BaseStore.aget
    asearch = BaseStore.asearch
    aput = BaseStore.aput
    adelete = BaseStore.adelete
    alist_namespaces = BaseStore.alist_namespaces

    def _get_filter_condition(self, key: str, op: str, value: Any) -> tuple[str, list[Any]]:
        """SQL and parameters for one condition; an ``op`` without a $ is a key inside ``key``."""
        if not op.startswith("$"):
            return "value->%s->%s = %s::jsonb", [key, op, orjson.dumps(value).decode()]
        if op in _ORDER and isinstance(value, (int, float)):
            number = "jsonb_typeof(value->%s) = 'number'"
            compared = f"value->%s {_ORDER[op]} %s::jsonb"
            return f"({number} AND {compared})", [key, key, orjson.dumps(value).decode()]
        return super()._get_filter_condition(key, op, value)
