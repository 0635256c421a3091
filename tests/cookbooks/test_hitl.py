"""A person approves what was proposed before a kill, and gets it in spite of another one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from openai import OpenAI

from cookbooks.hitl import openai_client, sdk_client
from tests.servers import ROOT, Server, until


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Server]:
    config = ROOT / "cookbooks" / "hitl" / "langgraph.json"
    running = Server(
        config,
        database_url=database_url,
        env={"ROLL_OUT_SECONDS": "2"},
        log=tmp_path / "server.log",
    )
    yield running.start()
    running.close()


@pytest.fixture
def openai(server: Server) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", api_key="none") as client:
        yield client


@pytest.fixture
async def sdk(server: Server) -> AsyncIterator[LangGraphClient]:
    client = get_client(url=server.url)
    yield client
    await client.aclose()


def restart(server: Server) -> None:
    server.kill()
    server.start()


def works(server: Server, thread_id: str) -> None:
    """Wait until the long work on a thread has begun."""

    def begun() -> bool:
        state = httpx.get(f"{server.url}/threads/{thread_id}/state").json()
        return bool(state["next"] == ["roll_out"])

    until(begun, "the long work has begun")


def test_the_openai_client_approves_in_a_second_request(server: Server, openai: OpenAI) -> None:
    proposal = openai_client.propose(openai, "version 2")
    (question,) = openai_client.questions(proposal)
    assert (proposal.status, question.name) == ("completed", "roll_out")
    assert question.arguments == '{"what":"version 2"}'
    restart(server)

    begun = openai_client.answer(openai, proposal, approve=True)
    with ThreadPoolExecutor(1) as beside:
        following = beside.submit(openai_client.follow, openai, begun.id)
        works(server, proposal.conversation.id)
        restart(server)
        events = following.result(timeout=60)

    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type for event in events].count("response.resumed") == 1
    last = events[-1]
    assert last.type == "response.completed"
    assert last.response.output_text == "It is rolled out: version 2."


@pytest.mark.filterwarnings("ignore:Request failed, attempting reconnect to Location")
async def test_the_langgraph_client_approves_in_a_second_run(
    server: Server, sdk: LangGraphClient
) -> None:
    (action,) = await sdk_client.propose(sdk, "t-1", "version 2")
    assert (action["name"], action["args"]) == ("roll_out", {"what": "version 2"})
    await asyncio.to_thread(restart, server)

    run_id = await sdk_client.answer(sdk, "t-1", {"type": "approve"})
    told = asyncio.create_task(sdk_client.result(sdk, "t-1", run_id))
    await asyncio.to_thread(works, server, "t-1")
    await asyncio.to_thread(restart, server)

    assert await asyncio.wait_for(told, 60) == "It is rolled out: version 2."


async def test_what_was_proposed_at_one_door_is_answered_at_the_other(
    server: Server, openai: OpenAI, sdk: LangGraphClient
) -> None:
    proposal = await asyncio.to_thread(openai_client.propose, openai, "version 3")
    thread_id = proposal.conversation.id

    no = {"type": "reject", "message": "not on a Friday"}
    run_id = await sdk_client.answer(sdk, thread_id, no)

    assert await sdk_client.result(sdk, thread_id, run_id) == (
        "It is not rolled out: not on a Friday."
    )
