"""The stock ``openai`` client against a real server: nothing but the base URL is ours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import openai
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from openai.types.responses import Response

from tests.conftest import APPS
from tests.servers import Databases, Server

PAY = {"type": "mcp_approval_response", "approve": True}
WEATHER = {"type": "function", "name": "weather", "parameters": {}, "strict": False}


@pytest.fixture(scope="module")
def talk(
    databases: Databases, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server of one graph that answers by what it is asked."""
    log = tmp_path_factory.mktemp("talk") / "log"
    config = APPS / "talk" / "langgraph.json"
    running = Server(config, database_url=databases.create(template), log=log)
    yield running.start()
    running.close()


def stock(server: Server, prefix: str = "/v1") -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{server.url}{prefix}", api_key="-", max_retries=0)


@pytest.fixture
async def client(talk: Server) -> AsyncIterator[openai.AsyncOpenAI]:
    async with stock(talk) as client:
        yield client


@pytest.fixture
async def basic(server: Server) -> AsyncIterator[openai.AsyncOpenAI]:
    """A client of the server with many graphs, at the bare prefix."""
    async with stock(server, "") as client:
        yield client


@pytest.fixture
async def sdk(talk: Server) -> AsyncIterator[LangGraphClient]:
    """The other door of the same server."""
    async with get_client(url=talk.url) as sdk:
        yield sdk


async def ended(client: openai.AsyncOpenAI, response: Response) -> Response:
    """The response once its run has ended: its stream is followed to the end."""
    async for _ in await client.responses.retrieve(response.id, stream=True):
        pass
    return await client.responses.retrieve(response.id)


# -- the four modes -----------------------------------------------------------------------------


async def test_a_plain_response(client: openai.AsyncOpenAI) -> None:
    response = await client.responses.create(model="gpt-5", input="hi")

    assert (response.status, response.model) == ("completed", "gpt-5")
    assert response.output_text.strip() == "You said: hi"
    assert response.usage is not None
    assert response.usage.total_tokens == 5
    assert await client.responses.retrieve(response.id) == response


async def test_a_streamed_response(client: openai.AsyncOpenAI) -> None:
    events = [e async for e in await client.responses.create(input="hi", stream=True)]

    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [events[0].type, events[-1].type] == ["response.created", "response.completed"]
    deltas = [e.delta for e in events if e.type == "response.output_text.delta"]
    assert len(deltas) > 1
    assert isinstance(last := events[-1].to_dict()["response"], dict)
    assert last["output"][0]["content"][0]["text"] == "".join(deltas)


async def test_a_background_response(client: openai.AsyncOpenAI) -> None:
    queued = await client.responses.create(input="hi", background=True)
    assert queued.status in ("queued", "in_progress")
    assert queued.output == []

    response = await ended(client, queued)

    assert (response.id, response.status, response.background) == (queued.id, "completed", True)


async def test_a_streamed_background_response(client: openai.AsyncOpenAI) -> None:
    stream = await client.responses.create(input="hi", background=True, stream=True)
    events = [event.type async for event in stream]

    assert events[:3] == ["response.created", "response.queued", "response.in_progress"]
    assert events[-1] == "response.completed"


async def test_the_stream_helper_builds_the_response_that_is_stored(
    client: openai.AsyncOpenAI,
) -> None:
    async with client.responses.stream(model="talk", input="hi there") as stream:
        built = await stream.get_final_response()

    stored = await client.responses.retrieve(built.id)
    assert built.output_text == stored.output_text
    assert [item.to_dict()["id"] for item in built.output] == [
        item.to_dict()["id"] for item in stored.output
    ]


# -- reading again ------------------------------------------------------------------------------


async def test_a_finished_stream_is_read_again_from_any_event(client: openai.AsyncOpenAI) -> None:
    stream = await client.responses.create(input="hi", background=True, stream=True)
    live = [event async for event in stream]
    name = live[0].to_dict()["response"]["id"]  # type: ignore[index]

    again = [e async for e in await client.responses.retrieve(name, stream=True)]
    for cursor in (0, 2, len(live) - 1, 999):
        rest = await client.responses.retrieve(name, stream=True, starting_after=cursor)
        assert [event async for event in rest] == live[cursor + 1 :]
    assert again == live


async def test_the_helper_rebuilds_a_response_behind_a_cursor(client: openai.AsyncOpenAI) -> None:
    response = await client.responses.create(input="hi", background=True)

    async with client.responses.stream(response_id=response.id, starting_after=3) as stream:
        events = [event async for event in stream]
        built = await stream.get_final_response()

    assert events[0].sequence_number == 4
    assert built.output_text.strip() == "You said: hi"


