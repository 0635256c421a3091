"""The graphs that a worker serves, with the policy of each, as the claim takes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_durable.graphs import GraphSource
from langgraph_durable.policy import Backoff, RunPolicy
from langgraph_durable.serde import encode
from langgraph_durable.settings import Settings


@dataclass(frozen=True, slots=True)
class Served:
    """Policies by graph, whole: what a graph leaves open is what the settings say."""

    policies: Mapping[str, RunPolicy]

    @classmethod
    def by(cls, graphs: Mapping[str, GraphSource], settings: Settings) -> Served:
        return cls({name: source.policy_under(settings) for name, source in graphs.items()})

    @property
    def limited(self) -> list[str]:
        """Graphs whose runs have to be counted before one more is taken."""
        return sorted(n for n, policy in self.policies.items() if policy.concurrency is not None)

    def rows(self, *, without: Collection[str] = ()) -> str:
        """The claim's table, JSON text."""
        return encode([_row(n, p) for n, p in self.policies.items() if n not in without])

    def last_strike(self, graph: str) -> int:
        """After how many crashes a run of this graph has one attempt left."""
        return (self.policies[graph].max_attempts or 1) - 1


def _row(name: str, policy: RunPolicy) -> dict[str, Any]:
    rest = policy.retry or Backoff()
    return {
        "graph_id": name,
        "max_attempts": policy.max_attempts,
        "concurrency": policy.concurrency,
        "deadline_seconds": policy.run_deadline_seconds,
        "initial_seconds": rest.initial_seconds,
        "factor": rest.factor,
        "max_seconds": rest.max_seconds,
    }
