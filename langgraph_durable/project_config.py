"""``langgraph.json`` as it stands: read, checked whole, nothing imported."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph_durable import env_file, http_config, store_config, thread_config, webhook_config
from langgraph_durable.durable_config import DurableConfig, read_durable
from langgraph_durable.errors import ProjectError
from langgraph_durable.http_config import HttpConfig, read_http
from langgraph_durable.store_config import StoreConfig, read_store
from langgraph_durable.thread_config import ThreadConfig, read_threads
from langgraph_durable.webhook_config import WebhookConfig, read_webhooks

_BUILD = "only used to build images; ignored"
_NOTICES = {
    "python_version": _BUILD,
    "node_version": _BUILD,
    "api_version": _BUILD,
    "base_image": _BUILD,
    "image_distro": _BUILD,
    "pip_config_file": _BUILD,
    "pip_installer": _BUILD,
    "source": _BUILD,
    "dockerfile_lines": _BUILD,
    "keep_pkg_tools": _BUILD,
    "_INTERNAL_docker_tag": _BUILD,
    "encryption": "not supported; data is stored as it is",
    "priority": "not supported yet; ignored",
    "ui": "not supported; ignored",
}
DOORS = ("responses",)
_ACTS = (
    *("graphs", "dependencies", "env", "http", "durable", "auth", "store", "checkpointer"),
    *("webhooks", "tracing", "$schema", *DOORS),
)


@dataclass(frozen=True, kw_only=True)
class ProjectConfig:
    """A ``langgraph.json`` that was read and found to make sense; nothing is imported yet.

    ``graphs`` maps a name to ``(where, description)``; ``notices`` are lines for the user.
    ``doors`` are the sections that a protocol reads itself, as they stand.
    """

    folder: Path
    graphs: Mapping[str, tuple[str, str | None]]
    paths: tuple[Path, ...]
    env: Mapping[str, str] = field(repr=False)
    durable: DurableConfig
    http: HttpConfig
    store: StoreConfig
    threads: ThreadConfig
    webhooks: WebhookConfig
    doors: Mapping[str, Any]
    tracing: str | None
    notices: tuple[str, ...]


def read_config(path: Path) -> ProjectConfig:
    """What a ``langgraph.json`` says; ProjectError lists everything that is wrong with it."""
    raw = _read(path)
    problems: list[str] = []
    folder = path.resolve().parent
    env = _env(raw.get("env", {}), folder, problems)
    config = ProjectConfig(
        folder=folder,
        graphs=_graphs(raw.get("graphs"), problems),
        paths=_paths(raw.get("dependencies", ["."]), folder, problems),
        env=env,
        durable=read_durable(raw, problems),
        http=read_http(raw.get("http"), problems),
        store=read_store(raw.get("store"), problems),
        threads=read_threads(raw.get("checkpointer"), problems),
        webhooks=read_webhooks(raw.get("webhooks"), {**os.environ, **env}, problems),
        tracing=_tracing(raw.get("tracing"), problems),
        doors={name: raw[name] for name in DOORS if name in raw},
        notices=tuple(_notices(raw)),
    )
    if raw.get("auth"):
        problems.append("auth: not supported yet, and without it anyone could use this server")
    if problems:
        raise ProjectError("\n".join(f"{path.name}: {problem}" for problem in problems))
    return config


def _read(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProjectError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ProjectError(f"{path}: not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise ProjectError(f"{path}: must be a JSON object")
    return raw


def _graphs(raw: Any, problems: list[str]) -> dict[str, tuple[str, str | None]]:
    if not isinstance(raw, dict) or not raw:
        problems.append('graphs: needed, such as {"agent": "./agent.py:graph"}')
        return {}
    found = {}
    for name, entry in raw.items():
        fields = entry if isinstance(entry, dict) else {"path": entry}
        where, description = fields.get("path"), fields.get("description")
        if not isinstance(where, str) or not all(where.rpartition(":")):
            problems.append(f'graphs.{name}: must be "./file.py:name" or "package.module:name"')
        elif where.rpartition(":")[0].endswith((".js", ".ts", ".mjs", ".mts", ".jsx", ".tsx")):
            problems.append(f"graphs.{name}: JavaScript graphs cannot be run here")
        else:
            found[name] = (where, description)
    return found


def _paths(raw: Any, folder: Path, problems: list[str]) -> tuple[Path, ...]:
    if not isinstance(raw, list) or not all(isinstance(item, str) for item in raw):
        problems.append("dependencies: must be a list of strings")
        return (folder,)
    local = {item: (folder / item).resolve() for item in raw if item.startswith(".")}
    problems += [f"dependencies: {i} is no folder" for i, p in local.items() if not p.is_dir()]
    return tuple(dict.fromkeys((*local.values(), folder)))


def _env(raw: Any, folder: Path, problems: list[str]) -> dict[str, str]:
    if isinstance(raw, dict):
        return {str(name): str(value) for name, value in raw.items()}
    if not isinstance(raw, str):
        problems.append("env: must be an object or the path of a .env file")
        return {}
    try:
        return env_file.parse((folder / raw).read_text(encoding="utf-8"), os.environ)
    except OSError as error:
        problems.append(f"env: {raw}: {error.strerror}")
    except ValueError as error:
        problems.append(f"env: {raw}: {error}")
    return {}


def _tracing(raw: Any, problems: list[str]) -> str | None:
    """``{"mlflow": true}`` as the settings say it."""
    switch = raw.get("mlflow", False) if isinstance(raw, dict) else None
    if raw is None or (isinstance(switch, bool) and raw.keys() <= {"mlflow"}):
        return "mlflow" if switch else None
    problems.append('tracing: must be {"mlflow": true} or {"mlflow": false}')
    return None


def _notices(raw: dict[str, Any]) -> list[str]:
    notices = [f"{key}: {notice}" for key, notice in _NOTICES.items() if key in raw]
    notices += [f"{key}: unknown; ignored" for key in raw if key not in {*_NOTICES, *_ACTS}]
    if rest := http_config.unknown_keys(raw.get("http")):
        notices.append(f"http: {', '.join(rest)}: not supported yet; ignored")
    notices += thread_config.notices(raw.get("checkpointer"))
    for name, part in (("store", store_config), ("webhooks", webhook_config)):
        unknown = part.unknown_keys(raw.get(name))
        notices += [f"{name}.{key}: unknown; ignored" for key in unknown]
    listed = raw.get("dependencies")
    packages = [d for d in listed if not str(d).startswith(".")] if isinstance(listed, list) else []
    if packages:
        notices.append(f"dependencies: not installed from here: {', '.join(map(str, packages))}")
    return notices
