"""``previous_response_id``: a turn goes on from that response, whatever came behind it."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contract.people import Body, People, approval, place, question, text, user


@pytest.fixture
def first(people: People) -> Body:
    return people.ask("chat", "one")


def test_the_latest_response_is_continued_on_its_own_thread(people: People, first: Body) -> None:
    told = people.ask("chat", "two", previous_response_id=first["id"])

    assert (text(told), place(told)) == ("one | two", place(first))
    assert told["previous_response_id"] == first["id"]


def test_an_older_response_is_continued_on_a_thread_of_its_own(people: People, first: Body) -> None:
    second = people.ask("chat", "two", previous_response_id=first["id"])
    fork = people.ask("chat", "three", previous_response_id=first["id"])
    further = people.ask("chat", "four", previous_response_id=fork["id"])
    main = people.ask("chat", "five", previous_response_id=second["id"])

    assert text(fork) == "one | three"
    assert text(further) == "one | three | four"
    assert text(main) == "one | two | five"
    assert place(first) == place(second) == place(main) != place(fork) == place(further)


def test_the_conversation_stays_with_its_latest_turn(people: People, first: Body) -> None:
    people.ask("chat", "two", previous_response_id=first["id"])
    people.ask("chat", "three", previous_response_id=first["id"])

    told = people.ask("chat", "four", conversation=place(first))

    assert text(told) == "one | two | four"


def test_turns_that_fork_at_the_same_time_never_see_each_other(people: People, first: Body) -> None:
    with ThreadPoolExecutor(5) as pool:
        told = list(
            pool.map(
                lambda n: people.ask("chat", f"n{n}", previous_response_id=first["id"]), range(5)
            )
        )

    assert [text(one) for one in told] == [f"one | n{n}" for n in range(5)]
    assert len({place(one) for one in told}) == 5


def test_a_fork_of_a_fork_starts_where_that_one_stood(people: People, first: Body) -> None:
    people.ask("chat", "two", previous_response_id=first["id"])
    fork = people.ask("chat", "a", previous_response_id=first["id"])
    people.ask("chat", "b", previous_response_id=fork["id"])

    told = people.ask("chat", "c", previous_response_id=fork["id"])

    assert text(told) == "one | a | c"


def test_a_failed_response_is_continued_and_forked(people: People, first: Body) -> None:
    failed = people.ask("chat", "fail", previous_response_id=first["id"])
    assert failed["status"] == "failed"

    on = people.ask("chat", "two", previous_response_id=failed["id"])
    fork = people.ask("chat", "three", previous_response_id=failed["id"])

    assert (text(on), text(fork)) == ("one | fail | two", "one | fail | three")


def test_the_state_of_a_fork_is_a_thread_of_the_other_door(people: People, first: Body) -> None:
    people.ask("chat", "two", previous_response_id=first["id"])
    fork = people.ask("chat", "three", previous_response_id=first["id"])

    thread = people.http.get(f"/threads/{place(fork)}").json()

    assert (thread["status"], len(thread["values"]["messages"])) == ("idle", 4)
    history = people.http.get(f"/threads/{place(fork)}/history").json()
    assert len(history) > 2


# -- paused ---------------------------------------------------------------------------------------


def test_a_paused_response_is_forked_by_a_plain_turn_and_answered_in_the_fork(
    people: People,
) -> None:
    asked = people.ask("payer", "pay")
    people.ask("payer", "never mind", previous_response_id=asked["id"])
    paid = people.gates.count("pay")

    told = people.ask("payer", [approval(question(asked))], previous_response_id=asked["id"])

    assert text(told) == "It is paid (True)."
    assert place(told) != place(asked)
    assert people.gates.count("pay") == paid + 1


def test_an_answer_in_a_fork_works_once_however_often_it_comes(people: People) -> None:
    asked = people.ask("payer", "pay")
    people.ask("payer", "never mind", previous_response_id=asked["id"])
    paid = people.gates.count("pay")
    answer = [approval(question(asked))]

    with ThreadPoolExecutor(4) as pool:
        at_once = list(
            pool.map(
                lambda _: people.ask("payer", answer, previous_response_id=asked["id"]), range(4)
            )
        )
    again = people.ask("payer", answer, previous_response_id=asked["id"])
    stateless = people.ask("payer", [user("pay"), *answer])

    assert {one["id"] for one in at_once} == {again["id"]} == {stateless["id"]}
    assert people.gates.count("pay") == paid + 1
    refused = people.refused(
        "payer", [approval(question(asked), approve=False)], previous_response_id=asked["id"]
    )
    assert refused["code"] == "interrupt_already_resolved"


def test_an_answer_that_failed_in_a_fork_may_be_given_again(people: People) -> None:
    asked = people.ask("payer", "pay")
    people.ask("payer", "never mind", previous_response_id=asked["id"])
    answer = [approval(question(asked))]

    with people.broken():
        failed = people.ask("payer", answer, previous_response_id=asked["id"])
    told = people.ask("payer", answer, previous_response_id=asked["id"])

    assert (failed["status"], told["status"]) == ("failed", "completed")
    assert text(told) == "It is paid (True)."


def test_an_answer_in_a_fork_of_a_fork_works_once(people: People) -> None:
    asked = people.ask("payer", "pay")
    people.ask("payer", "never mind", previous_response_id=asked["id"])
    again = people.ask("payer", "pay", previous_response_id=asked["id"])
    people.ask("payer", "never mind", previous_response_id=again["id"])
    paid = people.gates.count("pay")
    answer = [approval(question(again))]

    told = [people.ask("payer", answer, previous_response_id=again["id"]) for _ in range(2)]

    assert told[0]["id"] == told[1]["id"]
    assert people.gates.count("pay") == paid + 1


def test_a_paused_response_that_was_answered_is_forked_by_a_plain_turn(people: People) -> None:
    asked = people.ask("payer", "pay")
    people.ask("payer", [approval(question(asked))])

    told = people.ask("payer", "never mind", previous_response_id=asked["id"])

    assert text(told) == "Heard never mind."
    assert place(told) != place(asked)


# -- unfinished -----------------------------------------------------------------------------------


def test_a_turn_behind_an_unfinished_response_waits_for_it_and_a_second_one_is_refused(
    people: People, first: Body
) -> None:
    people.gates.shut("hear")
    slow = people.ask("chat", "wait", previous_response_id=first["id"], background=True)
    people.gates.reached("hear")
    queued = people.ask("chat", "two", previous_response_id=slow["id"], background=True)
    threads = people.threads()

    error = people.refused("chat", "three", previous_response_id=slow["id"])
    people.gates.open("hear")
    later = people.ask("chat", "four", previous_response_id=queued["id"])

    assert (error["status"], error["code"]) == (409, "conversation_locked")
    assert people.threads() == threads
    assert text(later) == "one | wait | two | four"


def test_a_run_of_a_thread_that_is_swept_soon_is_continued_on_one_that_stays(
    people: People,
) -> None:
    run = people.http.post(
        "/runs",
        json={"assistant_id": "chat", "input": {"messages": [{"role": "user", "content": "one"}]}},
    ).json()
    response = f"resp_{run['run_id'].replace('-', '')}"
    people.http.get(f"/threads/{run['thread_id']}/runs/{run['run_id']}/join")

    told = people.ask("chat", "two", previous_response_id=response)
    on = people.ask("chat", "three", previous_response_id=told["id"])

    assert text(on) == "one | two | three"
    assert place(told) != run["thread_id"]
    assert people.http.get(f"/threads/{place(told)}").status_code == 200


# -- nothing is left behind -----------------------------------------------------------------------


def test_a_request_that_is_refused_behind_a_fork_leaves_no_copy(
    people: People, first: Body
) -> None:
    people.ask("chat", "two", previous_response_id=first["id"])
    threads = people.threads()

    error = people.refused("chat", [approval("mcpr_nobody")], previous_response_id=first["id"])

    assert (error["status"], error["code"]) == (400, "nothing_to_answer")
    assert people.threads() == threads


def test_a_fork_whose_checkpoints_are_pruned_is_refused(people: People, first: Body) -> None:
    people.ask("chat", "two", previous_response_id=first["id"])
    pruned = people.http.post(
        "/threads/prune", json={"thread_ids": [place(first)], "strategy": "keep_latest"}
    )
    assert pruned.status_code == 200
    threads = people.threads()

    error = people.refused("chat", "three", previous_response_id=first["id"])

    assert (error["status"], error["code"]) == (404, "checkpoint_not_found")
    assert people.threads() == threads


def test_a_message_taken_out_of_a_conversation_stays_out_of_its_forks(
    people: People, first: Body
) -> None:
    conversation = place(first)
    items = people.http.get(f"/conversations/{conversation}/items?order=asc").json()["data"]
    assert people.http.delete(f"/conversations/{conversation}/items/{items[0]['id']}").is_success
    people.ask("chat", "two", conversation=conversation)

    fork = people.ask("chat", "three", previous_response_id=first["id"])

    assert text(fork) == "three"


# -- what left nothing ----------------------------------------------------------------------------


def test_a_response_that_was_rolled_back_is_continued_from_what_was_before(
    people: People, first: Body
) -> None:
    people.gates.shut("hear")
    undone = people.ask("chat", "wait", conversation=place(first), background=True)
    people.gates.reached("hear")
    run = str(uuid.UUID(undone["id"].removeprefix("resp_")))
    path = f"/threads/{place(first)}/runs/{run}/cancel"
    people.http.post(path, params={"wait": True, "action": "rollback"})
    people.gates.open("hear")

    on = people.ask("chat", "two", previous_response_id=undone["id"])
    fork = people.ask("chat", "three", previous_response_id=undone["id"])

    assert (text(on), text(fork)) == ("one | two", "one | three")


def test_a_response_cancelled_before_it_began_is_continued_from_what_was_before(
    people: People, first: Body
) -> None:
    people.gates.shut("hear")
    slow = people.ask("chat", "wait", conversation=place(first), background=True)
    people.gates.reached("hear")
    queued = people.ask("chat", "never", conversation=place(first), background=True)
    people.http.post(f"/responses/{queued['id']}/cancel")
    people.gates.open("hear")
    people.http.get(f"/responses/{slow['id']}?stream=true")

    on = people.ask("chat", "two", previous_response_id=queued["id"])
    fork = people.ask("chat", "three", previous_response_id=slow["id"])

    assert (text(on), text(fork)) == ("one | wait | two", "one | wait | three")
