"""``/conversations``: threads, as OpenAI's clients know them, and their items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import InvalidRequest, ThreadNotFound
from langgraph_durable.model import Thread
from langgraph_durable.serde import decode, encode

from . import inbound, record
from .http import Paths, json, json_body
from .paging import page
from .refusal import Refusal
from .request import check_metadata

_ITEMS_AT_ONCE = 20
_METADATA = "conversation"
"""Where a thread's metadata keeps those of its conversation."""


class Conversations:
    """A conversation is a thread; its items are the thread's messages and what was put there."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    def paths(self) -> Paths:
        one = "/conversations/{conversation_id}"
        return {
            "/conversations": {"POST": self.create},
            one: {"GET": self.retrieve, "POST": self.update, "DELETE": self.delete},
            f"{one}/items": {"GET": self.list_items, "POST": self.add_items},
            f"{one}/items/{{item_id}}": {"GET": self.get_item, "DELETE": self.delete_item},
        }

    async def create(self, http: Request) -> Response:
        body = await _body(http)
        metadata = _metadata(body) or {}
        items = _items(body, needed=False)
        thread = await self._engine.create_thread(
            f"conv_{uuid4().hex}", metadata={_METADATA: metadata}
        )
        await self._put(thread.thread_id, items)
        return json(_conversation(thread))

    async def retrieve(self, http: Request) -> Response:
        return json(_conversation(await self._thread(http)))

    async def update(self, http: Request) -> Response:
        metadata = _metadata(await _body(http))
        if metadata is None:
            raise Refusal("'metadata' is required.", param="metadata")
        thread = await self._thread(http)
        thread = await self._engine.update_thread(thread.thread_id, {_METADATA: metadata})
        return json(_conversation(thread))

    async def delete(self, http: Request) -> Response:
        thread = await self._thread(http)
        await self._engine.delete_thread(thread.thread_id)
        name = http.path_params["conversation_id"]
        return json({"id": name, "object": "conversation.deleted", "deleted": True})

    async def list_items(self, http: Request) -> Response:
        return json(page(await self._items(await self._thread(http)), http.query_params))

    async def add_items(self, http: Request) -> Response:
        items = _items(await _body(http), needed=True)
        put = await self._put((await self._thread(http)).thread_id, items)
        return json(page(put, {"order": "asc"}))

    async def get_item(self, http: Request) -> Response:
        return json(await self._item(http, await self._thread(http)))

    async def delete_item(self, http: Request) -> Response:
        thread = await self._thread(http)
        item = await self._item(http, thread)
        if item["type"] != "message":
            raise Refusal("Only messages can be taken out of a conversation.", param="item_id")
        if item["id"] in record.callers(await self._messages(thread)):
            raise Refusal("A message that calls tools has to stay.", param="item_id")
        await self._engine.put_items(thread.thread_id, {item["id"]: None})
        return json(_conversation(thread))

    async def _thread(self, http: Request) -> Thread:
        name = http.path_params["conversation_id"]
        try:
            return await self._engine.thread(name)
        except (ThreadNotFound, InvalidRequest):  # no thread has a name that cannot be stored
            raise Refusal(
                f"Conversation with id '{name}' not found.",
                status=404,
                code="conversation_not_found",
            ) from None

    async def _messages(self, thread: Thread) -> list[Any]:
        state = await self._engine.state(thread.thread_id)
        values = state.values if state is not None and isinstance(state.values, dict) else {}
        messages = decode(encode(values.get("messages")))
        return messages if isinstance(messages, list) else []

    async def _items(self, thread: Thread) -> list[dict[str, Any]]:
        by_hand = await self._engine.items_by_hand(thread.thread_id)
        return record.items(await self._messages(thread), by_hand)

    async def _item(self, http: Request, thread: Thread) -> dict[str, Any]:
        name = http.path_params["item_id"]
        for item in await self._items(thread):
            if item["id"] == name:
                return item
        raise Refusal(f"Item with id '{name}' not found.", status=404, code="item_not_found")

    async def _put(self, thread_id: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        named = inbound.named(items, str(uuid4()))
        if named:
            put = {item["id"]: encode(item) for item in named}
            await self._engine.put_items(thread_id, put)
        return named


async def _body(http: Request) -> Mapping[str, Any]:
    body = await json_body(http)
    if body is not None and not isinstance(body, dict):
        raise Refusal("The body must be a JSON object.")
    return body or {}


def _metadata(body: Mapping[str, Any]) -> dict[str, str] | None:
    given = body.get("metadata")
    if given is not None and not isinstance(given, dict):
        raise Refusal("'metadata' must be an object.", param="metadata", code="invalid_type")
    check_metadata(given or {})
    return given


def _items(body: Mapping[str, Any], *, needed: bool) -> list[dict[str, Any]]:
    given = body.get("items")
    if given is None and not needed:
        return []
    if not isinstance(given, list) or not (0 if not needed else 1) <= len(given) <= _ITEMS_AT_ONCE:
        raise Refusal(f"'items' must be a list of up to {_ITEMS_AT_ONCE} items.", param="items")
    items = inbound.items_of(given, param="items")
    inbound.messages_of(items)  # refused now, or every later turn would be
    return items


def _conversation(thread: Thread) -> dict[str, Any]:
    metadata = thread.metadata.get(_METADATA)
    return {
        "id": thread.thread_id,
        "object": "conversation",
        "created_at": int(thread.created_at.timestamp()),
        "metadata": metadata if isinstance(metadata, dict) else {},
    }
