"""What a checkpoint would run next and its graph does not have any more: a deploy took it away.

LangGraph passes over all of this in silence, and the run would end as if nothing were missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.types import Send, StateSnapshot

Graph = Pregel[Any, Any, Any, Any]

_TRIGGER, _SENDS, _JOIN = "branch:to:", "__pregel_tasks", "join:"
"""Where LangGraph's checkpoints hold what comes next: a channel per node, one of Sends, and one
per edge from several nodes, which holds those of them that have run."""


def gone(graph: Graph, values: Mapping[str, Any]) -> list[str]:
    """Names of nodes that come next by a checkpoint's channel values and are not there."""
    names = come_next(values)
    missing = (name for name in names if name not in graph.nodes)
    return list(dict.fromkeys([*missing, *_joins(graph, values, names)]))


def come_next(values: Mapping[str, Any]) -> list[str]:
    """Names of the nodes that a checkpoint's channel values make run, edges from several aside."""
    names = [name.removeprefix(_TRIGGER) for name in values if name.startswith(_TRIGGER)]
    return names + [send.node for send in values.get(_SENDS) or () if isinstance(send, Send)]


def _joins(graph: Graph, values: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    """Edges from several nodes whose last one has run, or comes next."""
    for name, seen in values.items():
        if not name.startswith(_JOIN) or name in graph.channels or not isinstance(seen, set):
            continue
        sources, _, target = name.removeprefix(_JOIN).rpartition(":")
        if seen and {*sources.split("+")} <= {*seen, *names}:
            yield f"{target} (behind {', '.join(sources.split('+'))})"


async def gone_in_subgraphs(
    graph: Graph, saver: BaseCheckpointSaver[Any], state: StateSnapshot
) -> Sequence[str]:
    """The same for the subgraphs that unfinished tasks of a state stand in, as ``node/node``.

    A graph that a node calls by itself cannot be looked into.
    """
    missing: list[str] = []
    for task in state.tasks:
        nested = task.state
        if task.result is not None or not isinstance(nested, StateSnapshot):
            continue
        for _, subgraph in graph.get_subgraphs(namespace=task.name):
            if not isinstance(subgraph, Pregel):  # a remote one looks after itself
                continue
            found = await saver.aget_tuple(nested.config)
            values = found.checkpoint["channel_values"] if found else {}
            inside = [*gone(subgraph, values), *await gone_in_subgraphs(subgraph, saver, nested)]
            missing += [f"{task.name}/{name}" for name in inside]
    return missing
