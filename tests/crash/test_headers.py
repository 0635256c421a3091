"""Request headers reach graphs at every door, also in the attempt after a kill; nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.conftest import MakeServer
from tests.crash.gates import Gates
from tests.logs import query
from tests.servers import Server, until

TOKEN = "token-of-ada"
SENT = {
    "X-Forwarded-Access-Token": TOKEN,
    "x-tenant": "blue",
    "x-forwarded-for": "10.1.1.1",
    "authorization": "Bearer hidden",
}
SEEN = {"x-forwarded-access-token": TOKEN, "x-tenant": "blue"}
MODES = ["values", "updates", "messages-tuple", "debug", "checkpoints", "tasks", "custom", "events"]

Ask = Callable[[httpx.Client], str]


def at_the_langgraph_door(http: httpx.Client) -> str:
    body = {"input": {"messages": "hi"}, "assistant_id": "agent", "stream_mode": MODES}
    body["if_not_exists"] = "create"
    made = http.post("/threads/t-1/runs", json=body)
    return f"/threads/t-1/runs/{made.json()['run_id']}"


def at_the_responses_door(http: httpx.Client) -> str:
    body = {"input": "hi", "background": True, "custom_inputs": {"thread_id": "t-1"}}
    return f"/responses/{http.post('/responses', json=body).json()['id']}"


def as_a_command(http: httpx.Client) -> str:
    params = {"assistant_id": "agent", "input": {"messages": "hi"}}
    command = {"id": 1, "method": "run.start", "params": params}
    made = http.post("/threads/t-1/commands", json=command)
    return f"/threads/t-1/runs/{made.json()['result']['run_id']}"


def as_an_invocation(http: httpx.Client) -> str:
    body = {"session_id": "t-1", "input": {"messages": "hi"}, "background": True}
    return f"/invocations/{http.post('/invocations', json=body).json()['id']}"


@pytest.mark.parametrize(
    "ask", [at_the_langgraph_door, at_the_responses_door, as_a_command, as_an_invocation]
)
def test_every_attempt_has_the_allowed_headers_and_nothing_else_shows_them(
    ask: Ask, make_server: MakeServer, database_url: str, gates: Gates
) -> None:
    server: Server = make_server("seed", database_url=database_url, env=gates.env).start()
    with httpx.Client(base_url=server.url, headers=SENT, timeout=20) as http:
        path = ask(http)
        gates.reached("work")
        server.kill()
        gates.open("work")
        server.start()
        until(lambda: _ended(http.get(path).json()), "the run has ended")
        told = [http.get(path).text, http.get("/threads/t-1/history").text]
        told += [http.get("/threads/t-1").text, http.get("/threads/t-1/runs").text]

    lines = (gates.folder / "seen").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [SEEN, SEEN]
    assert TOKEN not in "".join(told)
    assert TOKEN not in server.log.read_text()
    assert _tables_with(database_url, TOKEN) == ["runs.request"]


def _ended(body: dict[str, Any]) -> bool:
    return body["status"] in ("success", "completed")


def _tables_with(database_url: str, text: str) -> list[str]:
    columns = query(
        database_url,
        "SELECT table_name AS t, column_name AS c FROM information_schema.columns"
        " WHERE table_schema = 'langgraph_durable'"
        " AND (data_type IN ('text', 'jsonb', 'bytea')) ORDER BY 1, 2",
    )
    return [f"{found['t']}.{found['c']}" for found in columns if _holds(database_url, found, text)]


def _holds(database_url: str, column: dict[str, str], text: str) -> bool:
    table, name = column["t"], column["c"]
    statement = f'SELECT 1 FROM "{table}" WHERE strpos("{name}"::text, %s) > 0 LIMIT 1'
    # bytes are shown as hexadecimal digits
    return any(query(database_url, statement, (each,)) for each in (text, text.encode().hex()))
