"""The stock ``openai`` client: every way to start, to follow, to read again and to end."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import openai
import pytest
from langgraph_sdk.client import LangGraphClient

from tests.contract.stock import ended, names
from tests.servers import Server

Client = openai.AsyncOpenAI


# -- the four modes -----------------------------------------------------------------------------


async def test_a_plain_response(openai_client: Client) -> None:
    response = await openai_client.responses.create(model="talk", input="hi")

    assert (response.status, response.model) == ("completed", "talk")
    assert response.output_text.strip() == "You said: hi"
    assert response.usage is not None
    assert response.usage.total_tokens == 5
    assert await openai_client.responses.retrieve(response.id) == response


async def test_a_streamed_response(openai_client: Client) -> None:
    events = [e async for e in await openai_client.responses.create(input="hi", stream=True)]

    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [events[0].type, events[-1].type] == ["response.created", "response.completed"]
    deltas = [e.delta for e in events if e.type == "response.output_text.delta"]
    assert len(deltas) > 1
    assert isinstance(last := events[-1].to_dict()["response"], dict)
    assert last["output"][0]["content"][0]["text"] == "".join(deltas)


async def test_a_background_response(openai_client: Client) -> None:
    queued = await openai_client.responses.create(input="hi", background=True)
    assert queued.status in ("queued", "in_progress")
    assert queued.output == []

    response = await ended(openai_client, queued)

    assert (response.id, response.status, response.background) == (queued.id, "completed", True)


async def test_a_streamed_background_response(openai_client: Client) -> None:
    stream = await openai_client.responses.create(input="hi", background=True, stream=True)
    events = [event.type async for event in stream]

    assert events[:3] == ["response.created", "response.queued", "response.in_progress"]
    assert events[-1] == "response.completed"


def test_the_client_that_blocks_is_served_alike(talk: Server) -> None:
    with openai.OpenAI(base_url=f"{talk.url}/v1", api_key="-", max_retries=0) as client:
        plain = client.responses.create(input="hi")
        with client.responses.create(input="hi", stream=True) as stream:
            last = [event.type for event in stream][-1]
        with client.responses.stream(model="talk", input="hi") as helped:
            built = helped.get_final_response()
        queued = client.responses.create(input="slow", background=True)
        cancelled = client.responses.cancel(queued.id)

    assert plain.output_text == built.output_text == "You said: hi "
    assert (last, cancelled.status) == ("response.completed", "cancelled")


@pytest.mark.parametrize("question", ["hi there", "think", "add", "cite", "refuse", "pay"])
async def test_the_stream_helper_builds_the_response_that_is_stored(
    openai_client: Client, question: str
) -> None:
    async with openai_client.responses.stream(model="talk", input=question) as stream:
        built = await stream.get_final_response()

    stored = await openai_client.responses.retrieve(built.id)
    assert built.output_text == stored.output_text
    assert names(built.output) == names(stored.output)


# -- reading again ------------------------------------------------------------------------------


async def test_a_finished_stream_is_read_again_from_any_event(openai_client: Client) -> None:
    stream = await openai_client.responses.create(input="hi", background=True, stream=True)
    live = [event async for event in stream]
    name = live[0].to_dict()["response"]["id"]  # type: ignore[index]

    again = [e async for e in await openai_client.responses.retrieve(name, stream=True)]
    for cursor in (0, 2, len(live) - 1, 999):
        rest = await openai_client.responses.retrieve(name, stream=True, starting_after=cursor)
        assert [event async for event in rest] == live[cursor + 1 :]
    assert again == live


async def test_the_helper_rebuilds_a_response_behind_a_cursor(openai_client: Client) -> None:
    response = await openai_client.responses.create(input="hi", background=True)

    async with openai_client.responses.stream(response_id=response.id, starting_after=3) as stream:
        events = [event async for event in stream]
        built = await stream.get_final_response()

    assert events[0].sequence_number == 4
    assert built.output_text.strip() == "You said: hi"


async def test_the_helper_needs_no_cursor_to_rebuild_a_response_that_has_ended(
    openai_client: Client,
) -> None:
    """openai-node#1983, #1984: without a cursor the helper needs the whole stream."""
    response = await openai_client.responses.create(input="think", background=True)
    stored = await ended(openai_client, response)

    async with openai_client.responses.stream(response_id=response.id) as stream:
        events = [event.type async for event in stream]
        built = await stream.get_final_response()

    assert events[0] == "response.created"
    assert (names(built.output), built.usage) == (names(stored.output), stored.usage)


