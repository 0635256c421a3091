"""The endpoints, found in what the door says of itself: a new one is tried by itself."""

from __future__ import annotations

import re

from protocol_adapter.langgraph.openapi import LANGGRAPH

OF_RUNS = ("/threads/{thread}/runs", "/threads/{thread}/runs/stream", "/threads/{thread}/runs/wait")
STATELESS = ("/runs", "/runs/stream", "/runs/wait")
TAKES_LISTS = ["/runs/batch"]
TAKES_ANY = ["/threads/{thread}/signals/x"]
"""Any JSON, and none at all."""
ENDLESS = ["/threads/{thread}/stream", "/threads/{thread}/stream/events"]
"""Streams that a client has to leave."""
NAMES = {
    "thread_id": "{thread}",
    "run_id": "{run}",
    "assistant_id": "{assistant}",
    "cron_id": "{cron}",
}


def _named(label: str) -> tuple[str, str]:
    """The method and the path, with the names of what exists."""
    method, path = label.split(" ")
    return method, re.sub(r"\{(\w+)\}", lambda name: NAMES.get(name[1], "x"), path)


WITH_BODY = [_named(label) for label, it in LANGGRAPH.operations.items() if it.body is not None]
WITH_QUERY = {_named(label): it.query for label, it in LANGGRAPH.operations.items() if it.query}
EVERY_ONE = [_named(label) for label in LANGGRAPH.operations]
