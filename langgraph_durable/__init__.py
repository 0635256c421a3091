"""Durable execution for LangGraph agents.

Names are loaded when first used, so that ``import langgraph_durable`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph_durable.embedded import EmbeddedPostgres
    from langgraph_durable.engine import DurableEngine
    from langgraph_durable.errors import (
        AssistantNotFound,
        CheckpointNotFound,
        DurableError,
        InvalidRequest,
        LeaseLost,
        ProjectError,
        RunNotCancellable,
        RunNotFound,
        SettingsError,
        StoreUnavailable,
        ThreadBusy,
        ThreadExists,
        ThreadNotFound,
        UnknownGraph,
    )
    from langgraph_durable.model import RecoveryStrategy
    from langgraph_durable.server import DurableServer
    from langgraph_durable.settings import Settings

__version__ = "0.1.0"

_ERRORS = (
    "AssistantNotFound",
    "CheckpointNotFound",
    "DurableError",
    "InvalidRequest",
    "LeaseLost",
    "ProjectError",
    "RunNotCancellable",
    "RunNotFound",
    "SettingsError",
    "StoreUnavailable",
    "ThreadBusy",
    "ThreadExists",
    "ThreadNotFound",
    "UnknownGraph",
)

_HOMES = {
    "DurableEngine": "engine",
    "DurableServer": "server",
    "EmbeddedPostgres": "embedded",
    "RecoveryStrategy": "model",
    "Settings": "settings",
    **dict.fromkeys(_ERRORS, "errors"),
}

__all__ = [
    "AssistantNotFound",
    "CheckpointNotFound",
    "DurableEngine",
    "DurableError",
    "DurableServer",
    "EmbeddedPostgres",
    "InvalidRequest",
    "LeaseLost",
    "ProjectError",
    "RecoveryStrategy",
    "RunNotCancellable",
    "RunNotFound",
    "Settings",
    "SettingsError",
    "StoreUnavailable",
    "ThreadBusy",
    "ThreadExists",
    "ThreadNotFound",
    "UnknownGraph",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
