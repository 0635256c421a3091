"""Lists as OpenAI pages them: ``{object: "list", data, first_id, last_id, has_more}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .refusal import Refusal

Item = Mapping[str, Any]


def page(items: Sequence[Item], query: Mapping[str, str]) -> dict[str, Any]:
    """One page of ``items``, which come oldest first; ``limit``, ``order`` and ``after`` of the
    query choose it. Raises Refusal."""
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise Refusal("'order' must be asc or desc.", param="order")
    listed = list(items) if order == "asc" else list(reversed(items))
    if after := query.get("after"):
        places = [place for place, item in enumerate(listed) if item["id"] == after]
        if not places:
            raise Refusal(f"There is no item '{after}' here.", param="after")
        listed = listed[places[0] + 1 :]
    data = listed[: _limit(query)]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": len(data) < len(listed),
    }


def _limit(query: Mapping[str, str]) -> int:
    text = query.get("limit", "20")
    if not (text.isascii() and text.isdecimal() and len(text) < 4 and 1 <= int(text) <= 100):
        raise Refusal("'limit' must be an integer from 1 to 100.", param="limit")
    return int(text)
