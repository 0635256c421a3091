"""The command line. Each command loads only what it needs, so that ``version`` is instant."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_durable import __version__
from langgraph_durable.errors import DurableError, ProjectError, SettingsError

if TYPE_CHECKING:
    from langgraph_durable.launch import Launch

DEFAULT_PORT = 2024


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status: 0, 1 for what is wrong with the set-up, 2 for usage."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except DurableError as error:
        for line in error.message.splitlines():
            print(f"langgraph-durable: {line}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"langgraph-durable: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="langgraph-durable", description="Durable execution for LangGraph agents."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, help_text, command, groups in (
        ("dev", "serve the graphs of this folder, database included", _dev, (_project, _http)),
        ("serve", "serve in production", _serve, (_project, _http, _many)),
        ("worker", "execute runs without serving HTTP", _worker, (_project, _may_embed)),
        ("migrate", "bring the database schema up to date", _migrate, (_project, _may_embed)),
        ("check", "say everything that is wrong with the configuration", _check, (_project,)),
        ("validate", "the same as check", _check, (_project,)),
        ("version", "print the version", _version, ()),
    ):
        sub = commands.add_parser(name, help=help_text, description=help_text)
        sub.set_defaults(command=command)
        for group in groups:
            group(sub)
        if name == "dev":
            sub.add_argument("--reload", action="store_true", help="restart when a file changes")
            sub.set_defaults(webhook_loopback=True)
    return parser


def _project(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--config", "-c", type=Path, default=Path("langgraph.json"), metavar="FILE")
    sub.add_argument("--database-url", metavar="URL", help="PostgreSQL; else from DATABASE_URL")
    sub.add_argument("--recovery", metavar="STRATEGY", help="agent_session or event_log")
    sub.add_argument("--n-jobs-per-worker", type=int, metavar="N", help="runs at a time")
    sub.add_argument(
        "--log-level",
        type=str.lower,
        choices=("debug", "info", "warning", "error"),
        default="info",
        metavar="LEVEL",
    )


def _http(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--host", default="127.0.0.1")
    sub.add_argument("--port", type=int, default=None, help=f"{DEFAULT_PORT} by default")
    sub.add_argument("--socket-fd", type=int, help=argparse.SUPPRESS)
    sub.add_argument("--parent-fd", type=int, help=argparse.SUPPRESS)


def _may_embed(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--embedded", action="store_true", help="use the database of `dev`")


def _many(sub: argparse.ArgumentParser) -> None:
    _may_embed(sub)
    sub.add_argument("--workers", type=int, default=1, metavar="N", help="server processes")


def _dev(options: argparse.Namespace) -> int:
    from langgraph_durable import serving

    if options.port is None:
        options.port = DEFAULT_PORT
    if options.reload:
        return _supervised(options, 1, reload=True)
    return serving.serve(_launch(options, embedded=True), options)


def _serve(options: argparse.Namespace) -> int:
    from langgraph_durable import serving

    if options.port is None:
        options.port = _port(os.environ.get("DATABRICKS_APP_PORT") or str(DEFAULT_PORT))
    if options.workers > 1:
        return _supervised(options, options.workers)
    return serving.serve(_launch(options, embedded=options.embedded), options)


def _port(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SettingsError(f"DATABRICKS_APP_PORT: {text!r} is not a port") from None


def _supervised(options: argparse.Namespace, count: int, *, reload: bool = False) -> int:
    from langgraph_durable import supervisor

    launch = _launch(options, embedded=reload or options.embedded)
    kept = ("dev" if reload else "serve", *_as_arguments(options))
    watched = launch.config.paths if reload else ()
    return supervisor.supervise(launch, kept, count, options, watched)


def _as_arguments(options: argparse.Namespace) -> list[str]:
    """The options of this command, spelt out for a child of the same configuration."""
    arguments = ["--embedded"] if getattr(options, "embedded", False) else []
    names = ("config", "database_url", "recovery", "n_jobs_per_worker", "log_level", "host", "port")
    for name in names:
        value = getattr(options, name)
        if value is not None:
            arguments += [f"--{name.replace('_', '-')}", str(value)]
    return arguments


def _worker(options: argparse.Namespace) -> int:
    from langgraph_durable import serving

    return serving.work(_launch(options, embedded=options.embedded), options)


def _migrate(options: argparse.Namespace) -> int:
    from langgraph_durable.poolers import check_direct
    from langgraph_durable.postgres import Database
    from langgraph_durable.store.migrations import migrate

    launch = _launch(options, embedded=options.embedded)
    try:
        url = launch.embedded.start() if launch.embedded else None
        database = Database(launch.settings, "migrate", url=url)
        check_direct(database)
        applied = migrate(database, launch.config.store)
    finally:
        launch.stop()
    print("applied: " + ", ".join(map(str, applied)) if applied else "nothing to do")
    return 0


def _check(options: argparse.Namespace) -> int:
    """Problems of the file, the environment and the graphs, all of them in one go."""
    from langgraph_durable.launch import configure
    from langgraph_durable.project import load_project

    problems: list[str] = []
    settings = project = None
    try:
        config, settings = configure(options, problems)
        if config is not None:
            project = load_project(config)
        if project is not None and settings is not None:
            project.check(settings)
    except (ProjectError, SettingsError) as error:
        problems.append(error.message)
    if problems:
        raise ProjectError("\n".join(problems))
    assert project is not None
    print(f"{options.config}: {', '.join(project.graphs)} can be served")
    return 0


def _version(options: argparse.Namespace) -> int:
    print(f"langgraph-durable {__version__}")
    return 0


def _launch(options: argparse.Namespace, *, embedded: bool) -> Launch:
    from langgraph_durable.launch import prepare

    return prepare(options, embedded=embedded)
