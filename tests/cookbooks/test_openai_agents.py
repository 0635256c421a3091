"""A loop of the OpenAI Agents SDK, hosted and killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from cookbooks.openai_agents.scripted_model import next_output
from tests.logs import query, read_log
from tests.servers import ROOT, Server, until

CONFIG = ROOT / "cookbooks" / "openai_agents" / "langgraph.json"
ANSWER = 'I waited 1 seconds. You have asked me 1: "wait 1".'
Frame = dict[str, Any]
Serve = Callable[[str], Server]


@pytest.fixture
def serve(database_url: str, tmp_path: Path) -> Iterator[Serve]:
    """Serves the cookbook with a strategy; the server ends with the test."""
    made: list[Server] = []

    def start(strategy: str) -> Server:
        env = {"LANGGRAPH_DURABLE_RECOVERY": strategy}
        server = Server(CONFIG, database_url=database_url, env=env, log=tmp_path / "log")
        made.append(server)
        return started(server)

    yield start
    for one in made:
        one.close()


def started(server: Server) -> Server:
    """The SDK takes its time to be imported."""
    server.start(wait=False)
    until(server.ready, f"the server is ready; see {server.log}", seconds=60)
    return server


def kinds(frames: list[Frame]) -> list[str]:
    return [frame["type"].removeprefix("response.") for frame in frames]


@pytest.mark.parametrize("strategy", ["agent_session", "event_log"])
def test_a_tool_call_that_is_killed_ends_and_the_session_goes_on(
    strategy: str, serve: Serve, database_url: str
) -> None:
    server = serve(strategy)
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="-", max_retries=0) as client:
        told: list[Frame] = []
        with client.responses.create(
            model="agent", input="wait 1", conversation="c", background=True, stream=True
        ) as stream:
            for event in stream:
                told.append(event.to_dict())
                if event.type == "response.mcp_call_arguments.done":
                    break
        results = "SELECT task_id FROM checkpoint_writes WHERE channel = '__return__'"
        until(lambda: len(query(database_url, results)) == 1, "the model's answer is durable")
        server.kill()
        started(server)
        name = told[0]["response"]["id"]
        rest = client.responses.retrieve(
            name, stream=True, starting_after=told[-1]["sequence_number"]
        )
        whole = [*told, *(event.to_dict() for event in rest)]

        last = whole[-1]["response"]
        assert (whole[-1]["type"], kinds(whole).count("resumed")) == ("response.completed", 1)
        assert [item["type"] for item in last["output"]] == ["mcp_call", "message"]
        assert last["output"][0]["output"] == "waited 1 seconds"
        assert last["output"][1]["content"][0]["text"] == ANSWER
        calls = [f for f in whole if f["type"].endswith("item.added") and "name" in f["item"]]
        assert len(calls) == (1 if strategy == "agent_session" else 2)
        run_id = query(database_url, "SELECT run_id FROM runs")[0]["run_id"]
        log = read_log(database_url, str(run_id))
        answers = [event for event in log if event.data.startswith('{"answer"')]
        assert len(answers) == (2 if strategy == "agent_session" else 3)

        turn = client.responses.create(model="agent", input="and now?", conversation="c")
        assert turn.output_text == 'You have asked me 2: "wait 1", "and now?".'


def test_the_other_protocols_see_the_same_conversation(serve: Serve) -> None:
    server = serve("agent_session")
    given = {"messages": [{"role": "user", "content": "hello"}]}
    with httpx.Client(base_url=server.url, timeout=30) as client:
        body = {"session_id": "c", "input": given, "background": False}
        said = client.post("/invocations", json=body).json()["output"]["messages"]
        assert [(m["type"], m["content"]) for m in said] == [
            ("human", "hello"),
            ("ai", 'You have asked me 1: "hello".'),
        ]
        assert client.get("/threads/c/state").json()["values"]["messages"] == said


def test_the_model_waits_once_more_when_a_recovery_lost_the_result() -> None:
    asked = {"role": "user", "content": "wait 5"}
    lost = [asked, {"role": "user", "content": "[RECOVERY] wait(5) was called; no result"}]
    known = [asked, {"role": "user", "content": "[RECOVERY] wait(5): waited 5 seconds"}]
    assert [item.type for item in next_output(lost)] == ["function_call"]
    assert [item.type for item in next_output(known)] == ["message"]
