"""The ``durable`` section of a ``langgraph.json``: what no other server knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_durable.model import RecoveryStrategy
from langgraph_durable.policy import RunPolicy, read_policies
from langgraph_durable.retention_config import RetentionConfig, read_retention
from langgraph_durable.settings import strategy

_KEYS = ("recovery", "policies", "retention")


@dataclass(frozen=True, kw_only=True)
class DurableConfig:
    """Recovery and policies by graph, and what is kept how long."""

    recovery: Mapping[str, RecoveryStrategy] = field(default_factory=dict)
    policies: Mapping[str, RunPolicy] = field(default_factory=dict)
    retention: RetentionConfig = field(default_factory=RetentionConfig)


def read_durable(raw: Mapping[str, Any], problems: list[str]) -> DurableConfig:
    """What ``durable`` of a whole langgraph.json says; what is wrong goes to ``problems``."""
    given = raw.get("durable", {})
    if not isinstance(given, dict):
        problems.append('durable: must be {"recovery": {"<graph>": "agent_session|event_log"}}')
        return DurableConfig()
    unknown = [key for key in given if key not in _KEYS]
    problems += [f"durable.{key}: unknown; there are {', '.join(_KEYS)}" for key in unknown]
    policies = read_policies(given.get("policies", {}), "durable.policies", problems)
    served = raw.get("graphs")
    served = served if isinstance(served, dict) else {}
    problems += [
        f"durable.policies.{name}: no graph is called so" for name in policies if name not in served
    ]
    return DurableConfig(
        recovery=dict(_recovery(given.get("recovery", {}), served, problems)),
        policies=policies,
        retention=read_retention(given.get("retention", {}), "durable.retention", problems),
    )


def _recovery(
    chosen: Any, served: Mapping[str, Any], problems: list[str]
) -> Iterator[tuple[str, RecoveryStrategy]]:
    if not isinstance(chosen, dict):
        problems.append('durable.recovery: must be {"<graph>": "agent_session|event_log"}')
        return
    for name, text in chosen.items():
        if name not in served:
            problems.append(f"durable.recovery.{name}: no graph is called so")
        try:
            yield name, strategy(str(text))
        except ValueError as error:
            problems.append(f"durable.recovery.{name}: {error}")
