"""The ``responses`` section of langgraph.json: what it says, and everything that is wrong in it."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_durable.errors import ProjectError
from protocol_adapter.responses.config import Defaults, read_defaults

GRAPHS = ["agent", "other"]


def test_without_a_section_nothing_is_set() -> None:
    assert read_defaults(None, GRAPHS) == read_defaults({}, GRAPHS) == Defaults()


def test_everything_can_be_set() -> None:
    section = {
        "tool_items": "function_call",
        "stream_granularity": "item",
        "interrupts": "function_call",
        "graphs": {"agent": {"input": "question", "output": "answer"}, "other": {"output": "x"}},
    }

    assert read_defaults(section, GRAPHS) == Defaults(
        tool_items="function_call",
        stream_granularity="item",
        interrupts="function_call",
        inputs={"agent": "question"},
        outputs={"agent": "answer", "other": "x"},
    )


SHAPE = 'responses.graphs.agent: must be {"input": key, "output": key}'


@pytest.mark.parametrize(
    ("section", "told"),
    [
        *[(wrong, "responses: must be an object") for wrong in ([], "x", 5, True, False)],
        ({"nope": 1}, "responses.nope: unknown"),
        *[
            ({"tool_items": wrong}, "responses.tool_items: must be one of mcp_call, function_call")
            for wrong in ("nope", "", 5, None, [], {}, ["mcp_call"])
        ],
        *[
            (
                {"stream_granularity": wrong},
                "responses.stream_granularity: must be one of token, item",
            )
            for wrong in ("word", None, True, {})
        ],
        *[
            (
                {"interrupts": wrong},
                "responses.interrupts: must be one of mcp_approval_request, function_call",
            )
            for wrong in ("both", None, 0, [])
        ],
        *[
            ({"graphs": wrong}, "responses.graphs: must be an object")
            for wrong in (None, [], "agent", 5)
        ],
        ({"graphs": {"nope": {"input": "x"}}}, "responses.graphs.nope: no graph is called so"),
        *[
            ({"graphs": {"agent": wrong}}, SHAPE)
            for wrong in (
                *(None, [], "x", 5),
                *({"input": 5}, {"input": ""}, {"input": None}, {"input": ["x"]}),
                *({"output": {}}, {"key": "x"}),
            )
        ],
    ],
)
def test_every_wrong_value_is_told(section: Any, told: str) -> None:
    with pytest.raises(ProjectError) as wrong:
        read_defaults(section, GRAPHS)

    assert wrong.value.message == told


def test_everything_that_is_wrong_is_told_at_once() -> None:
    section = {"tool_items": 5, "x": 1, "graphs": {"nope": {"input": 1}}}

    with pytest.raises(ProjectError) as wrong:
        read_defaults(section, GRAPHS)

    assert len(wrong.value.message.splitlines()) == 4
