"""What the mode ``events`` tells of the graph ``agent``: each step of each of its parts."""

from __future__ import annotations

from typing import Any

from tests.contract.recordings.calls import Frames


def told(event: str, name: str) -> tuple[str, Any]:
    shape = {"event": event, "name": name, "run_id": str, "tags": list, "metadata": dict}
    return "events", shape


def thinking(chunks: int) -> Frames:
    """The node ``model``, which asks the model and then where to go."""
    return [
        told("on_chain_start", "model"),
        told("on_chat_model_start", "Calculator"),
        *[told("on_chat_model_stream", "Calculator")] * chunks,
        told("on_chat_model_end", "Calculator"),
        told("on_chain_start", "next_step"),
        told("on_chain_end", "next_step"),
        told("on_chain_stream", "model"),
        told("on_chain_end", "model"),
    ]


AGENT_EVENTS: Frames = [
    told("on_chain_start", "LangGraph"),
    *thinking(3),
    told("on_chain_start", "tool"),
    told("on_chain_stream", "tool"),
    told("on_chain_end", "tool"),
    *thinking(5),
    told("on_chain_end", "LangGraph"),
]
