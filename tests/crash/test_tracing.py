"""Runs as MLflow traces: one for each run, whatever happens to its attempts."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import MakeServer
from tests.crash.gates import Gates
from tests.servers import ROOT, Server, until

READ = """
import json, sys
import mlflow
found = mlflow.MlflowClient().get_trace(sys.argv[1])
spans = [
    {"name": s.name, "id": s.span_id, "parent": s.parent_id, "status": s.status.status_code.value,
     "ended": s.end_time_ns is not None, "inputs": s.inputs, "outputs": s.outputs,
     "all": s.to_dict()}
    for s in found.data.spans
]
session = found.info.trace_metadata.get("mlflow.trace.session")
info = {"state": found.info.state.value, "session": session}
print(json.dumps({**info, "spans": spans}, default=str))
"""
ASK_FOR_IT = {"x-mlflow-return-trace-id": "true"}
Traced = Callable[..., Server]


TABLES_SECONDS = 180
"""MLflow makes its tables step by step, a minute of a busy machine: longer than a server waits."""


def env_of(store: Path) -> dict[str, str]:
    return {
        "MLFLOW_TRACKING_URI": f"sqlite:///{store}",
        "MLFLOW_EXPERIMENT_NAME": "durable",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
    }


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tracking store with its tables and the experiment."""
    folder = tmp_path_factory.mktemp("mlflow")
    subprocess.run(
        (sys.executable, "-W", "ignore", "-c", "import mlflow; mlflow.set_experiment('durable')"),
        cwd=folder,
        env=env_of(folder / "mlflow.db"),
        check=True,
        capture_output=True,
        timeout=TABLES_SECONDS,
    )
    return folder / "mlflow.db"


@pytest.fixture
def mlflow_env(tmp_path: Path, empty_store: Path) -> dict[str, str]:
    shutil.copy(empty_store, tmp_path / "mlflow.db")
    return env_of(tmp_path / "mlflow.db")


@pytest.fixture
def traced(
    make_server: MakeServer, database_url: str, gates: Gates, mlflow_env: dict[str, str]
) -> Traced:
    """A traced server of ``tests/apps/seed``; ``more`` of the environment may be given."""

    def make(**more: str) -> Server:
        env = {**gates.env, **mlflow_env, "LANGGRAPH_DURABLE_TRACING": "mlflow", **more}
        return make_server("seed", database_url=database_url, env=env)

    return make


