"""Tracing is asked for in the environment or in ``langgraph.json``, and checked at the start."""

from __future__ import annotations

import json
import logging
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from langgraph_durable.errors import ProjectError, SettingsError
from langgraph_durable.launch import configure
from langgraph_durable.project_config import read_config
from langgraph_durable.settings import Settings
from langgraph_durable.tracing import Tracing, trace_id, trace_metadata


def config(folder: Path, tracing: Any) -> Path:
    file = folder / "langgraph.json"
    file.write_text(json.dumps({"graphs": {"a": "./a.py:a"}, "tracing": tracing}))
    return file


def test_a_trace_is_named_after_its_run() -> None:
    run_id = "0190a0b0-0000-7000-8000-000000000001"
    assert trace_id(run_id) == "tr-0190a0b0000070008000000000000001"
    assert trace_metadata("mlflow", run_id) == {"mlflow_trace_id": trace_id(run_id)}
    assert trace_metadata("off", run_id) == trace_metadata(None, run_id) == {}


@pytest.mark.parametrize(
    ("text", "meant"), [("mlflow", "mlflow"), ("off", "off"), ("", None), (" mlflow ", "mlflow")]
)
def test_the_environment_says_what_traces(text: str, meant: str | None) -> None:
    found = Settings.from_environment({"LANGGRAPH_DURABLE_TRACING": text})
    assert found.tracing == meant


def test_an_unknown_tracer_is_a_problem() -> None:
    with pytest.raises(SettingsError, match="'otel' is neither mlflow nor off"):
        Settings(tracing="otel")


def test_mlflow_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_durable.settings.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="mlflow is not installed"):
        Settings(tracing="mlflow")
    assert Settings(tracing="off").tracing == "off"


@pytest.mark.parametrize(
    ("tracing", "meant"),
    [(None, None), ({}, None), ({"mlflow": False}, None), ({"mlflow": True}, "mlflow")],
)
def test_the_file_says_what_traces(tmp_path: Path, tracing: Any, meant: str | None) -> None:
    assert read_config(config(tmp_path, tracing)).tracing == meant


@pytest.mark.parametrize("tracing", ["mlflow", [], {"mlflow": 1}, {"otel": True}, True])
def test_a_file_that_says_it_otherwise_is_told_how(tmp_path: Path, tracing: Any) -> None:
    with pytest.raises(ProjectError, match=r'tracing: must be {"mlflow": true}'):
        read_config(config(tmp_path, tracing))


@pytest.mark.parametrize(("variable", "meant"), [(None, "mlflow"), ("off", "off")])
def test_the_environment_wins_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None, meant: str
) -> None:
    if variable is not None:
        monkeypatch.setenv("LANGGRAPH_DURABLE_TRACING", variable)
    file = config(tmp_path, {"mlflow": True})
    options = Namespace(config=file, recovery=None, database_url=None, n_jobs_per_worker=None)
    problems: list[str] = []
    _, settings = configure(options, problems)
    assert (settings and settings.tracing, problems) == (meant, [])


async def test_off_it_does_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "langgraph_durable")
    off, claim = Tracing(), None
    await off.start()
    with off.attempt(claim) as trace:  # type: ignore[arg-type]
        trace.recovered([])
        trace.ended(None)
    await off.stop()
    assert caplog.records == []
