"""The stock ``openai`` client and what it remembers: conversations, their items, forks."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from langgraph_sdk.client import LangGraphClient

from tests.contract.stock import names

Client = openai.AsyncOpenAI


def said(text: str) -> Any:
    return {"type": "message", "role": "user", "content": text}


async def count(client: Client, **more: Any) -> str:
    """One turn: how many questions the graph has heard by now."""
    return (await client.responses.create(input="count", **more)).output_text.strip()


async def texts_in(client: Client, conversation: str, **query: Any) -> list[str]:
    pages = client.conversations.items.list(conversation, order="asc", **query)
    return [item.to_dict()["content"][0]["text"].strip() async for item in pages]  # type: ignore[index,union-attr]


# -- turns --------------------------------------------------------------------------------------


async def test_a_conversation_remembers_its_turns(openai_client: Client) -> None:
    texts = []
    for _ in range(3):
        response = await openai_client.responses.create(input="count", conversation="conv_memory")
        assert response.conversation is not None
        assert response.conversation.id == "conv_memory"
        texts.append(response.output_text.strip())

    assert texts == ["1 heard", "2 heard", "3 heard"]


async def test_a_previous_response_is_continued(openai_client: Client) -> None:
    first = await openai_client.responses.create(input="count")
    second = await openai_client.responses.create(input="count", previous_response_id=first.id)

    assert second.output_text.strip() == "2 heard"
    assert second.previous_response_id == first.id
    assert await count(openai_client) == "1 heard"


async def test_a_response_is_continued_twice_and_neither_hears_the_other(
    openai_client: Client,
) -> None:
    first = await openai_client.responses.create(input="count")
    second = await openai_client.responses.create(input="count", previous_response_id=first.id)
    fork = await openai_client.responses.create(input="count", previous_response_id=first.id)

    assert second.output_text == fork.output_text == "2 heard "
    assert await count(openai_client, previous_response_id=second.id) == "3 heard"
    assert await count(openai_client, previous_response_id=fork.id) == "3 heard"


async def test_an_echoed_history_is_not_heard_twice(openai_client: Client) -> None:
    first = await openai_client.responses.create(input="count", conversation="conv_echo")
    echo: Any = [said("count"), *(i.to_dict() for i in first.output), said("count")]

    inside = await openai_client.responses.create(input=echo, conversation="conv_echo")
    stateless = await openai_client.responses.create(input=echo)

    assert inside.output_text.strip() == stateless.output_text.strip() == "2 heard"


async def test_the_thread_of_a_conversation_is_a_thread_of_the_other_door(
    openai_client: Client, talk_sdk: LangGraphClient
) -> None:
    response = await openai_client.responses.create(input="hi", conversation="conv_doors")

    state: Any = await talk_sdk.threads.get_state("conv_doors")
    run = await talk_sdk.runs.create("conv_doors", "talk", input={"messages": "count"})
    await talk_sdk.runs.join("conv_doors", run["run_id"])
    read = await openai_client.responses.retrieve(f"resp_{run['run_id'].replace('-', '')}")

    assert state["values"]["messages"][-1]["id"] == names(response.output)[0]
    assert read.output_text.strip() == "2 heard"


# -- conversations ------------------------------------------------------------------------------


async def test_a_conversation_is_made_read_renamed_and_deleted(openai_client: Client) -> None:
    conversations = openai_client.conversations
    made = await conversations.create(metadata={"topic": "rain"})
    assert (made.object, made.metadata) == ("conversation", {"topic": "rain"})

    changed = await conversations.update(made.id, metadata={"topic": "sun"})
    read = await conversations.retrieve(made.id)
    gone = await conversations.delete(made.id)

    assert changed == read
    assert (read.id, read.created_at, read.metadata) == (made.id, made.created_at, {"topic": "sun"})
    assert (gone.id, gone.deleted, gone.object) == (made.id, True, "conversation.deleted")
    with pytest.raises(openai.NotFoundError) as missing:
        await conversations.retrieve(made.id)
    assert missing.value.code == "conversation_not_found"


async def test_items_put_into_a_conversation_are_heard_in_the_next_turn(
    openai_client: Client,
) -> None:
    made = await openai_client.conversations.create(items=[said("one")])
    added = await openai_client.conversations.items.create(made.id, items=[said("two")])

    assert [item.to_dict()["content"] for item in added.data] == [
        [{"type": "input_text", "text": "two"}]
    ]
    assert await texts_in(openai_client, made.id) == ["one", "two"]
    assert await count(openai_client, conversation=made.id) == "3 heard"
    assert await texts_in(openai_client, made.id) == ["one", "two", "count", "3 heard"]


async def test_a_deleted_item_is_not_heard_any_more(openai_client: Client) -> None:
    made = await openai_client.conversations.create(items=[said("one"), said("two")])
    await count(openai_client, conversation=made.id)
    items = openai_client.conversations.items
    first, *_ = [item async for item in items.list(made.id, order="asc")]
    [name] = names([first])

    read = await items.retrieve(name, conversation_id=made.id)
    left = await items.delete(name, conversation_id=made.id)

    assert read == first
    assert left.id == made.id
    with pytest.raises(openai.NotFoundError) as missing:
        await items.retrieve(name, conversation_id=made.id)
    assert missing.value.code == "item_not_found"
    assert await count(openai_client, conversation=made.id) == "3 heard"
    assert await texts_in(openai_client, made.id) == ["two", "count", "3 heard", "count", "3 heard"]


async def test_items_are_paged_in_both_orders(openai_client: Client) -> None:
    words = [f"word {number}" for number in range(7)]
    made = await openai_client.conversations.create(items=[said(word) for word in words])
    items = openai_client.conversations.items

    page = await items.list(made.id, order="asc", limit=3)
    following = await items.list(made.id, order="asc", limit=3, after=page.last_id)
    newest = await items.list(made.id)

    assert (len(page.data), page.has_more) == (3, True)
    assert (page.first_id, page.last_id) == (names(page.data)[0], names(page.data)[-1])
    assert names(following.data) == list(reversed(names(newest.data)))[3:6]
    assert await texts_in(openai_client, made.id, limit=2) == words


async def test_a_tools_call_and_result_are_items_of_their_conversation(
    openai_client: Client,
) -> None:
    made = await openai_client.conversations.create()
    await openai_client.responses.create(input="add", conversation=made.id)

    listed = openai_client.conversations.items.list(made.id, order="asc")

    assert [item.type async for item in listed] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
    ]
