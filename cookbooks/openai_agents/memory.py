"""A session of the OpenAI Agents SDK that lives in the state of its LangGraph thread."""

from __future__ import annotations

from collections.abc import Sequence

from agents.items import TResponseInputItem
from agents.memory import SessionABC


class Memory(SessionABC):
    """``items`` are the conversation so far; whoever makes it saves them at the end of the turn."""

    session_id = "thread"

    def __init__(self, items: Sequence[TResponseInputItem]) -> None:
        self.items = list(items)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        return self.items[-limit:] if limit else list(self.items)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        self.items += items

    async def pop_item(self) -> TResponseInputItem | None:
        return self.items.pop() if self.items else None

    async def clear_session(self) -> None:
        self.items.clear()
