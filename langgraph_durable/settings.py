"""Every knob of a server, checked whole at start."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from langgraph_durable.errors import SettingsError
from langgraph_durable.model import RecoveryStrategy
from langgraph_durable.policy import RunPolicy, policies

PREFIX = "LANGGRAPH_DURABLE_"

_ALIASES = {
    "database_url": ("DATABASE_URL", "DATABASE_URI", "POSTGRES_URI"),
    "direct_database_url": ("DATABASE_DIRECT_URL",),
    "jobs_per_worker": ("N_JOBS_PER_WORKER",),
    "max_attempts": ("BG_JOB_MAX_RETRIES",),
    "run_deadline_seconds": ("BG_JOB_TIMEOUT_SECS",),
    "shutdown_grace_seconds": ("BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS",),
    "isolated_loops": ("BG_JOB_ISOLATED_LOOPS",),
    "mount_prefix": ("MOUNT_PREFIX",),
}

_LIBPQ = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How one server works. Every time is in seconds.

    ``database_url`` None means the embedded database under ``home``. ``direct_database_url``
    by-passes a pooler such as PgBouncer for what needs a session. ``credentials`` names what
    gives the password: ``module:callable`` or ``databricks``.
    ``policies`` bound the runs of single graphs, ``run_deadline_seconds`` those of all others.
    Runs of a graph that nobody serves wait ``unserved_graph_seconds`` for somebody who does.
    ``isolated_loops`` gives every run an event loop of its own, in a thread of its own.
    ``webhook_loopback`` lets webhooks call this machine, ``webhook_secret`` signs them.
    ``tracing`` is ``mlflow``, or ``off`` like None.

    Raises SettingsError naming every problem at once, one a line.
    """

    schema_name = "langgraph_durable"

    database_url: str | None = field(default=None, repr=False)
    direct_database_url: str | None = field(default=None, repr=False)
    credentials: str | None = None
    recovery: RecoveryStrategy = RecoveryStrategy.AGENT_SESSION
    recovery_by_graph: Mapping[str, RecoveryStrategy] = field(default_factory=dict)
    jobs_per_worker: int = 10
    max_attempts: int = 3
    run_deadline_seconds: float | None = None
    policies: Mapping[str, RunPolicy] = field(default_factory=dict)
    unserved_graph_seconds: float = 3600.0
    isolated_loops: bool = False
    lease_seconds: float = 20.0
    heartbeat_seconds: float = 2.0
    liveness_grace_seconds: float = 1.0
    shutdown_grace_seconds: float = 10.0
    claim_poll_seconds: float = 1.0
    linger_seconds: float = 0.002
    pool_size: int = 10
    mount_prefix: str = ""
    home: Path = Path(".langgraph_durable")
    send_resumed: bool = True
    prepare_statements: bool = True
    webhook_loopback: bool = False
    webhook_secret: str | None = field(default=None, repr=False)
    tracing: str | None = None

    def __post_init__(self) -> None:
        for name in ("recovery_by_graph", "policies"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if problems := list(_problems(self)):
            raise SettingsError("\n".join(problems))

    @classmethod
    def from_environment(cls, env: Mapping[str, str], **overrides: Any) -> Settings:
        """The settings that ``env`` asks for; ``overrides`` that are not None win.

        Raises SettingsError naming every problem of the environment and of the whole.
        """
        problems = list(_misspelt(env))
        values: dict[str, Any] = {}
        for knob in fields(cls):
            name, text = _configured(knob.name, env)
            if overrides.get(knob.name) is not None:
                values[knob.name] = overrides[knob.name]
            elif text is not None:
                try:
                    values[knob.name] = _PARSERS[str(knob.type)](text)
                except ValueError as error:
                    problems.append(f"{name}: {error}")
        try:
            settings = cls(**values)
        except SettingsError as error:
            problems.append(error.message)
        if problems:
            raise SettingsError("\n".join(problems))
        return settings

    def recovery_of(self, graph: str) -> RecoveryStrategy:
        return self.recovery_by_graph.get(graph, self.recovery)


def _configured(knob: str, env: Mapping[str, str]) -> tuple[str, str | None]:
    """The variable that sets ``knob`` and its text; None when none does."""
    for name in (PREFIX + knob.upper(), *_ALIASES.get(knob, ())):
        if env.get(name, "").strip():
            return name, env[name].strip()
    if knob == "database_url" and (env.get("PGHOST") or env.get("PGDATABASE")):
        return "PGHOST", _libpq_url(env)
    return knob, None


def _libpq_url(env: Mapping[str, str]) -> str:
    """What libpq's own variables say; the password stays where libpq reads it."""
    parts = ((key, env[name]) for key, name in _LIBPQ.items() if env.get(name))
    return " ".join(f"{key}='{_escaped(value)}'" for key, value in parts)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")


def _misspelt(env: Mapping[str, str]) -> Iterator[str]:
    known = [PREFIX + knob.name.upper() for knob in fields(Settings)]
    for name in env:
        if name.startswith(PREFIX) and name not in known:
            for meant in get_close_matches(name, known, n=1, cutoff=0.92):
                yield f"{name}: unknown; did you mean {meant}?"


def _problems(settings: Settings) -> Iterator[str]:
    yield from _database_problems(settings)
    yield from _number_problems(settings)
    yield from _tracing_problems(settings.tracing)
    prefix = settings.mount_prefix
    if prefix and (not prefix.startswith("/") or prefix.endswith("/")):
        yield f"mount_prefix: {prefix!r} must start with / and not end with /"


def _tracing_problems(tracing: str | None) -> Iterator[str]:
    if tracing not in (None, "off", "mlflow"):
        yield f"tracing: {tracing!r} is neither mlflow nor off"
    elif tracing == "mlflow" and find_spec("mlflow") is None:
        yield "tracing: mlflow is not installed: pip install 'langgraph-durable[mlflow]'"


def _database_problems(settings: Settings) -> Iterator[str]:
    for name in ("database_url", "direct_database_url"):
        url = getattr(settings, name)
        if url is not None and not _is_postgres(url):
            # never the text itself, nor what the parser says about it: it may hold a password
            yield (
                f"{name}: not a PostgreSQL address such as postgresql://user@host:5432/name"
                " (special characters in a password must be percent-encoded)"
            )
    if settings.direct_database_url and not settings.database_url:
        yield "direct_database_url: needs database_url as well"


def _is_postgres(url: str) -> bool:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        return bool(conninfo_to_dict(url))
    except (ProgrammingError, UnicodeEncodeError):
        return False


def _number_problems(settings: Settings) -> Iterator[str]:
    for name, least in _LEAST.items():
        value = getattr(settings, name)
        if value is not None and (not math.isfinite(value) or value < least):
            yield f"{name}: {value} must be at least {least}"
    lease, heartbeat = settings.lease_seconds, settings.heartbeat_seconds
    if not heartbeat < lease / 2:
        yield f"heartbeat_seconds: {heartbeat} must be under half of lease_seconds, {lease}"
    if not settings.liveness_grace_seconds + heartbeat < lease:
        yield (
            f"liveness_grace_seconds: {settings.liveness_grace_seconds} and a heartbeat"
            f" must fit into lease_seconds, {lease}"
        )


_LEAST = {
    "jobs_per_worker": 0,
    "max_attempts": 1,
    "run_deadline_seconds": 0.001,
    "unserved_graph_seconds": 0,
    "lease_seconds": 0.1,
    "heartbeat_seconds": 0.01,
    "liveness_grace_seconds": 0,
    "shutdown_grace_seconds": 0,
    "claim_poll_seconds": 0.01,
    "linger_seconds": 0,
    "pool_size": 1,
}


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def _yes(text: str) -> bool:
    if text.lower() not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() in ("1", "true", "yes", "on")


def strategy(text: str) -> RecoveryStrategy:
    """The strategy called ``text``, in any case; ValueError says which there are."""
    try:
        return RecoveryStrategy(text.strip().lower().replace("-", "_"))
    except ValueError:
        names = " or ".join(RecoveryStrategy)
        raise ValueError(f"{text!r} is not a recovery strategy; it is {names}") from None


def _strategies(text: str) -> dict[str, RecoveryStrategy]:
    pairs = (item.partition("=") for item in text.split(",") if item.strip())
    return {graph.strip(): strategy(name) for graph, _, name in pairs}


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "int": _whole,
    "float": _number,
    "float | None": _number,
    "bool": _yes,
    "str": str,
    "str | None": str,
    "Path": lambda text: Path(os.path.expanduser(text)),  # noqa: PTH111
    "RecoveryStrategy": strategy,
    "Mapping[str, RecoveryStrategy]": _strategies,
    "Mapping[str, RunPolicy]": policies,
}
