"""Names on the wire: what they stand for, and that any text a client sends is survived."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol_adapter.responses import ids
from protocol_adapter.responses.ids import Question, question_name, question_of

RUN = "0190a0b0-0000-7000-8000-000000000001"

runs = st.uuids().map(str)
interrupt_ids = st.from_regex(r"[0-9a-f]{32}", fullmatch=True)
actions = st.none() | st.integers(0, 254)


@given(runs)
def test_a_response_is_named_after_its_run(run_id: str) -> None:
    name = ids.response_id(run_id)

    assert re.fullmatch(r"resp_[0-9a-f]{32}", name)
    assert ids.run_id(name) == run_id


@given(st.text())
def test_any_other_text_names_no_run(name: str) -> None:
    found = ids.run_id(name)

    assert found is None or ids.response_id(found) == name


@given(runs, interrupt_ids, actions)
def test_a_minted_question_comes_back_whole(
    run_id: str, interrupt_id: str, action: int | None
) -> None:
    asked = Question(interrupt_id=interrupt_id, run_id=run_id, action=action)
    name = question_name(asked)

    assert question_of(name) == asked
    assert question_of(name.removeprefix(ids.APPROVAL)) == asked
    assert len(name) <= 64
    assert re.fullmatch(r"[A-Za-z0-9_-]+", name)


@given(st.text(min_size=1, max_size=20).filter(lambda name: ":" not in name), actions)
def test_a_question_of_an_interrupt_with_a_name_of_its_own_comes_back_without_its_run(
    interrupt_id: str, action: int | None
) -> None:
    asked = Question(interrupt_id=interrupt_id, run_id=RUN, action=action)

    found = question_of(question_name(asked))

    assert (found.interrupt_id, found.action) == (interrupt_id.removeprefix(ids.APPROVAL), action)
    assert found.run_id is None


@given(st.lists(st.tuples(runs, interrupt_ids, actions), unique=True, min_size=2, max_size=5))
def test_no_two_questions_have_the_same_name(listed: list[tuple[str, str, int | None]]) -> None:
    names = [question_name(Question(run_id=r, interrupt_id=i, action=a)) for r, i, a in listed]

    assert len(set(names)) == len(names)


@given(st.text() | st.from_regex(r"(mcpr_)?.{0,3}:\d{1,9}", fullmatch=True))
def test_any_text_is_the_name_of_some_question(name: str) -> None:
    found = question_of(name)

    assert found.run_id is None or str(UUID(found.run_id)) == found.run_id
    assert found.interrupt_id in name or found.run_id is not None


@pytest.mark.parametrize(
    ("name", "interrupt_id", "action"),
    [
        ("mcpr_i1", "i1", None),
        ("i1", "i1", None),
        ("mcpr_i1:0", "i1", 0),
        ("mcpr_a:b:12", "a:b", 12),
        ("mcpr_i1:", "i1:", None),
        ("mcpr_i1:x", "i1:x", None),
        ("mcpr_i1:\u0663", "i1:\u0663", None),
        ("mcpr_i1:" + "9" * 5000, "i1:" + "9" * 5000, None),
        ("", "", None),
    ],
)
def test_bare_names_are_read(name: str, interrupt_id: str, action: int | None) -> None:
    assert question_of(name) == Question(interrupt_id=interrupt_id, action=action)


@given(st.text(max_size=8), st.integers(1, 5))
def test_a_name_that_is_told_again_still_means_the_same(name: str, times: int) -> None:
    taken: set[str] = set()
    for _ in range(times):
        taken.add(ids.again(name, taken))

    assert len(taken) == times
    assert {ids.original(each) for each in taken} == {ids.original(name)}
