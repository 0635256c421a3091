"""What is kept of a response and its request, and what graphs without a conversation answer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.people import Body, People, frames, place, text, user


def listed(people: People, response: Body, **query: Any) -> Body:
    answer = people.http.get(f"/responses/{response['id']}/input_items", params=query)
    assert answer.status_code == 200, answer.text
    page: Body = answer.json()
    return page


# -- store: false ---------------------------------------------------------------------------------


def test_a_response_that_is_not_stored_cannot_be_asked_for(people: People) -> None:
    told = people.ask("chat", "hi", store=False)

    one = f"/responses/{told['id']}"
    for method, path in (
        ("GET", one),
        ("GET", f"{one}?stream=true"),
        ("GET", f"{one}/input_items"),
        ("POST", f"{one}/cancel"),
        ("DELETE", one),
    ):
        answer = people.http.request(method, path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "response_not_found")
    error = people.refused("chat", "hi", previous_response_id=told["id"])
    assert (error["status"], error["code"]) == (404, "previous_response_not_found")
    assert (told["store"], text(told)) == (False, "hi")


def test_a_response_that_is_not_stored_leaves_no_thread_in_sight(people: People) -> None:
    threads = people.threads()

    people.ask("chat", "hi", store=False)

    assert people.threads() == threads


def test_a_conversation_remembers_a_turn_that_is_not_stored(people: People) -> None:
    first = people.ask("chat", "one")

    people.ask("chat", "two", conversation=place(first), store=False)

    assert text(people.ask("chat", "three", conversation=place(first))) == "one | two | three"


# -- input items ----------------------------------------------------------------------------------


def test_input_items_are_what_was_sent_with_ids(people: People) -> None:
    told = people.ask("chat", [user("a"), {"role": "assistant", "content": "b"}, user("c")])

    page = listed(people, told, order="asc")

    assert [item["content"][0]["text"] for item in page["data"]] == ["a", "b", "c"]
    assert [item["role"] for item in page["data"]] == ["user", "assistant", "user"]
    assert len({item["id"] for item in page["data"]}) == 3
    assert (page["object"], page["has_more"]) == ("list", False)
    assert (page["first_id"], page["last_id"]) == (page["data"][0]["id"], page["data"][2]["id"])


def test_input_items_are_paged_newest_first(people: People) -> None:
    told = people.ask("chat", [user(f"n{n}") for n in range(45)])

    pages = [listed(people, told)]
    while pages[-1]["has_more"]:
        pages.append(listed(people, told, after=pages[-1]["last_id"]))

    assert [len(page["data"]) for page in pages] == [20, 20, 5]
    seen = [item["content"][0]["text"] for page in pages for item in page["data"]]
    assert seen == [f"n{n}" for n in reversed(range(45))]


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"order": "up"}, "order"),
        ({"after": "nobody"}, "after"),
    ],
)
def test_a_page_that_cannot_be_is_refused(
    people: People, query: dict[str, Any], param: str
) -> None:
    told = people.ask("chat", "hi")
    conversation = place(told)

    for path in (f"/responses/{told['id']}/input_items", f"/conversations/{conversation}/items"):
        answer = people.http.get(path, params=query)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


def test_the_stock_client_reads_all_pages(people: People) -> None:
    told = people.ask("chat", [user(f"n{n}") for n in range(45)])

    with people.stock() as client:
        assert len(list(client.responses.input_items.list(told["id"], limit=10))) == 45


# -- models ---------------------------------------------------------------------------------------


def test_models_are_the_served_graphs(people: People) -> None:
    names = ["actions", "both", "buyer", "chat", "keyed", "loop", "payer", "twice"]
    page = people.http.get("/v1/models").json()

    assert page["object"] == "list"
    assert sorted(model["id"] for model in page["data"]) == names
    for model in page["data"]:
        assert model.keys() == {"id", "object", "created", "owned_by"}
        assert people.http.get(f"/v1/models/{model['id']}").json() == model
    unknown = people.http.get("/models/nobody")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "model_not_found")


# -- graphs without a conversation ----------------------------------------------------------------


@pytest.mark.parametrize(("asked", "told"), [("tea", "TEA"), ("object", '{"of":"object"}')])
def test_keys_named_in_the_configuration_take_the_input_and_answer(
    people: People, asked: str, told: str
) -> None:
    assert text(people.ask("keyed", asked)) == told
    assert text(people.ask("keyed", [user("first"), user(asked)])) == told


def test_a_streamed_answer_of_such_a_graph_is_an_item_like_any_other(people: People) -> None:
    answer = people.post(model="keyed", input="tea", stream=True)

    assert [frame["type"].removeprefix("response.") for frame in frames(answer.content)] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]


def test_a_run_that_went_on_for_too_long_is_incomplete(people: People) -> None:
    told = people.ask("loop", "go")
    events = people.post(model="loop", input="go", stream=True)

    assert told["status"] == "incomplete"
    assert told["incomplete_details"] == {"reason": "recursion_limit"}
    assert told["error"] is None
    assert frames(events.content)[-1]["type"] == "response.incomplete"


# -- granularity ----------------------------------------------------------------------------------


@pytest.mark.parametrize("granularity", ["token", "item"])
def test_both_granularities_tell_the_same_response(people: People, granularity: str) -> None:
    told = people.ask("payer", "hello", stream_granularity=granularity)

    assert text(told) == "Heard hello."
