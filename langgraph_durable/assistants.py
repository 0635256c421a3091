"""Assistants: what names them, what a change makes of them, what they lend to a run. No I/O.

Every served graph has an assistant of its own, with the id that the official server gives it.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from langgraph_durable.errors import GraphNotFound, InvalidRequest, UnknownGraph
from langgraph_durable.model import Assistant, RunRequest
from langgraph_durable.project import GraphSource

NAMESPACE = uuid.UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
"""Under which the official server makes a graph's assistant id from its name."""

UNNAMED = "Untitled"
"""What an assistant is called that nobody gave a name, as at the official server."""


def system_id(graph_id: str) -> str:
    """The id of a graph's own assistant, the same on every server and restart."""
    return str(uuid.uuid5(NAMESPACE, graph_id))


def system_assistants(sources: Iterable[GraphSource]) -> list[Assistant]:
    """The graphs' own assistants as they are before anybody changes them."""
    return [
        made(
            system_id(source.name),
            graph_id=source.name,
            name=source.name,
            description=source.description,
            metadata={"created_by": "system"},
        )
        for source in sources
    ]


def made(
    assistant_id: str,
    *,
    graph_id: str,
    name: str | None = None,
    description: str | None = None,
    config: Mapping[str, Any] | None = None,
    context: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Assistant:
    """A new assistant. Raises InvalidRequest when its context contradicts its config."""
    now = datetime.now(UTC)
    blank = Assistant(
        assistant_id=assistant_id,
        graph_id=graph_id,
        name=name or UNNAMED,
        description=description,
        config={},
        context={},
        metadata=dict(metadata or {}),
        version=1,
        created_at=now,
        updated_at=now,
    )
    return _told(blank, config, context)


def changed(
    held: Assistant,
    *,
    graph_id: str | None = None,
    name: str | None = None,
    description: str | None = None,
    config: Mapping[str, Any] | None = None,
    context: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Assistant:
    """``held`` with what is given: metadata are merged, anything else is replaced.

    Raises InvalidRequest when the context contradicts the config.
    """
    found = replace(
        held,
        graph_id=graph_id or held.graph_id,
        name=name or held.name,
        description=held.description if description is None else description,
        metadata={**held.metadata, **(metadata or {})},
    )
    return _told(found, config, context)


def _told(
    held: Assistant, config: Mapping[str, Any] | None, context: Mapping[str, Any] | None
) -> Assistant:
    """``config.configurable`` is the older spelling of ``context``: it is mirrored there.

    A mirrored context goes with what it mirrored; a context of its own replaces the older
    spelling.
    """
    configurable = dict((config or {}).get("configurable") or {})
    if configurable and context:
        raise InvalidRequest("Give either context or config.configurable, not both.")
    if configurable:
        return replace(held, config=dict(config or {}), context=configurable)
    if config is None and context is None:
        return held
    if context is None and held.context == held.config.get("configurable"):
        context = {}
    kept = {k: v for k, v in held.config.items() if k != "configurable"}
    return replace(
        held,
        config=kept if config is None else dict(config),
        context=held.context if context is None else dict(context),
    )


class Remembered:
    """Assistants as this process saw them last: whoever uses one checks that it is still so."""

    MOST = 1_000

    def __init__(self) -> None:
        self._seen: dict[str, Assistant] = {}

    def get(self, assistant_id: str) -> Assistant | None:
        return self._seen.get(assistant_id)

    def add(self, assistant: Assistant) -> None:
        if len(self._seen) >= self.MOST:
            self._seen.pop(next(iter(self._seen)))
        self._seen[assistant.assistant_id] = assistant


def known_id(id_or_graph: str, graph_ids: Collection[str]) -> str:
    """The id that a client means: an assistant's, or that of a graph's own assistant.

    Raises:
        UnknownGraph: it is neither an id nor the name of a served graph.
    """
    if id_or_graph in graph_ids:
        return system_id(id_or_graph)
    if is_id(id_or_graph):
        return id_or_graph.lower()
    raise UnknownGraph(
        f"Invalid assistant: '{id_or_graph}'. Must be an assistant id or one of the graphs: "
        + ", ".join(sorted(graph_ids))
    )


def is_id(text: str) -> bool:
    """Is it a UUID in its usual spelling?"""
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def check_served(graph_id: str, graph_ids: Collection[str]) -> None:
    """Raises GraphNotFound."""
    if graph_id not in graph_ids:
        names = ", ".join(sorted(graph_ids))
        raise GraphNotFound(f"Graph '{graph_id}' not found. Expected one of: {names}")


def with_defaults(request: RunRequest, assistant: Assistant) -> RunRequest:
    """The request with all that it leaves to its assistant: this is what runs.

    A key that the assistant has both in its context and in ``config.configurable`` takes the
    value that the request gives it in either. Metadata are merged: the assistant's, the config's
    and the request's own, which count most.
    """
    own, asked = assistant.config, request.config
    configurable = dict(asked.get("configurable") or {})
    given = {**configurable, **(request.context if _is_object(request.context) else {})}
    context = _followed(assistant.context, given)
    config = {
        **own,
        **asked,
        "configurable": {**_followed(own.get("configurable") or {}, given), **configurable},
        "metadata": {**(own.get("metadata") or {}), **(asked.get("metadata") or {})},
        "tags": list(dict.fromkeys([*(own.get("tags") or ()), *(asked.get("tags") or ())])),
    }
    return replace(
        request,
        config={k: v for k, v in config.items() if k in asked or v not in ({}, [])},
        context=_context(context, request.context),
        metadata={
            **assistant.metadata,
            **config["metadata"],
            **request.metadata,
        },
    )


def _followed(own: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: given.get(key, value) for key, value in own.items()}


def _context(own: dict[str, Any], asked: Any) -> Any:
    """An object is laid over the assistant's context, anything else stands for itself."""
    if asked is None:
        return own or None
    return {**own, **asked} if _is_object(asked) else asked


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)
