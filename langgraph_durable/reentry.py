"""What a later attempt tells the readers of a run, and what it gives the graph instead."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from langgraph_durable.evidence import (
    open_tool_calls,
    result_message_ids,
    streamed_message_ids,
    with_evidence,
)
from langgraph_durable.graphs import is_function
from langgraph_durable.model import Event, RecoveryStrategy, RunRequest, RunStatus
from langgraph_durable.recovery import BuildRecoveryRequest, RecoveryContext, built_request
from langgraph_durable.serde import decode, encode
from langgraph_durable.snapshot import (
    Graph,
    Reading,
    message_ids,
    output_values,
    pending_tool_calls,
)
from langgraph_durable.store.claims import Claim


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

    ``before`` is the state the attempt starts from, ``past`` the log of the earlier ones. One that
    has slept starts from where it was ``woken``, also on another checkpoint thread.
    """
    rotated = conversation_id != claim.checkpoint_thread_id
    values = before.state.values if before.head.checkpoint_id else None
    open_calls, held = _unfinished(graph, values, () if rotated else past)
    return encode(
        {
            "attempt": claim.attempt,
            "strategy": claim.strategy,
            "reason": "crash" if crashed else "deploy",
            "conversation_id": conversation_id,
            "values": None if values is None else output_values(graph, values),
            "open_tool_call_ids": [] if rotated else open_calls,
            "void_message_ids": sorted(streamed_message_ids(past) - held),
            **({"woken": True} if "answers" in (claim.entry or {}) else {}),
        }
    )


def _unfinished(
    graph: Graph, values: Any, past: Sequence[Event]
) -> tuple[Sequence[str], AbstractSet[str]]:
    """Tool calls that go on, and messages that count: those of the state.

    A function has no state before its end: its finished tasks hold what it has done so far.
    """
    if not is_function(graph):
        return pending_tool_calls(values), message_ids(values)
    done = [event for event in _since_rotation(past) if event.mode == "updates"]
    told = result_message_ids(done)
    return [call["id"] for call in open_tool_calls(done)], told | message_ids(values)


def _since_rotation(past: Sequence[Event]) -> Sequence[Event]:
    """The events that a later attempt builds on."""
    for index in range(len(past) - 1, -1, -1):
        if past[index].name == "recovered":
            told = decode(past[index].data)
            if (told["strategy"], told["reason"]) == (RecoveryStrategy.EVENT_LOG, "crash"):
                return past[index:]
    return past


async def rebuilt_request(
    claim: Claim,
    request: RunRequest,
    past: list[Event],
    *,
    conversation_id: str,
    hook: BuildRecoveryRequest | None,
) -> RunRequest:
    """After a crash: the hook's request, or under EVENT_LOG the evidence added to it.

    A run that crashed under EVENT_LOG keeps its evidence over later deploys; when it has slept
    since, its state holds that.
    """
    told = (claim.entry or {}).get("crashes", 0)
    by_log = claim.strategy is RecoveryStrategy.EVENT_LOG and claim.crashes > told
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
