"""Several runs on one thread through the agent streaming protocol: turns, questions, jams."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from tests import servers
from tests.conftest import MakeServer
from tests.contract.protocol import command, data_of, phase, start, until
from tests.contract.test_protocol_v3 import collect
from tests.servers import Server

PAUSES = [0.0, 0.7]
"""Seconds between entering a stream and starting its run; servers wait half a second there."""

TURN = {"tag": "x", "delay": 0.05}
"""A turn of ``slow``: five more steps, each of which takes a while."""


# -- turns ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("pause", PAUSES)
@pytest.mark.parametrize("explicit", [True, False], ids=["given thread", "new thread"])
async def test_the_output_of_a_turn_is_never_that_of_the_turn_before(
    client: LangGraphClient, thread_id: str, pause: float, explicit: bool
) -> None:
    """aegra#353, #435, #436, langchain-ai/langgraph#7825: streams of threads were not served."""
    current = thread_id if explicit else None
    for turn in (1, 2, 3):
        async with client.threads.stream(current, assistant_id="slow") as thread:
            current = thread.thread_id
            await asyncio.sleep(pause)
            await thread.run.start(input=TURN)
            output = await asyncio.wait_for(thread.output, 10)
            assert len(output["steps"]) == 5 * turn


@pytest.mark.parametrize("pause", PAUSES)
async def test_the_output_of_a_turn_is_never_that_of_another_door(
    client: LangGraphClient, thread_id: str, pause: float
) -> None:
    await client.runs.wait(thread_id, "slow", input={"tag": "x"})
    async with client.threads.stream(thread_id, assistant_id="slow") as thread:
        await asyncio.sleep(pause)
        await thread.run.start(input=TURN)
        output = await asyncio.wait_for(thread.output, 10)
        assert len(output["steps"]) == 10


async def test_a_turn_is_its_own_at_whichever_server_it_is_asked_for(
    server: Server, make_server: MakeServer
) -> None:
    """The second server starts behind the first turn: nobody in it has heard of that."""
    current, urls = None, [server.url]
    for turn in (1, 2, 3):
        async with (
            get_client(url=urls[turn % len(urls)]) as client,
            client.threads.stream(current, assistant_id="slow") as thread,
        ):
            current = thread.thread_id
            await asyncio.sleep(PAUSES[1])
            await thread.run.start(input=TURN)
            output = await asyncio.wait_for(thread.output, 10)
        assert len(output["steps"]) == 5 * turn
        if turn == 1:
            urls.append(make_server("basic", database_url=server.database_url).start().url)


@pytest.mark.parametrize("ask", ["join", "stream", "stream?last_event_id=-1"])
async def test_a_turn_behind_one_that_was_followed_by_its_run_is_its_own(
    client: LangGraphClient, http: httpx.AsyncClient, thread_id: str, ask: str
) -> None:
    run_id = await start(http, thread_id, "slow", TURN)
    assert (await http.get(f"/threads/{thread_id}/runs/{run_id}/{ask}")).is_success
    async with client.threads.stream(thread_id, assistant_id="slow") as thread:
        await asyncio.sleep(PAUSES[1])
        await thread.run.start(input=TURN)
        assert len((await asyncio.wait_for(thread.output, 10))["steps"]) == 10