async def test_a_reader_that_leaves_does_not_stop_a_response(
    openai_client: Client, talk_sdk: LangGraphClient
) -> None:
    stream = await openai_client.responses.create(input="hi", stream=True)
    first = await anext(aiter(stream))
    await stream.close()
    assert first.type == "response.created"
    name = first.response.id

    with pytest.raises(openai.BadRequestError, match="background=true"):
        await openai_client.responses.retrieve(name, stream=True)
    await talk_sdk.runs.join(name, str(UUID(name.removeprefix("resp_"))))
    assert (await openai_client.responses.retrieve(name)).status == "completed"


# -- other endings ------------------------------------------------------------------------------


async def test_a_cancelled_response_stays_cancelled(openai_client: Client) -> None:
    stream = await openai_client.responses.create(input="slow", background=True, stream=True)
    name, last = "", ""
    async for event in stream:
        last = event.type
        if event.type == "response.created":
            name = event.response.id
        if event.type == "response.output_text.delta" and event.delta:
            first = await openai_client.responses.cancel(name)

    assert last == "response.incomplete"
    assert first.status == "cancelled"
    assert await openai_client.responses.cancel(name) == first
    assert await openai_client.responses.retrieve(name) == first


async def test_what_cannot_be_cancelled_says_why(openai_client: Client) -> None:
    foreground = await openai_client.responses.create(input="hi")
    queued = await openai_client.responses.create(input="hi", background=True)
    background = await ended(openai_client, queued)

    with pytest.raises(openai.BadRequestError, match="Cannot cancel a synchronous response"):
        await openai_client.responses.cancel(foreground.id)
    with pytest.raises(openai.BadRequestError, match="Cannot cancel a completed response"):
        await openai_client.responses.cancel(background.id)


async def test_a_deleted_response_is_not_found(openai_client: Client) -> None:
    response = await openai_client.responses.create(input="hi")

    await openai_client.responses.delete(response.id)

    with pytest.raises(openai.NotFoundError) as missing:
        await openai_client.responses.retrieve(response.id)
    assert missing.value.code == "response_not_found"


async def test_a_running_response_is_not_deleted_before_it_is_cancelled(
    openai_client: Client,
) -> None:
    running = await openai_client.responses.create(input="slow", background=True)

    with pytest.raises(openai.BadRequestError, match="cancel it or wait"):
        await openai_client.responses.delete(running.id)
    await openai_client.responses.cancel(running.id)
    await openai_client.responses.delete(running.id)

    with pytest.raises(openai.NotFoundError):
        await openai_client.responses.retrieve(running.id)


async def test_a_failed_run_is_a_failed_response(openai_client: Client) -> None:
    response = await openai_client.responses.create(input="fail")
    stream: Any = await openai_client.responses.create(input="fail", stream=True)
    events = [event.type async for event in stream]

    assert response.status == "failed"
    assert response.error is not None
    assert (response.error.code, response.error.message) == ("server_error", "boom")
    assert events[-1] == "response.failed"


async def test_a_run_that_hits_its_recursion_limit_is_incomplete(openai_client: Client) -> None:
    response = await openai_client.responses.create(input="loop")

    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.to_dict() == {"reason": "recursion_limit"}
    assert response.error is None
