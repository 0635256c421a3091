"""The served graphs: imported from where ``langgraph.json`` says, or given by hand."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph_durable.errors import DurableError, ProjectError
from langgraph_durable.graphs import GraphSource, graph_source, recovery_problem
from langgraph_durable.http_config import HttpConfig
from langgraph_durable.project_config import ProjectConfig, read_config
from langgraph_durable.retention_config import RetentionConfig
from langgraph_durable.settings import Settings
from langgraph_durable.store_config import StoreConfig
from langgraph_durable.thread_config import ThreadConfig
from langgraph_durable.webhook_config import WebhookConfig

__all__ = ["GraphSource", "Project", "ProjectConfig", "load_project", "read_config"]

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langgraph.store.postgres.base import PostgresIndexConfig

_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Project:
    """The served graphs by name, and how all that they share works."""

    graphs: Mapping[str, GraphSource]
    store: StoreConfig = field(default_factory=StoreConfig)
    threads: ThreadConfig = field(default_factory=ThreadConfig)
    webhooks: WebhookConfig = field(default_factory=WebhookConfig)
    http: HttpConfig = field(default_factory=HttpConfig)
    retention: RetentionConfig = field(default_factory=RetentionConfig)
    doors: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_graph(cls, graph: Any, name: str = "agent") -> Project:
        """A project of one graph, or of several when ``graph`` maps names to graphs.

        Raises ProjectError naming everything that is no graph.
        """
        named = graph if isinstance(graph, Mapping) else {name: graph}
        problems: list[str] = []
        graphs = _made({n: _maker(n, found) for n, found in named.items()}, "graphs", problems)
        _raise(problems)
        return cls(graphs=graphs)

    def check(self, settings: Settings, *, hooked: bool = False) -> None:
        """Raise ProjectError when a graph cannot recover as ``settings`` ask.

        ``hooked`` says that a ``build_recovery_request`` is there.
        """
        problems = [recovery_problem(s, settings, hooked=hooked) for s in self.graphs.values()]
        unknown = sorted(settings.recovery_by_graph.keys() - self.graphs.keys())
        problems += [f"recovery_by_graph: no graph is called {name!r}" for name in unknown]
        unknown = sorted(settings.policies.keys() - self.graphs.keys())
        problems += [f"policies: no graph is called {name!r}" for name in unknown]
        _raise([problem for problem in problems if problem])


def load_project(source: ProjectConfig | Path | str = "langgraph.json") -> Project:
    """Import every graph of a ``langgraph.json``, read already or named by its path.

    Sets the environment and the import path that it asks for.
    Raises ProjectError listing everything that is wrong.
    """
    config = source if isinstance(source, ProjectConfig) else read_config(Path(source))
    for notice in config.notices:
        _log.info("langgraph.json: %s", notice)
    os.environ.update(config.env)
    for path in reversed(config.paths):
        if str(path) not in sys.path:
            sys.path.insert(0, str(path))
    problems: list[str] = []
    graphs = _made({name: _importer(config, name) for name in config.graphs}, "graphs", problems)
    index = _index(config, problems)
    _raise(problems)
    store = replace(config.store, index=index)
    return Project(
        graphs=graphs,
        store=store,
        threads=config.threads,
        webhooks=config.webhooks,
        http=config.http,
        retention=_placed(config.durable.retention, config.folder),
        doors=config.doors,
    )


def _placed(retention: RetentionConfig, folder: Path) -> RetentionConfig:
    """With the archive where the file that names it is."""
    archive = retention.archive
    return replace(retention, archive=folder / archive) if archive else retention


def _importer(config: ProjectConfig, name: str) -> Callable[[], GraphSource]:
    where, description = config.graphs[name]

    def make() -> GraphSource:
        found = _find(where, config.folder, config.paths)
        return graph_source(
            name,
            found,
            description=description,
            recovery=config.durable.recovery.get(name),
            policy=config.durable.policies.get(name),
        )

    return make


def _maker(name: str, found: Any) -> Callable[[], GraphSource]:
    return lambda: graph_source(name, found)


def _index(config: ProjectConfig, problems: list[str]) -> PostgresIndexConfig | None:
    """The store's index with what makes its embeddings."""
    if (index := config.store.index) is None:
        return None
    made = _made(
        {"embed": lambda: _embeddings(config, str(index["embed"]))}, "store.index", problems
    )
    return {**index, "embed": made["embed"]} if made else None


def _embeddings(config: ProjectConfig, where: str) -> Embeddings:
    """From ``provider:model``, ``./file.py:name`` or ``package.module:name``."""
    from langgraph.store.base import ensure_embeddings

    module = where.partition(":")[0]
    if "/" not in module and "." not in module:
        return ensure_embeddings(where)
    found = _find(where, config.folder, config.paths)
    if not callable(found) and not hasattr(found, "embed_documents"):
        raise ProjectError(f"{where} is no function from texts to vectors")
    return ensure_embeddings(found)


def _made(
    makers: Mapping[str, Callable[[], T]], where: str, problems: list[str]
) -> Mapping[str, T]:
    """What every maker gives, by name; what they raise goes to ``problems``."""
    made = {}
    for name, make in makers.items():
        try:
            made[name] = make()
        except DurableError as error:
            problems.append(f"{where}.{name}: {error.message}")
        except (Exception, SystemExit) as error:
            _log.debug("%s.%s", where, name, exc_info=True)
            problems.append(f"{where}.{name}: {type(error).__name__}: {error}")
    return MappingProxyType(made)


def _raise(problems: list[str]) -> None:
    if problems:
        raise ProjectError("\n".join(problems))


def _find(where: str, folder: Path, roots: tuple[Path, ...]) -> Any:
    module_name, _, attribute = where.rpartition(":")
    if "/" in module_name or module_name.endswith(".py"):
        module = _import_file((folder / module_name).resolve(), roots)
    else:
        module = importlib.import_module(module_name)
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise ProjectError(f"{module_name} defines no {attribute!r}") from None


def _import_file(path: Path, roots: tuple[Path, ...]) -> ModuleType:
    """Import under the name other modules use for it, so that its classes exist once."""
    if not path.is_file():
        raise ProjectError(f"{path} is no file")
    for root in roots:
        if path.is_relative_to(root):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            if _origin(name) == path:
                return importlib.import_module(name)
    name = f"langgraph_durable_project_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _origin(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(spec.origin).resolve() if spec is not None and spec.origin else None
