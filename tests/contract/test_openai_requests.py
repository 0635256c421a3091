"""The stock ``openai`` client and the keys of a request: each acts, is echoed or is refused."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import openai
import pytest
from langgraph_sdk import get_client
from pydantic import BaseModel

from tests.contract.stock import names, stock
from tests.servers import Server

Client = openai.AsyncOpenAI


class Weather(BaseModel):
    city: str
    degrees: int


async def shown(client: Client, given: Any = "show", **more: Any) -> dict[str, Any]:
    """What the graph was given of a request."""
    response = await client.responses.create(input=given, **more)
    return dict(json.loads(response.output_text))


# -- what acts ----------------------------------------------------------------------------------


async def test_instructions_hold_for_one_turn_only(openai_client: Client) -> None:
    first = await openai_client.responses.create(input="show", instructions="Be kind.")
    second = await openai_client.responses.create(
        input="show", instructions="Be brief.", previous_response_id=first.id
    )
    third = await openai_client.responses.create(input="show", previous_response_id=second.id)

    assert [each.instructions for each in (first, second, third)] == ["Be kind.", "Be brief.", None]
    assert [json.loads(each.output_text)["system"] for each in (first, second, third)] == [
        ["Be kind."],
        ["Be brief."],
        [],
    ]


async def test_images_and_files_reach_the_graph_as_content_blocks(openai_client: Client) -> None:
    parts: Any = [
        {"type": "input_text", "text": "show"},
        {"type": "input_image", "image_url": "https://a.test/a.png", "detail": "auto"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
        {"type": "input_file", "file_id": "file_1"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,QQ"},
    ]

    given = await shown(openai_client, [{"role": "user", "content": parts}])

    assert given["blocks"] == [
        {"type": "text", "text": "show"},
        {"type": "image", "url": "https://a.test/a.png"},
        {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
        {"type": "file", "file_id": "file_1"},
        {"type": "file", "filename": "a.pdf", "base64": "QQ", "mime_type": "application/pdf"},
    ]


async def test_a_wanted_schema_reaches_the_graph_and_the_answer_is_parsed(
    openai_client: Client,
) -> None:
    parsed = await openai_client.responses.parse(
        model="talk", input="weather?", text_format=Weather
    )

    assert parsed.output_parsed == Weather(city="Graz", degrees=21)
    assert parsed.text is not None
    assert parsed.text.format is not None
    assert parsed.text.format.type == "json_schema"


async def test_what_tunes_a_model_reaches_the_graph_and_is_echoed(openai_client: Client) -> None:
    tuning: dict[str, Any] = {
        "max_output_tokens": 99,
        "metadata": {"user": "42"},
        "parallel_tool_calls": False,
        "reasoning": {"effort": "low"},
        "temperature": 0.5,
        "tool_choice": "none",
        "top_p": 0.25,
        "truncation": "auto",
    }
    response = await openai_client.responses.create(input="show", **tuning)

    assert json.loads(response.output_text)["request"] == tuning
    echoed = response.to_dict()
    reasoning = {"effort": "low", "summary": None}
    assert {key: echoed[key] for key in tuning} == {**tuning, "reasoning": reasoning}


# -- what is kept -------------------------------------------------------------------------------


async def test_the_items_of_a_request_are_listed_in_pages(openai_client: Client) -> None:
    items: Any = [{"role": "user", "content": f"word {n}"} for n in range(5)]
    response = await openai_client.responses.create(input=items)
    listed = openai_client.responses.input_items

    newest = await listed.list(response.id)
    page = await listed.list(response.id, order="asc", limit=2)
    following = await listed.list(response.id, order="asc", limit=2, after=names(page.data)[-1])
    every = [item async for item in listed.list(response.id, order="asc", limit=2)]

    assert [item.to_dict()["content"] for item in page.data] == [
        [{"type": "input_text", "text": "word 0"}],
        [{"type": "input_text", "text": "word 1"}],
    ]
    assert (page.has_more, newest.has_more) == (True, False)
    assert names(every) == list(reversed(names(newest.data)))
    assert names(following.data) == names(every)[2:4]


async def test_a_response_that_is_not_stored_cannot_be_asked_for(openai_client: Client) -> None:
    response = await openai_client.responses.create(input="count", store=False)
    assert (response.status, response.store) == ("completed", False)
    assert response.output_text.strip() == "1 heard"

    with pytest.raises(openai.NotFoundError):
        await openai_client.responses.retrieve(response.id)
    with pytest.raises(openai.NotFoundError):
        await openai_client.responses.input_items.list(response.id)
    with pytest.raises(openai.NotFoundError) as missing:
        await openai_client.responses.create(input="count", previous_response_id=response.id)
    assert missing.value.code == "previous_response_not_found"


async def test_a_key_makes_a_request_that_comes_twice_one_response(openai_client: Client) -> None:
    key = {"Idempotency-Key": uuid4().hex}
    once = await openai_client.responses.create(input="count", extra_headers=key)
    again = await openai_client.responses.create(input="count", extra_headers=key)

    assert again == once
    with pytest.raises(openai.ConflictError) as conflict:
        await openai_client.responses.create(input="hi", extra_headers=key)
    assert conflict.value.code == "idempotency_key_reused"
    assert conflict.value.response.headers["x-should-retry"] == "false"


# -- which graph --------------------------------------------------------------------------------


async def test_the_served_graphs_are_the_models(openai_client: Client) -> None:
    listed = [model.id async for model in openai_client.models.list()]

    assert listed == ["talk", "verse"]
    assert (await openai_client.models.retrieve("verse")).id == "verse"
    with pytest.raises(openai.NotFoundError) as missing:
        await openai_client.models.retrieve("gpt-5")
    assert missing.value.code == "model_not_found"


async def test_any_model_means_the_only_graph(compliance: Server) -> None:
    async with stock(compliance) as client:
        response = await client.responses.create(model="gpt-5", input="hi")

    assert (response.model, response.output_text) == ("gpt-5", "I have heard: hi")


async def test_a_graph_without_messages_takes_and_answers_the_keys_it_names(
    openai_client: Client,
) -> None:
    response = await openai_client.responses.create(model="verse", input="cat")

    assert response.output_text == "O cat!"


async def test_a_graph_without_messages_answers_with_its_values(server: Server) -> None:
    async with get_client(url=server.url) as sdk, stock(server, "") as client:
        thread = await sdk.threads.create()
        run = await sdk.runs.create(thread["thread_id"], "echo", input={"x": 1})
        await sdk.runs.join(thread["thread_id"], run["run_id"])
        response = await client.responses.retrieve(f"resp_{run['run_id'].replace('-', '')}")

    assert response.output_text == '{"x":1,"y":1}'


# -- errors -------------------------------------------------------------------------------------


async def test_every_answer_names_its_request(openai_client: Client) -> None:
    response = await openai_client.responses.create(input="hi")
    with pytest.raises(openai.NotFoundError) as missing:
        await openai_client.responses.retrieve("resp_1")

    assert str(response._request_id).startswith("req_")
    assert str(missing.value.request_id).startswith("req_")


async def test_errors_carry_what_the_client_reads(openai_client: Client) -> None:
    responses = openai_client.responses
    with pytest.raises(openai.BadRequestError) as unknown:
        await responses.create(model="gpt-5", input="hi")
    with pytest.raises(openai.NotFoundError) as missing:
        await responses.create(input="hi", previous_response_id="resp_1")
    with pytest.raises(openai.BadRequestError) as wrong:
        await responses.create(input=7)  # type: ignore[call-overload]

    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
    assert missing.value.code == "previous_response_not_found"
    assert (wrong.value.type, wrong.value.param) == ("invalid_request_error", "input")
