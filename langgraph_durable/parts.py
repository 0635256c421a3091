"""LangGraph's stream as (namespace, mode, payload), whichever of its interfaces gives it."""

from __future__ import annotations

import traceback
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from itertools import pairwise
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from langgraph_durable.errors import StepTimedOut
from langgraph_durable.graphs import is_function
from langgraph_durable.snapshot import Graph

Parts = AsyncGenerator[tuple[tuple[str, ...], str, Any], None]


async def stream_parts(
    graph: Graph, given: Any, config: RunnableConfig, *, modes: Sequence[str], **options: Any
) -> Parts:
    """Run the graph with subgraphs included. ``events`` among the modes adds raw run events."""
    options = {k: v for k, v in options.items() if v is not None}
    read = _with_events if "events" in modes else _plain
    with _naming_slow_steps(graph):
        async with aclosing(read(graph, given, config, modes, options)) as parts:
            async for part in parts:
                yield part


@contextmanager
def _naming_slow_steps(graph: Graph) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        if graph.step_timeout is None or not _is_of_a_step(error):
            raise
        raise StepTimedOut(f"A step took longer than {graph.step_timeout:g} seconds.") from error


def _is_of_a_step(error: TimeoutError) -> bool:
    """Did LangGraph itself wait too long? A node's own time-out is an exception like that one."""
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    return error.args == ("Timed out",) or ("atick", "wait_for") in pairwise(names)


async def _plain(
    graph: Graph,
    given: Any,
    config: RunnableConfig,
    modes: Sequence[str],
    options: dict[str, Any],
) -> Parts:
    function = is_function(graph)
    stream: Any = graph.astream(
        given, config, stream_mode=cast(Any, list(modes)), subgraphs=True, **options
    )
    try:
        async for namespace, mode, payload in stream:
            yield _origin(namespace, mode, function), mode, payload
    finally:
        await stream.aclose()


async def _with_events(
    graph: Graph,
    given: Any,
    config: RunnableConfig,
    modes: Sequence[str],
    options: dict[str, Any],
) -> Parts:
    wanted = [m for m in modes if m != "events"]
    function = is_function(graph)
    root: str | None = None
    stream: Any = graph.astream_events(
        given, config, version="v2", stream_mode=wanted, subgraphs=True, **options
    )
    try:
        async for event in stream:
            root = root or event["run_id"]
            own = event["run_id"] == root
            chunk = event["data"].get("chunk")
            if own and event["event"] == "on_chain_stream" and isinstance(chunk, tuple):
                namespace, mode, payload = chunk
                yield _origin(namespace, mode, function), mode, payload
            else:
                yield (), "events", event
    finally:
        await stream.aclose()


def _origin(namespace: tuple[str, ...], mode: str, function: bool) -> tuple[str, ...]:
    """What a task of a function writes is the function's own: no subgraph's, as its namespace says.

    LangGraph shows it to whoever asks for no subgraphs.
    """
    return () if function and mode == "custom" and len(namespace) == 1 else namespace
