"""Run policies as they are written down: in langgraph.json, in the environment, in code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from langgraph_durable.errors import ProjectError, SettingsError
from langgraph_durable.policy import Backoff, RunPolicy
from langgraph_durable.project import Project, read_config
from langgraph_durable.served import Served
from langgraph_durable.settings import Settings
from tests.graphs import chain, says

WHOLE = {
    "max_attempts": 5,
    "run_deadline_seconds": 3600,
    "step_timeout_seconds": 60.5,
    "concurrency": 10,
    "retry": {"initial_seconds": 2, "factor": 3, "max_seconds": 100},
}


def config_of(folder: Path, durable: Any) -> Any:
    path = folder / "langgraph.json"
    path.write_text(json.dumps({"graphs": {"agent": "./agent.py:graph"}, "durable": durable}))
    return read_config(path)


def test_a_policy_is_read_from_langgraph_json(tmp_path: Path) -> None:
    found = config_of(tmp_path, {"policies": {"agent": WHOLE}}).durable.policies
    assert found == {
        "agent": RunPolicy(
            max_attempts=5,
            run_deadline_seconds=3600.0,
            step_timeout_seconds=60.5,
            concurrency=10,
            retry=Backoff(initial_seconds=2.0, factor=3.0, max_seconds=100.0),
        )
    }


@pytest.mark.parametrize(
    ("durable", "told"),
    [
        ({"policies": []}, "durable.policies: must be an object"),
        ({"policies": {"agent": 3}}, "durable.policies.agent: must be an object"),
        ({"policies": {"agnet": {}}}, "durable.policies.agnet: no graph is called so"),
        ({"policys": {}}, "durable.policys: unknown; there are recovery, policies"),
        ({"policies": {"agent": {"attempts": 3}}}, "durable.policies.agent.attempts: unknown;"),
        ({"policies": {"agent": {"retry": {"base": 1}}}}, "durable.policies.agent.retry.base: unk"),
        *(
            (
                {"policies": {"agent": {key: value}}},
                f"durable.policies.agent.{key}: must be a whole number above 0",
            )
            for key in ("max_attempts", "concurrency")
            for value in (0, -1, 1.5, "3", True, 2**31)
        ),
        *(
            (
                {"policies": {"agent": {key: value}}},
                f"durable.policies.agent.{key}: must be a number of seconds, at least 0.001",
            )
            for key in ("run_deadline_seconds", "step_timeout_seconds")
            for value in (0, -3, "60", True, 1e12)
        ),
        (
            {"policies": {"agent": {"retry": {"factor": 0.5}}}},
            "durable.policies.agent.retry.factor: must be a number, at least 1",
        ),
    ],
)
def test_what_is_wrong_with_a_policy_is_told_at_the_start(
    tmp_path: Path, durable: Any, told: str
) -> None:
    with pytest.raises(ProjectError) as caught:
        config_of(tmp_path, durable)
    assert f"langgraph.json: {told}" in caught.value.message


def test_policies_can_come_from_the_environment() -> None:
    env = {"LANGGRAPH_DURABLE_POLICIES": json.dumps({"agent": WHOLE})}
    assert Settings.from_environment(env).policies["agent"].concurrency == 10
    for text, told in (("{", "not JSON"), ('{"a": {"concurrency": 0}}', "policies.a.concurrency")):
        with pytest.raises(SettingsError, match=told):
            Settings.from_environment({"LANGGRAPH_DURABLE_POLICIES": text})


def test_the_official_names_of_a_deadline_and_of_isolated_loops_are_understood() -> None:
    env = {"BG_JOB_TIMEOUT_SECS": "90", "BG_JOB_ISOLATED_LOOPS": "true"}
    settings = Settings.from_environment(env)
    assert (settings.run_deadline_seconds, settings.isolated_loops) == (90.0, True)
    with pytest.raises(SettingsError, match="run_deadline_seconds: 0"):
        Settings(run_deadline_seconds=0)


def test_a_policy_for_a_graph_that_is_not_there_is_a_mistake() -> None:
    project = Project.from_graph(chain(n=says("x")))
    with pytest.raises(ProjectError, match="policies: no graph is called 'agnet'"):
        project.check(Settings(policies={"agnet": RunPolicy(concurrency=1)}))


def test_the_nearest_word_counts_bound_by_bound() -> None:
    from langgraph_durable.graphs import graph_source

    said = RunPolicy(max_attempts=5, concurrency=2)
    source = graph_source("agent", chain(n=says("x")), policy=said)
    settings = Settings(
        policies={"agent": RunPolicy(concurrency=7)}, max_attempts=9, run_deadline_seconds=60
    )
    assert source.policy_under(settings) == RunPolicy(
        max_attempts=5, concurrency=7, run_deadline_seconds=60
    )


def test_only_graphs_with_a_limit_have_to_be_counted() -> None:
    served = Served({"a": RunPolicy(max_attempts=1), "b": RunPolicy(max_attempts=4, concurrency=2)})
    assert served.limited == ["b"]
    assert [row["graph_id"] for row in json.loads(served.rows(without=["b"]))] == ["a"]
    assert (served.last_strike("a"), served.last_strike("b")) == (0, 3)