async def test_a_reader_that_leaves_does_not_stop_a_response(
    client: openai.AsyncOpenAI, sdk: LangGraphClient
) -> None:
    stream = await client.responses.create(input="hi", stream=True)
    first = await anext(aiter(stream))
    await stream.close()
    assert first.type == "response.created"
    name = first.response.id

    with pytest.raises(openai.BadRequestError, match="background=true"):
        await client.responses.retrieve(name, stream=True)
    await sdk.runs.join(name, str(UUID(name.removeprefix("resp_"))))
    assert (await client.responses.retrieve(name)).status == "completed"


# -- cancel and delete --------------------------------------------------------------------------


async def test_a_cancelled_response_stays_cancelled(client: openai.AsyncOpenAI) -> None:
    stream = await client.responses.create(input="slow", background=True, stream=True)
    name, last = "", ""
    async for event in stream:
        last = event.type
        if event.type == "response.created":
            name = event.response.id
        if event.type == "response.output_text.delta" and event.delta:
            first = await client.responses.cancel(name)

    assert last == "response.incomplete"
    assert first.status == "cancelled"
    assert await client.responses.cancel(name) == first
    assert await client.responses.retrieve(name) == first


async def test_what_cannot_be_cancelled_says_why(client: openai.AsyncOpenAI) -> None:
    foreground = await client.responses.create(input="hi")
    background = await ended(client, await client.responses.create(input="hi", background=True))

    with pytest.raises(openai.BadRequestError, match="Cannot cancel a synchronous response"):
        await client.responses.cancel(foreground.id)
    with pytest.raises(openai.BadRequestError, match="Cannot cancel a completed response"):
        await client.responses.cancel(background.id)


async def test_a_deleted_response_is_not_found(client: openai.AsyncOpenAI) -> None:
    response = await client.responses.create(input="hi")

    await client.responses.delete(response.id)

    with pytest.raises(openai.NotFoundError) as missing:
        await client.responses.retrieve(response.id)
    assert missing.value.code == "response_not_found"


# -- conversations ------------------------------------------------------------------------------


async def test_a_conversation_remembers_its_turns(client: openai.AsyncOpenAI) -> None:
    texts = []
    for _ in range(3):
        response = await client.responses.create(input="count", conversation="conv_memory")
        assert response.conversation is not None
        assert response.conversation.id == "conv_memory"
        texts.append(response.output_text.strip())

    assert texts == ["1 heard", "2 heard", "3 heard"]


async def test_a_previous_response_is_continued(client: openai.AsyncOpenAI) -> None:
    first = await client.responses.create(input="count")
    second = await client.responses.create(input="count", previous_response_id=first.id)
    fresh = await client.responses.create(input="count")

    assert second.output_text.strip() == "2 heard"
    assert second.previous_response_id == first.id
    assert fresh.output_text.strip() == "1 heard"


async def test_an_echoed_history_is_not_heard_twice(client: openai.AsyncOpenAI) -> None:
    first = await client.responses.create(input="count", conversation="conv_echo")
    echo: Any = [{"role": "user", "content": "count"}, *(i.to_dict() for i in first.output)]
    echo.append({"role": "user", "content": "count"})

    inside = await client.responses.create(input=echo, conversation="conv_echo")
    stateless = await client.responses.create(input=echo)

    assert inside.output_text.strip() == stateless.output_text.strip() == "2 heard"


async def test_the_thread_of_a_conversation_is_a_thread_of_the_other_door(
    client: openai.AsyncOpenAI, sdk: LangGraphClient
) -> None:
    response = await client.responses.create(input="hi", conversation="conv_doors")

    state: Any = await sdk.threads.get_state("conv_doors")
    run = await sdk.runs.create("conv_doors", "talk", input={"messages": "count"})
    await sdk.runs.join("conv_doors", run["run_id"])
    read = await client.responses.retrieve(f"resp_{run['run_id'].replace('-', '')}")

    assert state["values"]["messages"][-1]["id"] == response.output[0].to_dict()["id"]
    assert read.output_text.strip() == "2 heard"


# -- tools and people ---------------------------------------------------------------------------


async def test_a_tool_of_the_graph_is_shown_and_not_the_clients_to_run(
    basic: openai.AsyncOpenAI,
) -> None:
    plain = await basic.responses.create(model="agent", input="add")
    pairs = await basic.responses.create(
        model="agent", input="add", extra_body={"tool_items": "function_call"}
    )

    assert [item.type for item in plain.output] == ["mcp_call", "message"]
    assert [item.type for item in pairs.output] == [
        "function_call",
        "function_call_output",
        "message",
    ]
    assert plain.output_text == pairs.output_text == "The answer is 5"