async def test_who_subscribes_behind_the_end_of_its_run_hears_of_it_once(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    run_id = await start(http, thread_id, "slow", {"tag": "x", "delay": 0})
    await asyncio.to_thread(
        servers.until,
        lambda: httpx.get(f"{http.base_url}/threads/{thread_id}").json()["status"] == "idle",
        "the run is over",
    )
    watcher = {"channels": ["lifecycle", "input"]}
    [*_, last] = await until(http, thread_id, **watcher)
    assert run_id in last["event_id"]
    waiting = asyncio.create_task(until(http, thread_id, **watcher))
    await asyncio.sleep(PAUSES[1])
    second = await start(http, thread_id, "slow", {"tag": "x", "delay": 0})
    assert second in (await waiting)[-1]["event_id"]


@pytest.mark.parametrize("pause", PAUSES)
async def test_every_turn_has_its_own_messages(
    client: LangGraphClient, thread_id: str, pause: float
) -> None:
    hello = {"messages": [{"role": "user", "content": "hello"}]}
    seen = []
    for turn in (1, 2, 3):
        async with client.threads.stream(thread_id, assistant_id="chat") as thread:
            await asyncio.sleep(pause)
            await thread.run.start(input=hello)
            [message] = await collect(thread.messages)
            seen.append(message.message_id)
            assert len((await thread.output)["messages"]) == 2 * turn
    assert len(set(seen)) == 3


async def test_the_synchronous_client_has_turns_too(
    sync_client: SyncLangGraphClient, thread_id: str
) -> None:
    def take(turn: int) -> None:
        with sync_client.threads.stream(thread_id, assistant_id="slow") as thread:
            thread.run.start(input=TURN)
            assert len(thread.output["steps"]) == 5 * turn

    for turn in (1, 2):
        await asyncio.to_thread(take, turn)


async def test_a_turn_after_one_that_failed(client: LangGraphClient, thread_id: str) -> None:
    async with client.threads.stream(thread_id, assistant_id="slow") as thread:
        await thread.run.start(input={"fail_at": 2})
        with pytest.raises(RuntimeError, match="boom at 2"):
            await asyncio.wait_for(thread.output, 10)
    async with client.threads.stream(thread_id, assistant_id="slow") as thread:
        await thread.run.start(input={**TURN, "fail_at": 0})
        output = await asyncio.wait_for(thread.output, 10)
        assert output["steps"][-1] == "x5"


async def test_one_stream_can_start_several_runs(client: LangGraphClient, thread_id: str) -> None:
    async with client.threads.stream(thread_id, assistant_id="slow") as thread:
        for turn in (1, 2):
            await thread.run.start(input=TURN)
            values = await collect(thread.values)
            assert len(values[-1]["steps"]) == 5 * turn


# -- questions ------------------------------------------------------------------------------------


async def until_asked(thread: Any, questions: int) -> None:
    def asked() -> bool:
        return len(thread.interrupts) >= questions

    await asyncio.to_thread(servers.until, asked, "the questions are asked")


async def test_a_question_ends_the_projections_and_its_answer_the_run(
    client: LangGraphClient,
) -> None:
    async with client.threads.stream(assistant_id="approval") as thread:
        await thread.run.start(input={"request": "pay"})
        await collect(thread.values)
        assert thread.interrupted
        [asked] = thread.interrupts
        assert asked["value"] == {"question": "approve?", "request": "pay"}
        assert asked["namespace"] == []
        await thread.run.respond("yes")
        output = await asyncio.wait_for(thread.output, 10)
        assert output["log"] == ["prepared", "decided:yes", "finished"]
        assert not thread.interrupted


async def test_two_questions_are_answered_one_by_one(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="two_questions") as thread:
        await thread.run.start(input={"answers": []})
        await collect(thread.values)
        await until_asked(thread, 2)
        ids = {asked["value"]: asked["interrupt_id"] for asked in thread.interrupts}
        assert ids.keys() == {"left", "right"}
        await thread.run.respond("l", interrupt_id=ids["left"])
        await thread.run.respond("r", interrupt_id=ids["right"])
        output = await asyncio.wait_for(thread.output, 10)
        assert sorted(output["answers"]) == ["left:l", "right:r"]


async def test_two_questions_are_answered_at_once(http: httpx.AsyncClient, thread_id: str) -> None:
    await start(http, thread_id, "two_questions", {"answers": []})
    asked = data_of(await until(http, thread_id), "input.requested")
    responses = [{"interrupt_id": q["interrupt_id"], "response": q["payload"][0]} for q in asked]
    told = await command(http, thread_id, "input.respond", responses=responses)
    since = told["meta"]["applied_through_seq"]
    rest = await until(http, thread_id, since=since)
    assert phase(rest[-1]) == "completed"
    assert sorted(data_of(rest, "values")[-1]["answers"]) == ["left:l", "right:r"]


async def test_an_answer_may_edit_the_state_and_jump(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    await start(http, thread_id, "approval", {"request": "pay"})
    [asked] = data_of(await until(http, thread_id), "input.requested")
    told = await command(
        http,
        thread_id,
        "input.respond",
        interrupt_id=asked["interrupt_id"],
        response="no",
        update={"request": "other"},
    )
    rest = await until(http, thread_id, since=told["meta"]["applied_through_seq"])
    values = data_of(rest, "values")[-1]
    assert (values["request"], values["decision"]) == ("other", "no")


@pytest.mark.parametrize("waits", [True, False], ids=["asked", "not asked"])
async def test_an_answer_to_what_nobody_asks_is_refused(
    http: httpx.AsyncClient, thread_id: str, waits: bool
) -> None:
    await start(http, thread_id, "approval" if waits else "echo", {})
    await until(http, thread_id)
    told = await command(http, thread_id, "input.respond", interrupt_id="0" * 32, response=1)
    assert (told["type"], told["error"]) == ("error", "no_such_interrupt")


async def test_a_question_in_a_subgraph_tells_where_it_was_asked(
    http: httpx.AsyncClient, thread_id: str
) -> None:
    await start(http, thread_id, "inside", {"q": "who?"})
    told = await until(http, thread_id)
    [asked] = [event for event in told if event["method"] == "input.requested"]
    assert [part.partition(":")[0] for part in asked["params"]["namespace"]] == ["person"]
    question = asked["params"]["data"]
    assert question["payload"] == question["value"] == {"question": "who?"}
    answer = {"interrupt_id": question["interrupt_id"], "response": "me"}
    told = await command(http, thread_id, "input.respond", **answer)
    rest = await until(http, thread_id, since=told["meta"]["applied_through_seq"])
    assert data_of(rest, "values")[-1] == {"q": "who?", "a": "me!"}


async def test_a_run_that_starts_where_a_question_is_open_answers_it(
    client: LangGraphClient, thread_id: str
) -> None:
    async with client.threads.stream(thread_id, assistant_id="approval") as thread:
        await thread.run.start(input={"request": "pay"})
        await collect(thread.values)
    async with client.threads.stream(thread_id, assistant_id="approval") as thread:
        await thread.run.start(input="fine")
        output = await asyncio.wait_for(thread.output, 10)
        assert output["decision"] == "fine"


async def test_a_question_that_is_still_open_can_be_answered_by_a_new_stream(
    client: LangGraphClient, thread_id: str
) -> None:
    await client.runs.wait(thread_id, "approval", input={"request": "pay"})
    async with client.threads.stream(thread_id, assistant_id="approval") as thread:
        await until_asked(thread, 1)
        await thread.run.respond("late")
        assert (await asyncio.wait_for(thread.output, 10))["decision"] == "late"


# -- jams -----------------------------------------------------------------------------------------

LONG: dict[str, Any] = {"tag": "a", "delay": 0.2}
AFTER = {"enqueue": "completed", "interrupt": "interrupted", "rollback": "interrupted"}
"""What becomes of the run in front, by the strategy of the one behind it."""


@pytest.mark.parametrize("strategy", AFTER)
@pytest.mark.parametrize("key", ["multitask_strategy", "multitaskStrategy"])
async def test_what_a_second_run_does_to_the_first(
    http: httpx.AsyncClient, thread_id: str, strategy: str, key: str
) -> None:
    given: Any = {"assistant_id": "slow", "input": LONG}
    await command(http, thread_id, "run.start", **given)
    await until(http, thread_id, lambda event: event["method"] == "custom")
    both = asyncio.create_task(until(http, thread_id))
    given = {"assistant_id": "slow", "input": {"tag": "b"}, key: strategy}
    told = await command(http, thread_id, "run.start", **given)
    second = await until(http, thread_id, since=told["meta"]["applied_through_seq"])
    assert phase((await both)[-1]) == AFTER[strategy]
    assert [phase(event) for event in second if phase(event)] == ["running", "completed"]
    assert all(told["result"]["run_id"] in event["event_id"] for event in second)


async def test_a_second_run_may_be_refused(http: httpx.AsyncClient, thread_id: str) -> None:
    await start(http, thread_id, "slow", LONG)
    given: Any = {"assistant_id": "slow", "input": {}, "multitask_strategy": "reject"}
    told = await command(http, thread_id, "run.start", **given)
    assert told["type"] == "error"
    assert phase((await until(http, thread_id))[-1]) == "completed"
