"""What a worker offers to whoever stores a new run: to begin it in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_durable.policy import RunPolicy
from langgraph_durable.store.claims import Claim
from langgraph_durable.store.entering import Hand


class Offer:
    """One slot. ``taken``: somebody may have begun a run on it; ``claim``: the attempt that has."""

    def __init__(
        self, worker_id: str, policies: Mapping[str, RunPolicy], lease_seconds: float
    ) -> None:
        self.claim: Claim | None = None
        self.taken = False
        self._worker_id = worker_id
        self._policies = policies
        self._lease_seconds = lease_seconds

    def hand(self, graph_id: str) -> Hand | None:
        """For a run of this graph; None when there is no slot or its runs must be counted."""
        policy = self._policies.get(graph_id)
        if policy is None or policy.concurrency is not None:
            return None
        self.taken = True
        return Hand(
            worker_id=self._worker_id,
            lease_seconds=self._lease_seconds,
            max_attempts=policy.max_attempts,
            deadline_seconds=policy.run_deadline_seconds,
        )
