"""The same with the stock LangGraph client.

python -m cookbooks.hitl.sdk_client "version 2" [http://127.0.0.1:2024]
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient


async def propose(client: LangGraphClient, thread_id: str, what: str) -> list[dict[str, Any]]:
    """Runs up to the question; answers the actions that need approval."""
    asked: Any = {"messages": [{"role": "user", "content": what}]}
    values: Any = await client.runs.wait(thread_id, "agent", input=asked, if_not_exists="create")
    (question,) = values["__interrupt__"]
    actions: list[dict[str, Any]] = question["value"]["action_requests"]
    return actions


async def answer(client: LangGraphClient, thread_id: str, *decisions: dict[str, Any]) -> str:
    """A second run takes the decisions, one for each action, and goes on with the work."""
    command: Any = {"resume": {"decisions": list(decisions)}}
    run = await client.runs.create(thread_id, "agent", command=command)
    return run["run_id"]


async def result(client: LangGraphClient, thread_id: str, run_id: str) -> str:
    """The last words of the run, however often the server dies meanwhile."""
    while True:
        try:
            values: Any = await client.runs.join(thread_id, run_id)
            return str(values["messages"][-1]["content"])
        except httpx.HTTPError:
            await asyncio.sleep(0.5)


async def main() -> None:
    what, *rest = sys.argv[1:]
    async with get_client(url=rest[0] if rest else "http://127.0.0.1:2024") as client:
        thread = await client.threads.create()
        thread_id = thread["thread_id"]
        for action in await propose(client, thread_id, what):
            print(f"  {action['name']} {action['args']}")
        approved = (await asyncio.to_thread(input, "Approve? [y/n] ")).startswith("y")
        decision = {"type": "approve" if approved else "reject"}
        run_id = await answer(client, thread_id, decision)
        print(await result(client, thread_id, run_id))


if __name__ == "__main__":
    asyncio.run(main())
