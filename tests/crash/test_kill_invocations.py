"""kill -9 of the server in mid-invocation, with a reader that comes back by its last event."""

from __future__ import annotations

from typing import Any

import httpx
import orjson
import pytest

from tests.crash.conftest import CrashServer
from tests.crash.gates import Gates
from tests.servers import Server

Event = dict[str, Any]
ASK = {"messages": [{"role": "user", "content": "use the tool"}]}


class Reader:
    """Reads an invocation's events as an EventSource does: from its last one on."""

    def __init__(self, server: Server, name: str) -> None:
        self.address = f"{server.url}/invocations/{name}/events"
        self.told: list[Event] = []

    def read(self, *, until: str) -> Event:
        """The first new event whose name starts like that."""
        headers = {"last-event-id": str(self.told[-1]["id"])} if self.told else {}
        with httpx.stream("GET", self.address, headers=headers, timeout=30) as answer:
            event: Event = {}
            for line in answer.iter_lines():
                key, _, value = line.partition(": ")
                if line and key:
                    event[key] = int(value) if key == "id" else value
                elif event:
                    self.told.append(event)
                    if event["event"].startswith(until):
                        return {**event, "data": orjson.loads(event["data"])}
                    event = {}
        raise AssertionError(f"no {until} among {[e['event'] for e in self.told]}")

    @property
    def names(self) -> list[str]:
        return [event["event"] for event in self.told]


def invoke(server: Server, **body: Any) -> dict[str, Any]:
    made = httpx.post(f"{server.url}/invocations", json=body, timeout=30)
    assert made.status_code in (200, 202), made.text
    found: dict[str, Any] = made.json()
    return found


@pytest.mark.parametrize("strategy", ["agent_session", "event_log"])
def test_a_reader_that_comes_back_misses_nothing_and_is_told_of_the_crash(
    strategy: str, crash_server: CrashServer, gates: Gates
) -> None:
    server = crash_server(recovery_by_graph=f"agent={strategy}").start()
    body = {"id": "order-7", "session_id": "s", "graph": "agent", "input": ASK}
    invoke(server, **body)
    reader = Reader(server, "order-7")
    reader.read(until="message")
    gates.reached("work")
    server.kill()
    gates.open("work")
    server.start()

    recovered = reader.read(until="run.recovered")["data"]
    ended = reader.read(until="run.completed")["data"]

    rotated = strategy == "event_log"
    assert (recovered["attempt"], recovered["reason"]) == (2, "crash")
    assert recovered["conversation_id"] == ("s::attempt-2" if rotated else "s")
    assert [event["id"] for event in reader.told] == list(range(len(reader.told)))
    assert (reader.names.count("run.recovered"), reader.names.count("run.started")) == (1, 1)
    assert (ended["attempt"], ended["status"], ended["session_id"]) == (2, "completed", "s")
    assert ended["output"]["messages"][-1]["content"] == "remembered: use the tool"
    assert gates.count("work") == 2
    assert gates.count("think") == (3 if rotated else 2)
    assert invoke(server, **body) == ended
    later = invoke(server, session_id="s", graph="agent", input=ASK | {}, background=False)
    assert later["output"]["messages"][-1]["content"] == "remembered: use the tool, use the tool"


def test_a_question_holds_nothing_and_outlives_the_server(
    crash_server: CrashServer, gates: Gates
) -> None:
    server = crash_server().start()
    asked = invoke(server, id="q", graph="one_question", input={"items": ["in"]}, background=False)
    assert (asked["status"], [q["value"] for q in asked["questions"]]) == (
        "requires_action",
        ["q1"],
    )
    running = httpx.get(f"{server.url}/metrics", params={"format": "json"}).json()
    assert running["workers"]["active"] == 0
    server.kill()
    server.start()
    answer = {"id": "a", "session_id": "q", "input": {"resume": "yes"}}
    invoke(server, **answer)
    reader = Reader(server, "a")
    gates.reached("ask")
    server.kill()
    gates.open("ask", "end")
    server.start()

    ended = reader.read(until="run.completed")["data"]

    assert ended["output"]["items"] == ["in", "q1=yes", "end"]
    assert invoke(server, **answer) == ended
    assert gates.count("end") == 1
