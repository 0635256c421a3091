"""Threads, their state and their history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import CheckpointNotFound, InvalidRequest, UnknownGraph
from langgraph_durable.model import ThreadStatus
from protocol_adapter.langgraph.fields import (
    Unprocessable,
    choice,
    flag,
    mapping,
    number,
    one_of,
    page,
    text,
    texts,
    thread_name,
)
from protocol_adapter.langgraph.http import (
    answer,
    answer_page,
    json_body,
    many,
    query,
    segment,
    switch,
)
from protocol_adapter.langgraph.objects import (
    empty_state,
    state_object,
    thread_object,
    ttl_object,
    updated_state,
)
from protocol_adapter.langgraph.request import checkpoint_of, supersteps, time_to_live
from protocol_adapter.langgraph.selection import (
    THREAD_COLUMNS,
    check_columns,
    check_state_keys,
    extract,
    select,
    select_state,
)

SORTS = ("thread_id", "status", "created_at", "updated_at", "state_updated_at")
STATUSES = tuple(ThreadStatus)
INCLUDED = ("ttl",)
"""What a thread shows when it is asked to."""


class Threads:
    """The routes under ``/threads``, runs aside."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine

    def routes(self) -> list[BaseRoute]:
        one = "/threads/{thread_id}"
        return [
            Route("/threads", self.create, methods=["POST"]),
            Route("/threads/search", self.search, methods=["POST"]),
            Route("/threads/count", self.count, methods=["POST"]),
            Route("/threads/prune", self.prune, methods=["POST"]),
            Route(f"{one}/copy", self.copy, methods=["POST"]),
            Route(one, self.get, methods=["GET"]),
            Route(one, self.update, methods=["PATCH"]),
            Route(one, self.delete, methods=["DELETE"]),
            Route(f"{one}/state", self.get_state, methods=["GET"]),
            Route(f"{one}/state", self.update_state, methods=["POST"]),
            Route(f"{one}/state/checkpoint", self.get_state_at, methods=["POST"]),
            Route(f"{one}/state/{{checkpoint_id}}", self.get_state, methods=["GET"]),
            Route(f"{one}/history", self.history, methods=["POST"]),
            Route(f"{one}/history", self.history_by_query, methods=["GET"]),
        ]

    async def create(self, request: Request) -> Response:
        body = await json_body(request)
        thread_id, metadata = _new_id(body), mapping(body, "metadata")
        if_exists = choice(body, "if_exists", ("raise", "do_nothing"), "raise")
        ttl = time_to_live(body)
        if steps := supersteps(body):
            thread = await self._engine.create_thread_with(
                thread_id, steps, metadata=metadata, if_exists=if_exists, ttl=ttl
            )
        else:
            thread = await self._engine.create_thread(
                thread_id, metadata=metadata, if_exists=if_exists, ttl=ttl
            )
        return answer(thread_object(thread))

    async def copy(self, request: Request) -> Response:
        return answer(thread_object(await self._engine.copy_thread(_id(request))))

    async def prune(self, request: Request) -> Response:
        body = await json_body(request)
        thread_ids = texts(body, "thread_ids")
        if thread_ids is None:
            raise Unprocessable("'thread_ids' is required: a list of thread ids")
        strategy = choice(body, "strategy", ("delete", "keep_latest"), "delete")
        pruned = await self._engine.prune_threads(thread_ids, strategy=strategy)
        return answer({"pruned_count": pruned})

    async def get(self, request: Request) -> Response:
        more = [one_of("include", each, INCLUDED) for each in many(request, "include")]
        thread = await self._engine.thread(_id(request))
        about = ttl_object(thread) if "ttl" in more else {}
        return answer(thread_object(thread) | about)

    async def update(self, request: Request) -> Response:
        body = await json_body(request)
        thread = await self._engine.update_thread(
            _id(request), mapping(body, "metadata"), ttl=time_to_live(body)
        )
        if "return=minimal" in request.headers.get("prefer", "").lower():
            return Response(status_code=204)
        return answer(thread_object(thread))

    async def delete(self, request: Request) -> Response:
        await self._engine.delete_thread(_id(request))
        return Response(status_code=204)

    async def search(self, request: Request) -> Response:
        body = await json_body(request)
        limit, offset = page(body)
        columns, paths = texts(body, "select"), _paths(body)
        check_columns(columns, THREAD_COLUMNS)
        threads, total = await self._engine.search_threads(
            **_filters(body),
            ids=texts(body, "ids"),
            limit=limit,
            offset=offset,
            sort_by=choice(body, "sort_by", SORTS, "updated_at"),
            sort_order=choice(body, "sort_order", ("asc", "desc"), "desc"),
        )
        rows = [_row(thread_object(thread), columns, paths) for thread in threads]
        return answer_page(rows, total, offset)

    async def count(self, request: Request) -> Response:
        body = await json_body(request)
        _, total = await self._engine.search_threads(**_filters(body), limit=1)
        return answer(total)

    async def get_state(self, request: Request) -> Response:
        asked = None
        if "checkpoint_id" in request.path_params:
            asked = {"checkpoint_id": segment(request, "checkpoint_id")}
        subgraphs = switch(request, "subgraphs") or False
        return await self._state(_id(request), asked, subgraphs, many(request, "select"))

    async def get_state_at(self, request: Request) -> Response:
        body = await json_body(request)
        asked = checkpoint_of(body.get("checkpoint")) or {}
        subgraphs = flag(body, "subgraphs") or False
        return await self._state(_id(request), asked, subgraphs, texts(body, "select"))

    async def update_state(self, request: Request) -> Response:
        body = await json_body(request)
        checkpoint = checkpoint_of(body.get("checkpoint"))
        checkpoint_id = text(body, "checkpoint_id")
        if checkpoint_id:
            checkpoint = {"checkpoint_id": checkpoint_id} | (checkpoint or {})
        try:
            made = await self._engine.update_state(
                _id(request),
                body.get("values"),
                as_node=text(body, "as_node"),
                checkpoint=checkpoint,
            )
        except UnknownGraph as error:
            raise InvalidRequest(error.message) from error
        return answer(updated_state(made, _id(request)))

    async def history(self, request: Request) -> Response:
        body = await json_body(request)
        return await self._history(_id(request), body, texts(body, "select"))

    async def history_by_query(self, request: Request) -> Response:
        return await self._history(_id(request), query(request), many(request, "select"))

    async def _history(
        self, thread_id: str, body: Mapping[str, Any], keys: list[str] | None
    ) -> Response:
        check_state_keys(keys)
        states = await self._engine.history(
            thread_id,
            limit=number(body, "limit", 10, low=1, high=1000),
            before=_before(body.get("before")),
            metadata=mapping(body, "metadata") or None,
            checkpoint=checkpoint_of(body.get("checkpoint")),
        )
        return answer([select_state(state_object(each, thread_id), keys) for each in states])

    async def _state(
        self,
        thread_id: str,
        asked: Mapping[str, Any] | None,
        subgraphs: bool,
        keys: list[str] | None,
    ) -> Response:
        check_state_keys(keys)
        try:
            state = await self._engine.state(
                thread_id, checkpoint=asked or None, subgraphs=subgraphs
            )
        except CheckpointNotFound:
            state = None
        if state is None or state.created_at is None:
            return answer(select_state(empty_state(thread_id, asked), keys))
        return answer(select_state(state_object(state, thread_id), keys))


def _id(request: Request) -> str:
    return segment(request, "thread_id")


def _new_id(body: Mapping[str, Any]) -> str | None:
    thread_id = text(body, "thread_id")
    return None if thread_id is None else thread_name(thread_id)


def _filters(body: Mapping[str, Any]) -> dict[str, Any]:
    status = text(body, "status")
    return {
        "metadata": mapping(body, "metadata") or None,
        "values": mapping(body, "values") or None,
        "status": None if status is None else one_of("status", status, STATUSES),
    }


def _paths(body: Mapping[str, Any]) -> dict[str, str]:
    paths = mapping(body, "extract")
    if len(paths) > 10 or not all(isinstance(path, str) for path in paths.values()):
        raise Unprocessable("'extract' takes at most 10 paths, each a string")
    return paths


def _row(
    thread: dict[str, Any], columns: list[str] | None, paths: dict[str, str]
) -> dict[str, Any]:
    extracted = {"extracted": extract(thread, paths)} if paths else {}
    return select(thread, columns) | extracted


def _before(value: Any) -> str | dict[str, Any] | None:
    """A checkpoint id, a checkpoint, or a config that holds one."""
    return value if isinstance(value, str) else checkpoint_of(value, "before")
