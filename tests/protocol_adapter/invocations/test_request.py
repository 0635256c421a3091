"""A body becomes a run, and the same body the same run."""

from __future__ import annotations

from typing import Any

import pytest

from protocol_adapter.envelope import Refusal
from protocol_adapter.invocations import ids
from protocol_adapter.invocations.request import Asked, choose, read, run_request

UUID = "01920000-0000-7000-8000-00000000000a"


def asked(**body: Any) -> Asked:
    return read({"input": {"x": 1}, **body}, default_id=UUID)


def test_without_names_it_is_its_own_session_in_the_background() -> None:
    found = asked()
    assert (found.id, found.session_id, found.graph) == (UUID, UUID, None)
    assert (found.background, found.stream) == (True, False)


def test_null_and_unknown_keys_say_nothing() -> None:
    assert asked(id=None, graph=None, stream=None, other=1) == asked()


def test_it_asks_for_a_run_of_its_own_name_on_its_sessions_thread() -> None:
    made = run_request(asked(id="order-7", session_id="s"), graph="echo")
    assert (made.assistant, made.thread_id, made.input) == ("echo", "s", {"x": 1})
    assert made.run_id == ids.run_id("order-7")
    assert made.if_not_exists == "create"
    assert run_request(asked(), graph="echo").run_id == UUID


@pytest.mark.parametrize(
    ("given", "command", "left"),
    [
        ({"resume": True}, {"resume": True}, None),
        ({"resume": {"a": 1}}, {"resume": {"a": 1}}, None),
        ({"resume": False}, {"resume": False}, None),
        (
            {"decisions": [{"type": "approve"}]},
            {"resume": {"decisions": [{"type": "approve"}]}},
            None,
        ),
        ({"resume": True, "x": 1}, None, {"resume": True, "x": 1}),
        ({"decisions": [], "x": 1}, None, {"decisions": [], "x": 1}),
        ({}, None, {}),
        ("resume", None, "resume"),
    ],
)
def test_an_answer_is_an_input_of_one_key(given: Any, command: Any, left: Any) -> None:
    made = run_request(asked(input=given), graph="echo")
    assert (made.command, made.input) == (command, left)


@pytest.mark.parametrize(
    "same", [{"background": False}, {"stream": True}, {"agent": "g", "graph": None}, {"else": 1}]
)
def test_how_it_is_delivered_is_not_what_it_asks_for(same: dict[str, Any]) -> None:
    one = asked(id="a", graph="g", input={"x": 1, "y": 2})
    other = asked(**{"id": "a", "graph": "g", "input": {"y": 2, "x": 1}, **same})
    assert one.fingerprint == other.fingerprint


@pytest.mark.parametrize("other", [{"input": {"x": 2}}, {"session_id": "b"}, {"graph": "h"}])
def test_what_it_asks_for_makes_another_request(other: dict[str, Any]) -> None:
    assert asked(id="a", graph="g").fingerprint != asked(**{"id": "a", "graph": "g", **other})


@pytest.mark.parametrize(
    ("named", "own", "served", "graph"),
    [
        ("b", "a", ["a", "b"], "b"),
        (None, None, ["a"], "a"),
        (None, "b", ["a", "b"], "b"),
        ("nobody", None, ["a"], "nobody"),
    ],
)
def test_the_graph_is_named_the_only_one_or_the_sessions_own(
    named: str | None, own: str | None, served: list[str], graph: str
) -> None:
    assert choose(named, own, served) == graph


def test_of_several_graphs_one_must_be_named() -> None:
    with pytest.raises(Refusal, match="'graph' must be one of a, b"):
        choose(None, None, ["a", "b"])


@pytest.mark.parametrize("name", ["order-7", UUID.upper(), f"{{{UUID}}}", "x" * 512, "é"])
def test_any_text_names_a_run_always_the_same(name: str) -> None:
    assert ids.run_id(name) == ids.run_id(name) != name
    assert ids.run_id(ids.run_id(name)) == ids.run_id(name)