async def test_a_tool_of_the_client_is_called_and_answered(client: openai.AsyncOpenAI) -> None:
    tools: Any = [WEATHER]
    asked = await client.responses.create(input="weather?", tools=tools)
    [call] = asked.output
    assert call.type == "function_call"
    assert (call.name, call.arguments) == ("weather", '{"city":"Graz"}')

    answered = await client.responses.create(
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}],
        previous_response_id=asked.id,
        tools=tools,
    )

    assert answered.output_text.strip() == "sunny"


@pytest.mark.parametrize(("approve", "told"), [(True, "paid"), (False, "not paid")])
async def test_a_person_answers_a_question_of_the_graph(
    client: openai.AsyncOpenAI, approve: bool, told: str
) -> None:
    asked = await client.responses.create(input="pay")
    assert asked.status == "completed"
    question = asked.output[-1]
    assert question.type == "mcp_approval_request"

    answer: Any = {**PAY, "approval_request_id": question.id, "approve": approve}
    answered = await client.responses.create(input=[answer], previous_response_id=asked.id)

    paid = answered.output[0]
    assert paid.type == "mcp_call"
    assert (paid.arguments, paid.output) == ('{"amount":7}', told)
    assert answered.output_text.strip() == told


async def kinds_in(sdk: LangGraphClient, conversation: str) -> list[str]:
    """The types of the messages that a thread holds."""
    state: Any = await sdk.threads.get_state(conversation)
    return [message["type"] for message in state["values"]["messages"]]


async def test_a_turn_after_a_cancelled_tool_finds_every_call_answered(
    client: openai.AsyncOpenAI, sdk: LangGraphClient
) -> None:
    stream = await client.responses.create(
        input="look", conversation="conv_cut", background=True, stream=True
    )
    name = ""
    async for event in stream:
        if event.type == "response.created":
            name = event.response.id
        if event.type == "response.mcp_call_arguments.done":
            cancelled = await client.responses.cancel(name)
    turn = await client.responses.create(input="count", conversation="conv_cut")

    assert [item.to_dict()["status"] for item in cancelled.output] == ["incomplete"]
    assert turn.output_text.strip() == "2 heard"
    assert await kinds_in(sdk, "conv_cut") == ["human", "ai", "tool", "human", "ai"]


async def test_a_plain_turn_instead_of_an_answer_finds_every_call_answered(
    client: openai.AsyncOpenAI, sdk: LangGraphClient
) -> None:
    await client.responses.create(input="pay", conversation="conv_ignored")
    turn = await client.responses.create(input="count", conversation="conv_ignored")

    assert turn.output_text.strip() == "2 heard"
    assert await kinds_in(sdk, "conv_ignored") == ["human", "ai", "tool", "human", "ai"]


# -- errors -------------------------------------------------------------------------------------


async def test_a_failed_run_is_a_failed_response(client: openai.AsyncOpenAI) -> None:
    response = await client.responses.create(input="fail")
    events = [e.type async for e in await client.responses.create(input="fail", stream=True)]

    assert response.status == "failed"
    assert response.error is not None
    assert (response.error.code, response.error.message) == ("server_error", "boom")
    assert events[-1] == "response.failed"


async def test_errors_carry_what_the_client_reads(basic: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as unknown:
        await basic.responses.create(model="gpt-5", input="hi")
    with pytest.raises(openai.NotFoundError) as missing:
        await basic.responses.create(model="chat", input="hi", previous_response_id="resp_1")
    with pytest.raises(openai.BadRequestError) as wrong:
        await basic.responses.create(model="chat", input=7)  # type: ignore[call-overload]

    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
    assert missing.value.code == "previous_response_not_found"
    assert (wrong.value.type, wrong.value.param) == ("invalid_request_error", "input")


async def test_a_graph_without_messages_answers_with_its_values(
    server: Server, basic: openai.AsyncOpenAI
) -> None:
    async with get_client(url=server.url) as sdk:
        thread = await sdk.threads.create()
        run = await sdk.runs.create(thread["thread_id"], "echo", input={"x": 1})
        await sdk.runs.join(thread["thread_id"], run["run_id"])

    response = await basic.responses.retrieve(f"resp_{run['run_id'].replace('-', '')}")

    assert response.output_text == '{"x":1,"y":1}'
