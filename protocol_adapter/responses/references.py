"""Items that a client names instead of sending them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph_durable.engine import DurableEngine
from langgraph_durable.serde import decode

from .inbound import REFERENCE, Item
from .refusal import Refusal


async def resolved(engine: DurableEngine, items: Sequence[Item]) -> list[Item]:
    """``items`` with every item that a response has shown in place of its reference.

    One that a recovery has taken back is left out; a reference to anything else stays as it is.
    """
    names = [item["id"] for item in items if item["type"] == REFERENCE]
    found = await engine.responses_showing(names) if names else {}
    shown = {name: _item(name, decode(text)) for name, text in found.items()}
    filled = (shown.get(item["id"], item) if item["type"] == REFERENCE else item for item in items)
    return [item for item in filled if item is not None]


def _item(name: str, response: Any) -> Item | None:
    return next((item for item in response["output"] if item["id"] == name), None)


def check_whole(items: Sequence[Item]) -> None:
    """Raises Refusal (404) for a reference that is left: a history must not lose a part unsaid."""
    for index, item in enumerate(items):
        if item["type"] == REFERENCE:
            raise Refusal(
                f"Item with id '{item['id']}' not found.",
                status=404,
                param=f"input[{index}].id",
                code="item_not_found",
            )
