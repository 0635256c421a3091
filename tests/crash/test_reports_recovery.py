"""What users reported about crashes of other servers of the Responses protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.contract.people import Body, frames, text
from tests.crash.conftest import CrashServer
from tests.crash.gates import Gates
from tests.servers import Server

STRATEGIES = ["agent_session", "event_log"]


class Agent:
    """A client of the graph ``agent``, whose tool waits at the gate ``work``."""

    def __init__(self, server: Server, gates: Gates) -> None:
        self.server = server
        self.gates = gates
        self.http = httpx.Client(base_url=server.url, timeout=30)

    def turn(self, conversation: str, given: str = "plain") -> Body:
        body = {"model": "agent", "input": given, "conversation": conversation}
        told: Body = self.http.post("/responses", json=body).json()
        return told

    def crash(self, conversation: str, times: int = 1) -> list[Body]:
        """The frames of a turn whose server is killed during its tool, several times."""
        body = {"model": "agent", "input": "use the tool", "conversation": conversation}
        made = self.http.post("/responses", json={**body, "background": True}).json()
        for _ in range(times):
            self.gates.reached("work")
            self.gates.close("work")
            self.server.kill()
            self.server.start()
        self.gates.reached("work")
        self.gates.open("work")
        return frames(self.http.get(f"/responses/{made['id']}?stream=true").content)

    def messages(self, thread: str) -> list[Body]:
        values = self.http.get(f"/threads/{thread}/state").json()["values"]
        found: list[Body] = values["messages"]
        return found


@pytest.fixture(params=STRATEGIES)
def agent(
    request: pytest.FixtureRequest, crash_server: CrashServer, gates: Gates
) -> Iterator[Agent]:
    by_graph = {"recovery_by_graph": f"agent={request.param}"}
    client = Agent(crash_server(**by_graph).start(), gates)
    yield client
    client.http.close()


def ended_call(frame: Body) -> bool:
    return bool(frame["type"] == "response.output_item.done" and "call" in frame["item"]["type"])


def resumed(told: list[Body]) -> list[Any]:
    return [f["conversation_id"] for f in told if f["type"] == "response.resumed"]


def test_no_call_is_left_without_a_result_for_the_next_turn(agent: Agent) -> None:
    """databricks-ai-bridge#416, #425, chatkit-js#107: every later turn was refused."""
    told = agent.crash("c")
    later = agent.turn("c")

    messages = agent.messages("c")
    announced = [f["item"]["status"] for f in told if ended_call(f)]
    rotated = resumed(told) != ["c"]
    assert announced == (["incomplete", "completed"] if rotated else ["completed"])
    assert text(later) == "plain: 2"
    calls = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    results = [message["tool_call_id"] for message in messages if message["type"] == "tool"]
    assert later["status"] == "completed"
    assert calls == results
    assert len(calls) == 1


def test_a_create_that_is_tried_again_after_a_restart_makes_no_second_run(
    crash_server: CrashServer, gates: Gates
) -> None:
    """aegra#501, #506, dify#39685, hermes-agent#88400: a lost answer made a second run."""
    server = crash_server().start()
    body = {"model": "agent", "input": "use the tool", "conversation": "c", "background": True}

    def create(**changes: Any) -> httpx.Response:
        headers = {"Idempotency-Key": "k"}
        return httpx.post(
            f"{server.url}/responses", json={**body, **changes}, headers=headers, timeout=30
        )

    made = create().json()
    gates.reached("work")
    server.kill()
    server.start()
    again = create()
    other = create(input="something else")
    gates.open("work")

    assert (again.status_code, again.json()["id"]) == (200, made["id"])
    assert again.json()["status"] in ("queued", "in_progress")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_key_reused")
    httpx.get(f"{server.url}/responses/{made['id']}?stream=true", timeout=30)
    assert text(create().json()) == "remembered: use the tool"
    assert len(httpx.get(f"{server.url}/threads/c/runs").json()) == 1
    assert gates.count("think") == 2


def test_old_and_rotated_ids_reach_the_same_thread(agent: Agent) -> None:
    """databricks-ai-bridge#427, app-templates#204, #207: old ids led to an abandoned thread."""
    agent.turn("c")
    told = agent.crash("c", times=2)
    names = resumed(told)
    rotated = names[0] != "c"

    assert names == (["c::attempt-2", "c::attempt-3"] if rotated else ["c", "c"])
    for number, name in enumerate(["c", *names]):
        assert text(agent.turn(name)) == f"plain: {3 + number}"
    states = [agent.messages(name) for name in {"c", *names}]
    assert all(state == states[0] for state in states)


def test_numbers_go_on_over_attempts(agent: Agent) -> None:
    """BerriAI/litellm#28899: numbers began anew, and cursors lost their meaning."""
    told = agent.crash("c", times=2)

    assert [frame["sequence_number"] for frame in told] == list(range(len(told)))
    kinds = [frame["type"] for frame in told]
    assert kinds.count("response.created") == kinds.count("response.completed") == 1
    marks = [frame for frame in told if frame["type"] == "response.resumed"]
    assert [mark["attempt"] for mark in marks] == [2, 3]
    assert [mark["from_seq"] for mark in marks] == [mark["sequence_number"] for mark in marks]
