"""The deployment in ``app.yaml``: its command, the platform's variables, passwords that expire."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import psycopg
import pytest
import yaml  # type: ignore[import-untyped]

from tests.passwords import GuardedPostgres
from tests.servers import ROOT, Server

APP: Any = yaml.safe_load((ROOT / "app.yaml").read_text())
EXPIRES_AFTER_SECONDS = 2.0
RECOVERY = "LANGGRAPH_DURABLE_RECOVERY"


class Deployed(Server):
    """What the platform makes of ``app.yaml``: its command with its environment, and its own."""

    def __init__(self, bin_folder: Path, *, env: dict[str, str], log: Path) -> None:
        listed = {entry["name"]: entry["value"] for entry in APP["env"]}
        assert listed.keys() >= env.keys() & {RECOVERY, "LANGGRAPH_DURABLE_CREDENTIALS"}
        super().__init__(ROOT / "langgraph.json", env={**listed, **env}, log=log)
        path = os.pathsep.join((str(bin_folder), self._env["PATH"]))
        self._env |= {"DATABRICKS_APP_PORT": str(self.port), "PATH": path}

    def arguments(self) -> list[str]:
        return ["env", *APP["command"]]


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A folder for PATH with the console script, as an installation makes it."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, target in scripts.items():
        module, function = target.split(":")
        script = folder / name
        lines = (f"#!{sys.executable}", "import sys", f"from {module} import {function}")
        script.write_text("\n".join((*lines, f"sys.exit({function}())", "")))
        script.chmod(0o755)
    return folder


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[GuardedPostgres]:
    made = GuardedPostgres(tmp_path / "guarded", seconds=EXPIRES_AFTER_SECONDS)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def deployed(
    request: pytest.FixtureRequest, postgres: GuardedPostgres, bin_folder: Path, tmp_path: Path
) -> Iterator[Deployed]:
    path = os.pathsep.join((str(ROOT), str(postgres.folder)))
    env = {**postgres.env, "PYTHONPATH": path, RECOVERY: request.param}
    server = Deployed(bin_folder, env=env, log=tmp_path / "deployed.log")
    yield server.start()
    server.close()


@pytest.fixture
async def client(deployed: Deployed) -> AsyncIterator[openai.AsyncOpenAI]:
    address = f"{deployed.url}/v1"
    async with openai.AsyncOpenAI(base_url=address, api_key="-", max_retries=0) as client:
        yield client


@pytest.mark.parametrize(
    ("deployed", "rotated"),
    [("agent_session", "conv_1"), ("event_log", "conv_1::attempt-2")],
    indirect=["deployed"],
    ids=["agent_session", "event_log"],
)
async def test_the_deployment_serves_reconnects_and_recovers_while_its_password_expires(
    deployed: Deployed, postgres: GuardedPostgres, client: openai.AsyncOpenAI, rotated: str
) -> None:
    asked: Any = {"model": "agent", "conversation": "conv_1"}
    served = await client.responses.create(**asked, input="hello")
    assert served.output_text == 'You have asked me one thing: "hello".'

    stream = await client.responses.create(**asked, input="wait 3", background=True, stream=True)
    told: list[Any] = []
    async for event in stream:
        told.append(event)
        if event.type == "response.mcp_call_arguments.done":
            break
    await stream.close()
    old = postgres.password
    postgres.rotate()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        postgres.connect(old)
    before = postgres.asked
    assert postgres.terminate_all() > 0
    async with httpx.AsyncClient(base_url=deployed.url, timeout=20) as http:
        alive = await http.get("/ok?check_db=1")
    assert alive.json() == {"ok": True}
    assert postgres.asked > before

    deployed.kill()
    deployed.start()
    rest: list[Any] = [
        event
        async for event in await client.responses.retrieve(
            told[0].response.id, stream=True, starting_after=told[-1].sequence_number
        )
    ]

    numbers = [event.sequence_number for event in (*told, *rest)]
    assert numbers == list(range(len(numbers)))
    [resumed] = [event.to_dict() for event in rest if event.type == "response.resumed"]
    assert (resumed["attempt"], resumed["conversation_id"]) == (2, rotated)
    assert rest[-1].type == "response.completed"
    assert re.fullmatch(r"I waited 3 seconds\. You .* 2 things: .*", rest[-1].response.output_text)
    after = await client.responses.create(**asked, input="and now?")
    assert '3 things: "hello", "wait 3", "and now?"' in after.output_text
