"""Run-create bodies: what acts, what is refused, what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_durable.errors import InvalidRequest
from langgraph_durable.model import RunRequest
from protocol_adapter.langgraph.fields import Unprocessable
from protocol_adapter.langgraph.request import parse_run, stream_modes


def parse(thread_id: str | None = "t1", **body: Any) -> RunRequest:
    return parse_run({"assistant_id": "echo", **body}, thread_id, attended=True)


def test_the_least_body_asks_for_values_of_the_threads_state() -> None:
    request = parse()
    assert request.assistant == "echo"
    assert request.thread_id == "t1"
    assert (request.input, request.command) == (None, None)
    assert request.stream_modes == ("values",)
    assert request.durability == "sync"
    assert request.multitask == "enqueue"
    assert request.if_not_exists == "reject"
    assert request.door == "langgraph"


def test_null_means_absent_for_every_key() -> None:
    keys = (
        *("input", "command", "config", "context", "metadata", "checkpoint", "checkpoint_id"),
        *("stream_mode", "stream_subgraphs", "stream_resumable", "feedback_keys", "webhook"),
        *("interrupt_before", "interrupt_after", "multitask_strategy", "if_not_exists"),
        *("on_disconnect", "on_completion", "after_seconds", "durability", "strict_resume"),
        *("checkpoint_during", "langsmith_tracer"),
    )
    nulls: dict[str, Any] = dict.fromkeys(keys)
    assert parse(**nulls) == parse()


def test_unknown_and_inert_keys_are_left_out() -> None:
    inert: dict[str, Any] = {"feedback_keys": ["up"], "langsmith_tracer": {"project_name": "p"}}
    assert parse(bogus=1, stream_resumable=True, ifNotExists="create", **inert) == parse()


@pytest.mark.parametrize("answer", [False, 0, "", [], {}])
def test_an_empty_answer_is_an_answer(answer: Any) -> None:
    assert parse(command={"resume": answer}).command == {"resume": answer}


def test_a_command_as_remote_graph_sends_it_keeps_only_what_it_says() -> None:
    sent: dict[str, Any] = {"graph": None, "update": None, "resume": "yes", "goto": []}
    assert parse(command=sent).command == {"resume": "yes"}
    assert parse(command={"goto": []}).command is None


def test_a_command_wins_over_an_input() -> None:
    request = parse(input={"x": 1}, command={"update": {"x": 2}, "goto": "echo"})
    assert request.input is None
    assert request.command == {"update": {"x": 2}, "goto": "echo"}


@pytest.mark.parametrize(
    "command",
    [
        {"update": [["x", 1], ["y", 2]]},
        {"goto": ["a", "b"]},
        {"goto": {"node": "a", "input": {"x": 1}}},
        {"goto": ["a", {"node": "b", "input": None}]},
        {"resume": {"0123": "yes"}},
    ],
)
def test_every_form_of_a_command_is_kept_as_it_is(command: dict[str, Any]) -> None:
    assert parse(command=command).command == command


@pytest.mark.parametrize(
    "body",
    [
        {"assistant_id": None},
        {"assistant_id": 7},
        {"command": "resume"},
        {"command": {"goto": 1}},
        {"command": {"goto": {"input": 1}}},
        {"command": {"update": "x"}},
        {"command": {"graph": "__parent__", "goto": "a"}},
        {"config": []},
        {"config": {"configurable": 1}},
        {"config": {"tags": "t"}},
        {"metadata": "m"},
        {"stream_mode": "bad"},
        {"stream_mode": {"values": True}},
        {"stream_mode": [1]},
        {"stream_subgraphs": "yes"},
        {"checkpoint": "c1"},
        {"interrupt_before": {"a": 1}},
        {"multitask_strategy": "zzz"},
        {"after_seconds": -1},
        {"after_seconds": "5"},
        {"if_not_exists": "maybe"},
        {"on_disconnect": "stop"},
        {"on_completion": "archive"},
        {"durability": "eventually"},
        {"checkpoint_during": "no"},
    ],
)
def test_a_malformed_body_is_unprocessable(body: dict[str, Any]) -> None:
    with pytest.raises(Unprocessable):
        parse_run({"assistant_id": "echo", **body}, "t1", attended=True)


def test_a_resume_is_strict_only_when_it_says_so() -> None:
    assert parse(strict_resume=True).strict_resume
    assert parse(strict_resume=False) == parse()


@pytest.mark.parametrize("graph", ["__parent__", "echo", "", 5, False])
def test_a_command_for_another_graph_is_refused_by_name(graph: Any) -> None:
    with pytest.raises(Unprocessable, match=r"command\.graph"):
        parse(command={"resume": 1, "graph": graph})


def test_a_webhook_is_an_address_or_nothing() -> None:
    assert parse(webhook="https://example.com/hook").webhook == "https://example.com/hook"
    assert parse(webhook="") == parse()
    with pytest.raises(Unprocessable):
        parse(webhook=5)


def test_a_delay_of_nothing_is_no_delay() -> None:
    assert parse(after_seconds=0) == parse()
    assert parse(after_seconds=1.5).after_seconds == 1.5
    assert parse(multitask_strategy="rollback").multitask == "rollback"


def test_context_and_configurable_together_are_a_contradiction() -> None:
    with pytest.raises(InvalidRequest, match="not both"):
        parse(context={"a": 1}, config={"configurable": {"b": 2}})
    assert parse(context={"a": 1}, config={"configurable": {}}).context == {"a": 1}


def test_a_stateless_run_cannot_answer_a_question() -> None:
    with pytest.raises(InvalidRequest, match="thread_id when resuming"):
        parse(None, command={"resume": "yes"})


def test_a_smuggled_thread_is_dropped_from_configurable() -> None:
    configurable = {"thread_id": "other", "run_id": "r", "__pregel_x": 1, "model": "small"}
    request = parse(None, config={"configurable": configurable, "tags": ["t"]})
    assert request.config == {"configurable": {"model": "small"}, "tags": ["t"]}
    assert request.thread_id is None


def test_a_remote_graph_that_is_resumed_passes_its_answers_on() -> None:
    resumed = {"configurable": {"__pregel_resuming": True, "__pregel_resume_map": {"q": "yes"}}}
    request = parse(config=resumed, input={"x": 1})
    assert (request.input, request.command, request.resumes) == ({"x": 1}, None, {"q": "yes"})
    assert request.config == {}
    assert parse(config={"configurable": {"__pregel_resuming": True}}).resumes == {}
    for other in ({}, {"__pregel_resuming": False}, {"__pregel_resume_map": {"q": "yes"}}):
        assert parse(config={"configurable": other}).resumes is None
    assert parse(None, config=resumed).resumes is None
    assert parse(config=resumed, command={"resume": "no"}).resumes is None


def test_a_checkpoint_keeps_its_place_but_not_its_thread() -> None:
    given = {"thread_id": "t1", "checkpoint_id": "c1", "checkpoint_ns": "", "checkpoint_map": {}}
    assert parse(checkpoint=given).checkpoint == {"checkpoint_id": "c1"}
    assert parse(checkpoint_id="c1").checkpoint == {"checkpoint_id": "c1"}
    assert parse(config={"configurable": {"checkpoint_id": "c1"}}).checkpoint == {
        "checkpoint_id": "c1"
    }


def test_a_config_around_a_checkpoint_hides_nothing_beside_it() -> None:
    both = {"checkpoint_id": "c1", "configurable": {"checkpoint_ns": "a:1", "x": 1}}
    assert parse(checkpoint=both).checkpoint == {"checkpoint_id": "c1", "checkpoint_ns": "a:1"}
    same = {"checkpoint_id": "c1", "configurable": {"checkpoint_id": "c1"}}
    assert parse(checkpoint=same).checkpoint == {"checkpoint_id": "c1"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"checkpoint_id": 5},
        {"checkpoint_ns": -1e-05},
        {"checkpoint_map": {"k": -3199}},
        {"checkpoint_map": {"k": True}},
        {"checkpoint_map": "k"},
        {"checkpoint_id": "another"},
    ],
    ids=str,
)
@pytest.mark.parametrize("inside", [True, False])
def test_a_wrong_checkpoint_is_refused_in_a_config_and_beside_one(
    wrong: dict[str, Any], inside: bool
) -> None:
    right = {"checkpoint_id": "c1", "x": 1}
    with pytest.raises(Unprocessable):
        parse(
            checkpoint=right | {"configurable": wrong}
            if inside
            else wrong | {"configurable": right}
        )


def test_a_checkpoint_that_only_names_its_thread_is_the_latest() -> None:
    assert parse(checkpoint={"thread_id": "t1"}).checkpoint is None


@pytest.mark.parametrize("every", ["*", ["*"]])
def test_both_spellings_of_every_node_mean_every_node(every: Any) -> None:
    assert parse(interrupt_before=every).interrupt_before == "*"


def test_breakpoints_are_names() -> None:
    assert parse(interrupt_after=["a", "b"]).interrupt_after == ["a", "b"]
    assert parse(interrupt_after="a").interrupt_after == ["a"]
    assert parse(interrupt_after=[]).interrupt_after is None


@pytest.mark.parametrize(
    ("body", "durability"),
    [
        ({}, "sync"),
        ({"checkpoint_during": True}, "async"),
        ({"checkpoint_during": False}, "exit"),
        ({"checkpoint_during": False, "durability": "async"}, "async"),
    ],
)
def test_durability_is_the_clients_choice(body: dict[str, Any], durability: str) -> None:
    assert parse(**body).durability == durability


def test_a_hang_up_means_something_only_to_a_run_that_is_attended() -> None:
    assert parse(on_disconnect="cancel").on_disconnect == "cancel"
    body = {"assistant_id": "echo", "on_disconnect": "cancel"}
    assert parse_run(body, "t1", attended=False).on_disconnect == "continue"


def test_a_stateless_run_may_keep_its_thread() -> None:
    assert parse(None, on_completion="keep").keep_thread
    assert not parse(None).keep_thread


@pytest.mark.parametrize(
    ("given", "modes"),
    [
        (None, ("values",)),
        ([], ("values",)),
        ("updates", ("updates",)),
        (["values", "messages-tuple", "values"], ("values", "messages-tuple")),
    ],
)
def test_stream_modes_are_one_or_many(given: Any, modes: tuple[str, ...]) -> None:
    assert stream_modes(given) == modes
