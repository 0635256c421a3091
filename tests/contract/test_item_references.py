"""Items that a client names instead of sending them again, as Vercel's AI SDK does by default."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import openai
import pytest
from openai.types.responses import Response

from tests.conftest import APPS
from tests.servers import Databases, Server

HEARD = "I have heard: "


@pytest.fixture(scope="module")
def listener(
    databases: Databases, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server of a graph that repeats everything it has heard and said."""
    log = tmp_path_factory.mktemp("listener") / "log"
    config = APPS / "compliance" / "langgraph.json"
    running = Server(config, database_url=databases.create(template), log=log)
    yield running.start()
    running.close()


@pytest.fixture
async def client(listener: Server) -> AsyncIterator[openai.AsyncOpenAI]:
    base_url = f"{listener.url}/v1"
    async with openai.AsyncOpenAI(base_url=base_url, api_key="-", max_retries=0) as client:
        yield client


async def say(client: openai.AsyncOpenAI, *items: Any, **more: Any) -> Response:
    response = await client.responses.create(model="compliance", input=list(items), **more)
    assert isinstance(response, Response)
    return response


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def reference(name: str) -> dict[str, str]:
    return {"type": "item_reference", "id": name}


def answer_in(response: Response) -> str:
    [item] = response.output
    assert item.type == "message"
    return item.id


async def test_a_named_item_is_heard_as_if_it_had_been_sent(client: openai.AsyncOpenAI) -> None:
    first = await say(client, user("one"))
    second = await say(client, user("one"), reference(answer_in(first)), user("two"))

    assert second.output_text == f"{HEARD}one {HEARD}one two"


async def test_an_item_of_a_stream_can_be_named_once_its_end_is_seen(
    client: openai.AsyncOpenAI,
) -> None:
    async with client.responses.stream(model="compliance", input="one") as stream:
        first = await stream.get_final_response()
    second = await say(client, user("one"), reference(answer_in(first)), user("two"))

    assert second.output_text == f"{HEARD}one {HEARD}one two"


async def test_a_named_item_that_the_conversation_holds_is_not_heard_twice(
    client: openai.AsyncOpenAI,
) -> None:
    first = await say(client, user("one"))
    items = (user("one"), reference(answer_in(first)), user("two"))
    second = await say(client, *items, previous_response_id=first.id)

    assert second.output_text == f"{HEARD}one {HEARD}one two"


async def test_what_is_named_is_listed_as_input(client: openai.AsyncOpenAI) -> None:
    first = await say(client, user("one"))
    second = await say(client, reference(answer_in(first)), user("two"))

    listed = await client.responses.input_items.list(second.id, order="asc")

    assert [item.to_dict()["role"] for item in listed.data] == ["assistant", "user"]


@pytest.mark.parametrize("gone", ["unknown", "deleted", "not stored", "\x00"])
async def test_a_name_that_stands_for_nothing_is_refused(
    client: openai.AsyncOpenAI, gone: str
) -> None:
    first = await say(client, user("one"), store=gone != "not stored")
    if gone == "deleted":
        await client.responses.delete(first.id)
    name = answer_in(first) if gone in ("deleted", "not stored") else gone

    with pytest.raises(openai.NotFoundError) as missing:
        await say(client, user("one"), reference(name), user("two"))

    assert (missing.value.code, missing.value.param) == ("item_not_found", "input[1].id")
