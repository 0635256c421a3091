"""Where a graph comes from, and how one use of it is opened.

A user names a compiled graph, a ``StateGraph`` or a factory; the engine always gets a compiled
graph, for one use at a time.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
)
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from langgraph_durable.errors import DurableError, InvalidRequest, ProjectError
from langgraph_durable.model import RecoveryStrategy
from langgraph_durable.policy import RunPolicy
from langgraph_durable.settings import Settings

_log = logging.getLogger(__name__)

CompiledGraph = Pregel[Any, Any, Any, Any]
Factory = Callable[..., Any]

_PREVIOUS: Final = "__previous__"

RUN: Final = "threads.create_run"
"""The access context of a factory called to execute a run, in ``langgraph_sdk``'s words."""


@dataclass(frozen=True, kw_only=True)
class GraphSource:
    """One served graph by name. ``recovery`` and ``policy`` are what the project says about it, if
    anything.
    """

    name: str
    description: str | None = None
    recovery: RecoveryStrategy | None = None
    policy: RunPolicy | None = None
    made: CompiledGraph | Factory = field(repr=False)
    _told: set[str] = field(default_factory=set, repr=False, compare=False)

    @property
    def compiled(self) -> CompiledGraph | None:
        """The graph itself; None when a factory makes it anew for each use."""
        return self.made if isinstance(self.made, Pregel) else None

    def strategy(self, settings: Settings) -> RecoveryStrategy:
        """The most specific of: settings for this graph, the project, settings for all."""
        return settings.recovery_by_graph.get(self.name) or self.recovery or settings.recovery

    def policy_under(self, settings: Settings) -> RunPolicy:
        """What its runs may take: settings for this graph, the project, settings for all."""
        usual = RunPolicy(
            max_attempts=settings.max_attempts, run_deadline_seconds=settings.run_deadline_seconds
        )
        own = settings.policies.get(self.name, RunPolicy()).over(self.policy)
        return own.over(usual)

    @asynccontextmanager
    async def open(
        self, config: RunnableConfig, *, access: str = RUN, context: Any = None, store: Any = None
    ) -> AsyncIterator[CompiledGraph]:
        """A compiled graph for one use on the current event loop.

        ``access``, ``context`` and ``store`` reach a factory that takes a ``ServerRuntime``.
        Raises what a factory raises, and ProjectError when it gives no graph.
        """
        if isinstance(self.made, Pregel):
            yield self._checked(self.made)
            return
        arguments = _arguments(
            self.made, config, lambda: _runtime(access, context=context, store=store)
        )
        made = self.made(**arguments)
        if inspect.isawaitable(made):
            made = await made
        async with _entered(made) as graph:
            yield self._checked(graph)

    @asynccontextmanager
    async def read(self, config: RunnableConfig, *, access: str) -> AsyncIterator[CompiledGraph]:
        """A compiled graph to look at, not to run.

        Raises InvalidRequest when its factory cannot make one from ``config``.
        """
        async with AsyncExitStack() as stack:
            try:
                graph = await stack.enter_async_context(self.open(config, access=access))
            except DurableError:
                raise
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                raise InvalidRequest(f"Graph {self.name!r} cannot be made here: {why}") from error
            yield graph

    def _checked(self, made: Any) -> CompiledGraph:
        graph = made.compile() if isinstance(made, StateGraph) else made
        if not isinstance(graph, Pregel):
            raise ProjectError(f"graphs.{self.name}: the factory gave {_kind(graph)}, not a graph")
        for own in ("checkpointer", "store"):
            if getattr(graph, own, None) not in (None, False, True) and own not in self._told:
                self._told.add(own)
                _log.info("graph %s: its own %s is replaced by the server's", self.name, own)
        return graph


def graph_source(
    name: str,
    found: Any,
    *,
    description: str | None = None,
    recovery: RecoveryStrategy | None = None,
    policy: RunPolicy | None = None,
) -> GraphSource:
    """The source for whatever a user named; ProjectError when it cannot give a graph."""
    made = found.compile() if isinstance(found, StateGraph) else found
    if not isinstance(made, Pregel):
        if not callable(made):
            raise ProjectError(f"{_kind(found)} is neither a graph nor a function that makes one")
        _arguments(made, {}, lambda: None)
    return GraphSource(
        name=name, description=description, recovery=recovery, policy=policy, made=made
    )


def recovery_problem(source: GraphSource, settings: Settings, *, hooked: bool) -> str | None:
    """Why ``source`` cannot recover as configured; None when it can, or only a use will tell."""
    graph = source.compiled
    if hooked or graph is None or "messages" in graph.channels or is_function(graph):
        return None
    if source.strategy(settings) is not RecoveryStrategy.EVENT_LOG:
        return None
    return (
        f"graphs.{source.name}: recovery event_log needs a `messages` channel in the graph's"
        " state, or build_recovery_request=..."
    )


def is_function(graph: CompiledGraph) -> bool:
    """Is it an ``@entrypoint`` of LangGraph's functional API?"""
    return _PREVIOUS in graph.channels


def _arguments(
    factory: Factory, config: RunnableConfig, runtime: Callable[[], Any]
) -> Mapping[str, Any]:
    """What ``factory`` is called with: a config, a ServerRuntime, both or nothing."""
    given: dict[str, Any] = {}
    for parameter in inspect.signature(factory).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        annotation = str(parameter.annotation)
        if "ServerRuntime" in annotation or parameter.name == "runtime":
            given[parameter.name] = runtime()
        elif "RunnableConfig" in annotation or parameter.name == "config" or not given:
            given.setdefault(parameter.name, config)
        elif parameter.default is parameter.empty:
            raise ProjectError(
                f"{_name(factory)} asks for {parameter.name!r}; a graph factory takes"
                " (), (config), (runtime) or both"
            )
    return given


def _runtime(access: str, *, context: Any, store: Any) -> Any:
    from langgraph_sdk import runtime

    if access == RUN:
        return runtime._ExecutionRuntime(access_context=RUN, store=store, context=context)
    return runtime._ReadRuntime(access_context=access, store=store)  # type: ignore[arg-type]


@asynccontextmanager
async def _entered(made: Any) -> AsyncIterator[Any]:
    if isinstance(made, AbstractAsyncContextManager):
        async with made as graph:
            yield graph
    elif isinstance(made, AbstractContextManager):
        with made as graph:
            yield graph
    else:
        yield made


def _kind(value: Any) -> str:
    return f"a {type(value).__module__}.{type(value).__qualname__}"


def _name(factory: Factory) -> str:
    return str(getattr(factory, "__qualname__", factory))
