"""``/conversations``: threads, as OpenAI's clients know them, and their items by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.people import Body, People, approval, place, question, text, user


def items(people: People, conversation: str, **query: Any) -> list[Body]:
    answer = people.http.get(
        f"/conversations/{conversation}/items", params={"order": "asc", **query}
    )
    assert answer.status_code == 200, answer.text
    data: list[Body] = answer.json()["data"]
    return data


def said(listed: list[Body]) -> list[str]:
    return [item["content"][0]["text"] for item in listed if item["type"] == "message"]


@pytest.fixture
def conversation(people: People) -> str:
    return str(people.post("/conversations", metadata={"topic": "tea"}).json()["id"])


def test_a_conversation_has_the_shape_that_clients_know(people: People) -> None:
    made = people.post("/v1/conversations", metadata={"topic": "tea"}).json()

    assert made.keys() == {"id", "object", "created_at", "metadata"}
    assert (made["object"], made["metadata"]) == ("conversation", {"topic": "tea"})
    assert isinstance(made["created_at"], int)
    assert made["id"].startswith("conv_")
    assert people.http.get(f"/conversations/{made['id']}").json() == made


def test_its_metadata_are_replaced_and_stay_apart_from_the_threads(
    people: People, conversation: str
) -> None:
    told = people.post(f"/conversations/{conversation}", metadata={"other": "x"}).json()
    people.ask("chat", "hi", conversation=conversation)

    assert told["metadata"] == {"other": "x"}
    assert people.http.get(f"/conversations/{conversation}").json() == told


def test_items_given_at_the_start_come_before_the_first_turn(people: People) -> None:
    made = people.post("/conversations", items=[user("zero"), user("half")]).json()
    assert said(items(people, made["id"])) == ["zero", "half"]

    told = people.ask("chat", "one", conversation=made["id"])

    assert text(told) == "zero | half | one"
    assert said(items(people, made["id"])) == ["zero", "half", "one", "zero | half | one"]


def test_items_between_turns_are_heard_by_the_next_one(people: People, conversation: str) -> None:
    people.ask("chat", "one", conversation=conversation)
    put = people.post(f"/conversations/{conversation}/items", items=[user("one and a half")])
    assert said(put.json()["data"]) == ["one and a half"]
    before = items(people, conversation)

    told = people.ask("chat", "two", conversation=conversation)

    assert text(told) == "one | one and a half | two"
    assert items(people, conversation)[: len(before)] == before


def test_items_are_heard_once(people: People, conversation: str) -> None:
    people.post(f"/conversations/{conversation}/items", items=[user("zero")])
    for number in range(3):
        told = people.ask("chat", f"n{number}", conversation=conversation)

    assert text(told) == "zero | n0 | n1 | n2"


def test_an_item_taken_out_is_gone_for_the_next_turn(people: People, conversation: str) -> None:
    people.ask("chat", "one", conversation=conversation)
    [asked, _] = items(people, conversation)

    answer = people.http.delete(f"/conversations/{conversation}/items/{asked['id']}")
    gone = people.http.get(f"/conversations/{conversation}/items/{asked['id']}")
    told = people.ask("chat", "two", conversation=conversation)

    assert answer.json()["object"] == "conversation"
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "item_not_found")
    assert text(told) == "two"
    assert said(items(people, conversation)) == ["one", "two", "two"]


def test_an_item_may_be_taken_out_before_any_turn_has_heard_it(
    people: People, conversation: str
) -> None:
    put = people.post(f"/conversations/{conversation}/items", items=[user("zero"), user("half")])
    name = put.json()["data"][0]["id"]

    people.http.delete(f"/conversations/{conversation}/items/{name}")

    assert text(people.ask("chat", "one", conversation=conversation)) == "half | one"


def test_turns_that_queue_up_behind_an_item_taken_out_all_succeed(
    people: People, conversation: str
) -> None:
    people.ask("chat", "one", conversation=conversation, instructions="Be brief.")
    name = items(people, conversation)[1]["id"]
    people.gates.shut("hear")
    waiting = people.ask("chat", "wait", conversation=conversation, background=True)
    people.gates.reached("hear")
    people.http.delete(f"/conversations/{conversation}/items/{name}")
    queued = [
        people.ask("chat", f"n{n}", conversation=conversation, background=True) for n in range(2)
    ]
    people.gates.open("hear")
    last = people.ask("chat", "last", conversation=conversation)

    told = [people.http.get(f"/responses/{one['id']}").json() for one in (waiting, *queued, last)]
    assert [one["status"] for one in told] == ["completed"] * 4
    assert text(told[-1]).endswith("n0 | n1 | last")
    assert "Be brief." not in text(told[-1])


def test_a_message_that_calls_tools_stays(people: People) -> None:
    told = people.ask("payer", [approval(question(people.ask("payer", "pay")))])
    calls = [item for item in items(people, place(told)) if item["type"] == "function_call"]

    answer = people.http.delete(f"/conversations/{place(told)}/items/{calls[0]['id']}")

    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "item_id")


def test_tool_calls_and_their_results_are_items(people: People) -> None:
    told = people.ask("payer", [approval(question(people.ask("payer", "pay")))])

    listed = items(people, place(told))

    kinds = [item["type"] for item in listed]
    assert kinds == ["message", "function_call", "function_call_output", "message"]
    assert listed[1]["call_id"] == listed[2]["call_id"] == "call_pay"
    assert listed[2]["output"] == "paid (True)"
    for item in listed:
        one = people.http.get(f"/conversations/{place(told)}/items/{item['id']}")
        assert one.json() == item


def test_items_are_paged(people: People, conversation: str) -> None:
    for start in (0, 20):
        put = [user(f"n{n}") for n in range(start, start + 20)]
        people.post(f"/conversations/{conversation}/items", items=put)
    path = f"/conversations/{conversation}/items"
    pages: list[Body] = []
    after: dict[str, str] = {}
    while not pages or pages[-1]["has_more"]:
        pages.append(people.http.get(path, params={"limit": 15, **after}).json())
        after = {"after": pages[-1]["last_id"]}

    assert [len(page["data"]) for page in pages] == [15, 15, 10]
    listed = [one for page in pages for one in said(page["data"])]
    assert listed == [f"n{n}" for n in reversed(range(40))]
    assert all(page["first_id"] == page["data"][0]["id"] for page in pages)


def test_an_item_that_no_turn_could_take_is_refused_at_once(
    people: People, conversation: str
) -> None:
    bad = {"role": "user", "content": [{"type": "input_text", "text": 5}]}

    answer = people.post(f"/conversations/{conversation}/items", items=[bad])

    assert answer.status_code == 400
    assert text(people.ask("chat", "one", conversation=conversation)) == "one"


def test_a_conversation_with_an_unfinished_turn_is_not_deleted(
    people: People, conversation: str
) -> None:
    people.gates.shut("hear")
    people.ask("chat", "wait", conversation=conversation, background=True)
    people.gates.reached("hear")

    busy = people.http.delete(f"/conversations/{conversation}")
    people.gates.open("hear")
    people.ask("chat", "two", conversation=conversation)
    deleted = people.http.delete(f"/conversations/{conversation}")

    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "conversation_locked")
    assert deleted.json() == {
        "id": conversation,
        "object": "conversation.deleted",
        "deleted": True,
    }
    gone = people.http.get(f"/conversations/{conversation}")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "conversation_not_found")


def test_a_copy_made_at_the_other_door_keeps_what_was_done_by_hand(
    people: People, conversation: str
) -> None:
    people.post(f"/conversations/{conversation}/items", items=[user("zero")])

    copy = people.http.post(f"/threads/{conversation}/copy").json()["thread_id"]

    assert text(people.ask("chat", "one", conversation=copy)) == "zero | one"


def test_a_graph_without_a_conversation_lists_nothing(people: People) -> None:
    told = people.ask("keyed", "hi")

    assert items(people, place(told)) == []
