"""The store's items, as the nodes of every graph see them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import psycopg
from langgraph.store.base import NOT_PROVIDED, InvalidNamespaceError, Item, SearchItem
from psycopg.errors import ProgramLimitExceeded

from langgraph_durable.engine.started import Started
from langgraph_durable.errors import InvalidRequest
from langgraph_durable.graphstore import GraphStore
from langgraph_durable.loops import GraphLoop
from langgraph_durable.postgres import reaching

T = TypeVar("T")


class Store(Started):
    """The engine's store. Namespaces are sequences of labels; times are in minutes.

    Every method raises InvalidRequest for what cannot be stored or searched.
    """

    async def put_item(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        index: Literal[False] | list[str] | None = None,
        ttl: float | None = None,
    ) -> None:
        """Store or replace an item. ``ttl`` and ``index`` None are the configured ones."""
        lives = NOT_PROVIDED if ttl is None else ttl
        place = tuple(namespace)
        await self._ask(lambda store: store.aput(place, key, dict(value), index, ttl=lives))

    async def get_item(
        self, namespace: Sequence[str], key: str, *, refresh_ttl: bool | None = None
    ) -> Item | None:
        """The item, or None when there is none or its time is over."""
        place = tuple(namespace)
        return await self._ask(lambda store: store.aget(place, key, refresh_ttl=refresh_ttl))

    async def delete_item(self, namespace: Sequence[str], key: str) -> None:
        """Delete it; nothing when there is none."""
        await self._ask(lambda store: store.adelete(tuple(namespace), key))

    async def search_items(
        self,
        prefix: Sequence[str],
        *,
        query: str | None = None,
        filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Items under a prefix: by likeness to ``query`` with an index, else newest first."""
        return await self._ask(
            lambda store: store.asearch(
                tuple(prefix),
                query=query,
                filter=dict(filter or {}),
                limit=limit,
                offset=offset,
                refresh_ttl=refresh_ttl,
            )
        )

    async def list_namespaces(
        self,
        *,
        prefix: Sequence[str] | None = None,
        suffix: Sequence[str] | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """Namespaces in order, cut to ``max_depth``; ``*`` in a prefix or suffix is any label."""
        return await self._ask(
            lambda store: store.alist_namespaces(
                prefix=tuple(prefix or ()),
                suffix=tuple(suffix or ()),
                max_depth=max_depth,
                limit=limit,
                offset=offset,
            )
        )

    async def _ask(self, question: Callable[[GraphStore], Coroutine[Any, Any, T]]) -> T:
        async def ask(place: GraphLoop) -> T:
            with reaching(), _refusing():
                return await question(place.store)

        return await self._machinery.loops.call(ask)


@contextmanager
def _refusing() -> Iterator[None]:
    """What Postgres cannot hold is the request's fault, not the database's."""
    try:
        yield
    except InvalidNamespaceError as error:
        raise InvalidRequest(str(error)) from error
    except ProgramLimitExceeded as error:
        raise InvalidRequest("Namespace and key are too long together.") from error
    except psycopg.DataError as error:
        reason = error.diag.message_primary or str(error)
        raise InvalidRequest(f"This cannot be stored or searched: {reason}.") from error
