"""A person in the loop with the stock OpenAI client: two requests, and no server in between.

python -m cookbooks.hitl.openai_client "version 2" [http://127.0.0.1:2024/v1]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import httpx
from openai import OpenAI, OpenAIError

ENDED = ("response.completed", "response.failed", "response.incomplete")


def propose(client: OpenAI, what: str) -> Any:
    """The first request: its response is complete, and ends with what needs approval."""
    return client.responses.create(model="agent", input=what)


def questions(proposal: Any) -> list[Any]:
    return [item for item in proposal.output if item.type == "mcp_approval_request"]


def answer(client: OpenAI, proposal: Any, *, approve: bool) -> Any:
    """The second request, minutes or days later: the decisions, and then the long work."""
    decisions: Any = [
        {
            "type": "mcp_approval_response",
            "approval_request_id": question.id,
            "approve": approve,
        }
        for question in questions(proposal)
    ]
    return client.responses.create(
        model="agent", previous_response_id=proposal.id, input=decisions, background=True
    )


def follow(client: OpenAI, response_id: str) -> list[Any]:
    """Every event up to the last one, each once, however often the server dies meanwhile."""
    events: list[Any] = []
    while not events or events[-1].type not in ENDED:
        after: Any = {"starting_after": events[-1].sequence_number} if events else {}
        try:
            for event in client.responses.retrieve(response_id, stream=True, **after):
                events.append(event)
        except (OpenAIError, httpx.HTTPError):
            time.sleep(0.5)
    return events


def main() -> None:
    what, *rest = sys.argv[1:]
    client = OpenAI(base_url=rest[0] if rest else "http://127.0.0.1:2024/v1", api_key="none")
    proposal = propose(client, what)
    print(proposal.output_text)
    for question in questions(proposal):
        print(f"  {question.name} {question.arguments}")
    approved = input("Approve? [y/n] ").startswith("y")
    begun = answer(client, proposal, approve=approved)
    print(follow(client, begun.id)[-1].response.output_text)


if __name__ == "__main__":
    main()
