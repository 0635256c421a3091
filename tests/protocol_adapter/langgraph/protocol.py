"""A run's log as a subscriber of the agent streaming protocol is told it."""

from __future__ import annotations

from typing import Any

from langgraph_durable.model import Event
from langgraph_durable.serde import decode
from protocol_adapter.langgraph.event_stream import parse_subscription
from protocol_adapter.langgraph.protocol_events import CHANNELS, ProtocolEvent, ProtocolEvents
from tests.protocol_adapter.langgraph.samples import run


def told(log: list[Event], ticket: int = 0, **asked: Any) -> list[ProtocolEvent]:
    """What a subscriber is told of one run."""
    wanted = parse_subscription({"channels": list(CHANNELS), **asked}, None)
    fold = ProtocolEvents(run(ticket=ticket), wanted.kinds)
    return [event for row in log for event in fold.events(row) if wanted.shows(event)]


def wire(events: list[ProtocolEvent]) -> list[Any]:
    return [decode(event.json()) for event in events]