def read_trace(trace_id: str, env: dict[str, str]) -> dict[str, Any]:
    """The trace as MLflow shows it; its process needs no more than MLflow itself."""
    done = subprocess.run(
        (sys.executable, "-W", "ignore", "-c", READ, trace_id),
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def stored(env: dict[str, str], name: str) -> bool:
    """Is there a span of this name in the tracking store?"""
    file = env["MLFLOW_TRACKING_URI"].removeprefix("sqlite:///")
    with closing(sqlite3.connect(file, timeout=10)) as store:
        return bool(store.execute("SELECT 1 FROM spans WHERE name = ?", (name,)).fetchone())


def ask(http: httpx.Client, **changes: Any) -> dict[str, Any]:
    body = {"input": "hi", "background": True, "context": {"conversation_id": "t-1"}, **changes}
    answer: dict[str, Any] = http.post("/responses", json=body).json()
    return answer


def ended(http: httpx.Client, response: dict[str, Any]) -> dict[str, Any]:
    """The response when it has ended."""
    told: list[dict[str, Any]] = []

    def done() -> bool:
        told[:] = [http.get(f"/responses/{response['id']}").json()]
        return told[0]["status"] not in ("queued", "in_progress")

    until(done, "the response has ended")
    return told[0]


def below(found: dict[str, Any], parent: str) -> list[str]:
    """The names of the spans under the span called ``parent``."""
    ids = [span["id"] for span in found["spans"] if span["name"] == parent]
    return sorted(span["name"] for span in found["spans"] if span["parent"] in ids)


@pytest.mark.timeout(TABLES_SECONDS + 120)
def test_an_attempt_after_a_kill_adds_its_span_to_the_same_trace(
    traced: Traced, gates: Gates, mlflow_env: dict[str, str]
) -> None:
    server = traced().start()
    headers = {**ASK_FOR_IT, "x-forwarded-access-token": "token-of-ada"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=20) as http:
        asked = ask(http)
        trace_id = asked["metadata"]["trace_id"]
        gates.reached("work")
        until(lambda: stored(mlflow_env, "Model"), "the model's span is stored")
        server.kill()
        gates.open("work")
        server.start()
        assert ended(http, asked)["metadata"] == {"trace_id": trace_id, "attempt": "2"}
        (run,) = http.get("/threads/t-1/runs").json()
    server.close()

    found = read_trace(trace_id, mlflow_env)
    assert trace_id == f"tr-{run['run_id'].replace('-', '')}" == run["metadata"]["mlflow_trace_id"]
    assert (found["state"], found["session"]) == ("OK", "t-1")
    assert below(found, "agent") == ["attempt 1", "attempt 2"]
    assert below(found, "attempt 2") == ["LangGraph"]
    by_name = {span["name"]: span for span in found["spans"]}
    root = by_name["agent"]
    assert root["inputs"]["messages"][0]["content"] == "hi"
    assert root["outputs"]["messages"][-1]["content"] == "I looked: all is well "
    statuses = {n: by_name[n]["status"] for n in ("agent", "attempt 1", "attempt 2")}
    assert statuses == {"agent": "OK", "attempt 1": "ERROR", "attempt 2": "OK"}
    assert by_name["attempt 1"]["ended"]
    assert by_name["attempt 1"]["all"]["status"]["message"] == "its process died"
    assert "token-of-ada" not in json.dumps(found)
    # what the dead process had finished is there as well
    models = [span for span in found["spans"] if span["name"] == "Model"]
    assert len(models) == 2


def test_a_failing_store_fails_no_run(
    traced: Traced, gates: Gates, tmp_path: Path, mlflow_env: dict[str, str]
) -> None:
    gates.open("work")
    (tmp_path / "no-folder").write_text("a file")
    server = traced(MLFLOW_TRACKING_URI=f"sqlite:///{tmp_path}/no-folder/mlflow.db").start()
    with httpx.Client(base_url=server.url, headers=ASK_FOR_IT, timeout=20) as http:
        done = ended(http, ask(http))
        assert (done["status"], done["custom_outputs"] is not None) == ("completed", True)
        assert done["metadata"]["trace_id"].startswith("tr-")
    assert server.terminate() < 15
    complaints = re.findall(
        r"(\w+) +langgraph_durable.mlflow_tracing: spans", server.log.read_text()
    )
    assert complaints[0] == "WARNING"
    assert set(complaints[1:]) <= {"DEBUG"}


def test_a_cancelled_run_and_its_stream_name_the_trace(
    traced: Traced, gates: Gates, mlflow_env: dict[str, str]
) -> None:
    server = traced().start()
    with httpx.Client(base_url=server.url, headers=ASK_FOR_IT, timeout=20) as http:
        asked = ask(http)
        gates.reached("work")
        http.post(f"/responses/{asked['id']}/cancel")
        query = {"stream": "true", "starting_after": "0"}
        *frames, trace, done, end = http.get(f"/responses/{asked['id']}", params=query).text.split(
            "\n\n"
        )
        silent = http.get(
            f"/responses/{asked['id']}", headers={"x-mlflow-return-trace-id": "false"}
        )
    server.close()

    trace_id = asked["metadata"]["trace_id"]
    assert (trace, done, end) == (f'data: {{"trace_id":"{trace_id}"}}', "data: [DONE]", "")
    last = json.loads(frames[-1].partition("data: ")[2])
    assert last["response"]["metadata"]["trace_id"] == trace_id
    assert silent.json()["metadata"] == {}
    found = read_trace(trace_id, mlflow_env)
    assert found["state"] == "OK"
    (root,) = [span for span in found["spans"] if span["name"] == "agent"]
    assert root["all"]["attributes"]["langgraph_durable.status"] == '"interrupted"'


OFF = """
import asyncio, os, sys
from langgraph_durable import DurableEngine, DurableServer, Settings
from langgraph.graph import END, START, MessagesState, StateGraph
def node(state): return {"messages": [("ai", "hi")]}
graph = StateGraph(MessagesState).add_node("n", node).add_edge(START, "n").compile()
async def main():
    settings = Settings(database_url=os.environ["DATABASE_URL"])
    async with DurableServer(graph, settings=settings).lifespan() as _, DurableEngine(
        graph, settings=settings
    ) as engine:
        from langgraph_durable.model import RunRequest
        run = await engine.submit(RunRequest(assistant="agent", input={"messages": "hi"}))
        done = await engine.wait(run.run_id)
        print(done.status, done.metadata.get("mlflow_trace_id"))
import protocol_adapter.app
asyncio.run(main())
print([name for name in sys.modules if name.partition(".")[0] in ("mlflow", "opentelemetry.sdk")])
"""


def test_off_nothing_is_imported_and_no_run_names_a_trace(database_url: str) -> None:
    done = subprocess.run(
        (sys.executable, "-c", OFF),
        env={"PYTHONPATH": str(ROOT), "DATABASE_URL": database_url, "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.splitlines() == ["success None", "[]"], done.stderr
