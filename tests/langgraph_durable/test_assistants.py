"""What an assistant says, and what it lends to a run: pure, hence tables."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from langgraph_durable import assistants
from langgraph_durable.assistants import changed, made, with_defaults
from langgraph_durable.errors import GraphNotFound, InvalidRequest, UnknownGraph
from langgraph_durable.model import Assistant, RunRequest

AGENT_ID = "fe096781-5601-53d2-b2f6-0d3403f7e9ca"
MADE_ID = "0b1e5a8e-3c8b-4b0e-9f57-5a3f1c9d7e11"


def assistant(**told: Any) -> Assistant:
    return made(MADE_ID, graph_id="agent", **told)


def lent(told: dict[str, Any], asked: dict[str, Any]) -> RunRequest:
    """The request ``asked`` with the defaults of an assistant that was told ``told``."""
    return with_defaults(RunRequest(assistant=MADE_ID, **asked), assistant(**told))


@pytest.mark.parametrize(
    ("told", "asked", "expected"),
    [
        ({}, {}, {}),
        ({"recursion_limit": 7}, {}, {"recursion_limit": 7}),
        ({"recursion_limit": 7}, {"recursion_limit": 9}, {"recursion_limit": 9}),
        (
            {"configurable": {"a": 1, "b": 1}},
            {"configurable": {"b": 2, "c": 2}},
            {"configurable": {"a": 1, "b": 2, "c": 2}},
        ),
        ({"tags": ["x", "y"]}, {"tags": ["y", "z"]}, {"tags": ["x", "y", "z"]}),
        (
            {"metadata": {"a": 1, "b": 1}},
            {"metadata": {"b": 2}},
            {"metadata": {"a": 1, "b": 2}},
        ),
        ({}, {"configurable": {}, "tags": []}, {"configurable": {}, "tags": []}),
        ({"run_name": "mine"}, {"tags": ["x"]}, {"run_name": "mine", "tags": ["x"]}),
    ],
)
def test_a_requests_config_is_laid_over_its_assistants(
    told: dict[str, Any], asked: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert lent({"config": told}, {"config": asked}).config == expected


@pytest.mark.parametrize(
    ("told", "asked", "expected"),
    [
        ({}, None, None),
        ({}, {"a": 1}, {"a": 1}),
        ({"a": 1, "b": 1}, None, {"a": 1, "b": 1}),
        ({"a": 1, "b": 1}, {"b": 2, "c": 2}, {"a": 1, "b": 2, "c": 2}),
        ({"a": 1}, "a text", "a text"),
    ],
)
def test_a_requests_context_is_laid_over_its_assistants(
    told: dict[str, Any], asked: Any, expected: Any
) -> None:
    assert lent({"context": told}, {"context": asked}).context == expected


@pytest.mark.parametrize(
    "asked", [{"config": {"configurable": {"k": 2, "x": 3}}}, {"context": {"k": 2, "x": 3}}]
)
def test_a_key_that_the_assistant_has_in_both_places_takes_one_value(
    asked: dict[str, Any],
) -> None:
    run = lent({"config": {"configurable": {"k": 1, "l": 1}}}, asked)
    place = {"k": 2, "l": 1}
    given_there = "context" in asked
    assert run.context == (place | {"x": 3} if given_there else place)
    assert run.config["configurable"] == (place if given_there else place | {"x": 3})


def test_metadata_come_from_the_assistant_the_config_and_the_request_in_this_order() -> None:
    told = {"metadata": {"a": 1, "b": 1, "c": 1}}
    run = lent(told, {"config": {"metadata": {"b": 2, "c": 2}}, "metadata": {"c": 3}})
    assert run.metadata == {"a": 1, "b": 2, "c": 3}


def test_what_a_request_asks_besides_stays() -> None:
    asked = RunRequest(assistant=MADE_ID, input={"x": 1}, thread_id="t", multitask="reject")
    run = with_defaults(asked, assistant(config={"recursion_limit": 7}))
    assert (run.input, run.thread_id, run.multitask) == ({"x": 1}, "t", "reject")


MIRRORED = {"config": {"configurable": {"k": 1}, "recursion_limit": 7}}


@pytest.mark.parametrize(
    ("held", "change", "config", "context"),
    [
        ({}, MIRRORED, MIRRORED["config"], {"k": 1}),
        ({}, {"context": {"c": 1}}, {}, {"c": 1}),
        (MIRRORED, {}, MIRRORED["config"], {"k": 1}),
        (MIRRORED, {"config": {"configurable": {"k": 2}}}, {"configurable": {"k": 2}}, {"k": 2}),
        (MIRRORED, {"config": {}}, {}, {}),
        (MIRRORED, {"context": {"c": 1}}, {"recursion_limit": 7}, {"c": 1}),
        ({"context": {"c": 1}}, {"config": {"tags": ["x"]}}, {"tags": ["x"]}, {"c": 1}),
        ({"context": {"c": 1}}, {"context": {}}, {}, {}),
        ({}, {"config": {"tags": ["x"]}, "context": {"c": 1}}, {"tags": ["x"]}, {"c": 1}),
    ],
)
def test_the_older_spelling_of_the_context_is_mirrored_and_never_contradicts_it(
    held: dict[str, Any], change: dict[str, Any], config: Any, context: Any
) -> None:
    found = changed(assistant(**held), **change)
    assert (found.config, found.context) == (config, context)


def test_both_spellings_at_once_are_refused() -> None:
    both: dict[str, Any] = {"config": {"configurable": {"k": 1}}, "context": {"c": 1}}
    with pytest.raises(InvalidRequest, match="not both"):
        assistant(**both)
    with pytest.raises(InvalidRequest, match="not both"):
        changed(assistant(), **both)


def test_a_change_merges_metadata_and_keeps_what_it_does_not_name() -> None:
    held = assistant(name="n", description="d", metadata={"a": 1, "b": 1})
    found = changed(held, metadata={"b": 2})
    assert found.metadata == {"a": 1, "b": 2}
    assert (found.graph_id, found.name, found.description) == ("agent", "n", "d")
    assert changed(held, description="").description == ""


@pytest.mark.parametrize(
    ("name", "expected"),
    [("agent", AGENT_ID), (MADE_ID, MADE_ID), (MADE_ID.upper(), MADE_ID)],
)
def test_an_assistant_is_named_by_its_id_or_its_graph(name: str, expected: str) -> None:
    assert assistants.known_id(name, ["agent"]) == expected


@pytest.mark.parametrize(
    "name", ["", "other", uuid.UUID(MADE_ID).hex, f"{{{MADE_ID}}}", f"urn:uuid:{MADE_ID}", "\0"]
)
def test_anything_else_names_none_and_the_graphs_are_told(name: str) -> None:
    with pytest.raises(UnknownGraph, match="one of the graphs: agent, echo"):
        assistants.known_id(name, ["echo", "agent"])


def test_an_assistant_needs_a_graph_that_is_served() -> None:
    assistants.check_served("agent", ["agent"])
    with pytest.raises(GraphNotFound, match=r"'other' not found.*: agent, echo$"):
        assistants.check_served("other", ["echo", "agent"])
