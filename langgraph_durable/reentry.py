"""What a later attempt tells the readers of a run, and what it gives the graph instead."""

from __future__ import annotations

from langgraph_durable.evidence import streamed_message_ids, with_evidence
from langgraph_durable.model import Event, RecoveryStrategy, RunRequest, RunStatus
from langgraph_durable.recovery import BuildRecoveryRequest, RecoveryContext, built_request
from langgraph_durable.serde import encode
from langgraph_durable.snapshot import (
    Graph,
    Reading,
    message_ids,
    output_values,
    pending_tool_calls,
)
from langgraph_durable.store.runs import Claim


def notice(
    claim: Claim,
    graph: Graph,
    before: Reading,
    past: list[Event],
    *,
    conversation_id: str,
    crashed: bool,
) -> str:
    """The payload of the ``recovered`` event: what its readers need to go on.

    ``before`` is the state the attempt starts from, ``past`` the log of the earlier ones.
    """
    rotated = conversation_id != claim.checkpoint_thread_id
    values = before.state.values if before.head.checkpoint_id else None
    return encode(
        {
            "attempt": claim.attempt,
            "strategy": claim.strategy,
            "reason": "crash" if crashed else "deploy",
            "conversation_id": conversation_id,
            "values": None if values is None else output_values(graph, values),
            "open_tool_call_ids": [] if rotated else pending_tool_calls(values),
            "void_message_ids": sorted(streamed_message_ids(past) - message_ids(values)),
        }
    )


async def rebuilt_request(
    claim: Claim,
    request: RunRequest,
    past: list[Event],
    *,
    conversation_id: str,
    hook: BuildRecoveryRequest | None,
) -> RunRequest:
    """After a crash: the hook's request, or under EVENT_LOG the evidence added to it.

    A run that crashed under EVENT_LOG keeps its evidence over later deploys.
    """
    by_log = claim.strategy is RecoveryStrategy.EVENT_LOG and claim.crashes > 0
    default = with_evidence(request, past) if by_log else request
    if hook is None or not (by_log or claim.was is RunStatus.RUNNING):
        return default
    context = RecoveryContext(
        run_id=claim.run_id,
        thread_id=claim.thread_id,
        conversation_id=conversation_id,
        attempt=claim.attempt,
        previous_attempt=claim.attempt - 1,
        strategy=claim.strategy,
        events=past,
        default=default,
    )
    return await built_request(hook, request, context)
