"""From command-line options to an engine ready to start."""

from __future__ import annotations

import argparse
import logging
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_durable.errors import ProjectError, SettingsError
from langgraph_durable.project_config import ProjectConfig, read_config
from langgraph_durable.settings import Settings, strategy

if TYPE_CHECKING:
    from langgraph_durable.embedded import EmbeddedPostgres
    from langgraph_durable.engine import DurableEngine

_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Launch:
    """What a command was asked to start. ``took`` says how long each part of it lasted."""

    config: ProjectConfig
    settings: Settings
    embedded: EmbeddedPostgres | None
    started_at: float = field(default_factory=time.monotonic)
    took: dict[str, float] = field(default_factory=dict)

    def engine(self) -> DurableEngine:
        """Import the graphs while the embedded database starts; blocking.

        Raises ProjectError and StoreUnavailable.
        """
        with ThreadPoolExecutor(1) as beside:
            database = beside.submit(self._start_database)
            with self._timed("import"):
                from langgraph_durable.engine import DurableEngine
                from langgraph_durable.project import load_project

                project = load_project(self.config)
            project.check(self.settings)
            database.result()
        return DurableEngine(project=project, settings=self.settings, embedded=self.embedded)

    def stop(self) -> None:
        if self.embedded is not None:
            self.embedded.stop()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started_at

    @property
    def database_name(self) -> str:
        """For a person; never an address, which may hold a password."""
        return "PostgreSQL" if self.embedded is None else f"PostgreSQL in {self.embedded.home}"

    def _start_database(self) -> None:
        if self.embedded is not None:
            with self._timed("database"):
                self.embedded.start()

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        before = time.monotonic()
        yield
        self.took[part] = time.monotonic() - before


def prepare(options: argparse.Namespace, *, embedded: bool) -> Launch:
    """Read and check the configuration; nothing is started.

    ``embedded`` allows the embedded database when no other is configured.
    Raises ProjectError or SettingsError naming every problem.
    """
    started_at = time.monotonic()
    log_to_stderr(options.log_level)
    problems: list[str] = []
    config, settings = configure(options, problems)
    if settings is not None and settings.database_url is None and not embedded:
        problems.append("No database is configured: set DATABASE_URL, or say --embedded")
    if config is None or settings is None or problems:
        raise SettingsError("\n".join(problems))
    postgres = None
    if settings.database_url is None:
        from langgraph_durable.embedded import EmbeddedPostgres

        postgres = EmbeddedPostgres(settings.home)
    return Launch(config=config, settings=settings, embedded=postgres, started_at=started_at)


def configure(
    options: argparse.Namespace, problems: list[str]
) -> tuple[ProjectConfig | None, Settings | None]:
    """The configuration of the files and the environment; what is wrong goes to ``problems``."""
    config = settings = None
    try:
        config = read_config(options.config)
    except ProjectError as error:
        problems.append(error.message)
    try:
        settings = _settings(options, config)
    except SettingsError as error:
        problems.append(error.message)
    return config, settings


def _settings(options: argparse.Namespace, config: ProjectConfig | None) -> Settings:
    env = {"LANGGRAPH_DURABLE_HOME": str(_folder(options.config) / ".langgraph_durable")}
    if getattr(options, "webhook_loopback", False):
        env["LANGGRAPH_DURABLE_WEBHOOK_LOOPBACK"] = "true"
    if config is not None and config.http.mount_prefix is not None:
        env["MOUNT_PREFIX"] = config.http.mount_prefix
    if config is not None and config.tracing is not None:
        env["LANGGRAPH_DURABLE_TRACING"] = config.tracing
    if config is not None:
        os.environ.update(config.env)
    try:
        recovery = strategy(options.recovery) if options.recovery else None
    except ValueError as error:
        raise SettingsError(f"--recovery: {error}") from error
    return Settings.from_environment(
        {**env, **os.environ},
        database_url=options.database_url,
        recovery=recovery,
        jobs_per_worker=options.n_jobs_per_worker,
    )


def _folder(config: Path) -> Path:
    return config.resolve().parent


def log_to_stderr(level: str) -> None:
    """Our own lines at ``level``, everybody else's from warning on."""
    logging.basicConfig(
        format="%(asctime)s %(levelname)-7s %(name)s: %(message)s", level=logging.WARNING
    )
    for name in ("langgraph_durable", "protocol_adapter"):
        logging.getLogger(name).setLevel(level.upper())
    if level == "debug":
        logging.getLogger("uvicorn").setLevel(logging.INFO)
