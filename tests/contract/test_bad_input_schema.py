"""Requests that the OpenAPI document allows or forbids, by schemathesis, at a real server.

Each operation gets its share of ``BAD_INPUT_EXAMPLES``, which a person may raise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest
import schemathesis
from hypothesis import given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.schemas import APIOperation

from protocol_adapter.app import create_app
from tests.contract.badness import TOLD_TO_NOBODY, check_alive, fuzz
from tests.protocol_adapter.engine import ScriptedEngine
from tests.servers import Server

load_all_checks()
ALWAYS = schemathesis.checks.CHECKS.get_by_names(
    [
        *("not_a_server_error", "status_code_conformance", "content_type_conformance"),
        *("response_headers_conformance", "response_schema_conformance"),
    ]
)
REFUSED = schemathesis.checks.CHECKS.get_by_names(["negative_data_rejection"])
TOLD_AS_ANSWERS = {"POST /threads/{thread_id}/commands"}
"""What the streaming protocol refuses it answers, with 200."""
PATIENCE_SECONDS = 10.0
ENDLESS = {"GET /threads/{thread_id}/stream", "POST /threads/{thread_id}/stream/events"}
LISTENING_SECONDS = 3.0
"""How long a stream is heard that has no end."""

COMMANDS = ["run.start", "input.respond", "state.get", "state.listCheckpoints", "state.fork"]
ECHO = {"type": "string", "enum": ["echo"]}
NARROWED = {
    "after_seconds": {"type": "number", "minimum": 0, "maximum": 0.01},
    "agent": ECHO,
    "assistant_id": ECHO,
    "end_time": {"type": "string", "format": "date-time"},
    "graph": ECHO,
    "graph_id": ECHO,
    "method": {"type": "string", "enum": COMMANDS},
    "model": {"type": "string", "enum": ["chat"]},
    "params": {"type": "object", "properties": {"assistant_id": ECHO}},
    "schedule": {"type": "string", "enum": ["0 0 1 1 *", "0 0 29 2 *"]},
    "timezone": {"type": "string", "enum": ["UTC", "Europe/Rome"]},
}
"""Of all that a key takes, what is there and does not wait for years."""
NARROW = (
    *("RunCreate", "AttendedRunCreate", "BatchRunCreate", "CronCreate", "AssistantCreate"),
    *("ProtocolCommand", "ResponseCreate", "InvocationCreate"),
)


def narrowed(document: dict[str, Any]) -> dict[str, Any]:
    for name in NARROW:
        body = document["components"]["schemas"][name]
        keys = {key: NARROWED.get(key, schema) for key, schema in body["properties"].items()}
        document["components"]["schemas"][name] = {**body, "properties": keys}
    return document


API = schemathesis.openapi.from_dict(narrowed(create_app(cast(Any, ScriptedEngine())).openapi()))
OPERATIONS = [found.ok() for found in API.get_all_operations()]
EACH = int(os.environ.get("BAD_INPUT_EXAMPLES", 10 * len(OPERATIONS))) // len(OPERATIONS)


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=30) as client:
        yield client


@pytest.fixture
def known(client: httpx.Client) -> dict[str, str]:
    """Ids that exist, by the names that paths give them."""
    thread_id = client.post("/threads", json={}).json()["thread_id"]
    assistant = client.post("/assistants", json={"graph_id": "echo"})
    run = {"assistant_id": "echo", "input": {"x": 1}}
    made = client.post(f"/threads/{thread_id}/runs/wait", json=run)
    cron = client.post("/runs/crons", json={"assistant_id": "echo", "schedule": "0 0 1 1 *"})
    turn = {"model": "chat", "input": "hi", "background": True, "stream": True}
    said = {"items": [{"role": "user", "content": "hi"}]}
    conversation = client.post("/conversations", json={}).json()["id"]
    items = client.post(f"/conversations/{conversation}/items", json=said)
    invocation = client.post("/invocations", json={"graph": "echo", "input": {"x": 1}})
    return {
        "id": invocation.json()["id"],
        "conversation_id": conversation,
        "item_id": items.json()["data"][0]["id"],
        "model": "chat",
        "thread_id": thread_id,
        "run_id": made.headers["content-location"].rpartition("/")[2],
        "assistant_id": assistant.json()["assistant_id"],
        "cron_id": cron.json()["cron_id"],
        "response_id": client.post("/responses", json=turn).headers["x-response-id"],
    }


def requests_of(operation: APIOperation, known: dict[str, str]) -> st.SearchStrategy[Case]:
    """By the document and against it, about what exists and about what does not."""
    ids = {parameter.name for parameter in operation.path_parameters}
    exists = {name: value for name, value in known.items() if name in ids}
    can_be_wrong = operation.body or operation.query or operation.headers
    modes = [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if can_be_wrong else [])]
    about = [{"path_parameters": exists}, {}] if exists else [{}]
    cases = [operation.as_strategy(generation_mode=m, **where) for where in about for m in modes]
    return st.one_of(cases).filter(says_nothing_empty)


def says_nothing_empty(case: Case) -> bool:
    """An empty value in a query is absent, so it breaks no rule of the document."""
    values = [each if isinstance(each, list) else [each] for each in case.query.values()]
    return not any(value == "" for each in values for value in each)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_request_breaks_anything(
    operation: APIOperation, server: Server, client: httpx.Client, known: dict[str, str]
) -> None:
    checks = ALWAYS if operation.label in TOLD_AS_ANSWERS else [*ALWAYS, *REFUSED]
    endless = operation.label in ENDLESS
    patience = LISTENING_SECONDS if endless else PATIENCE_SECONDS

    @settings(fuzz, max_examples=EACH // 2 if endless else EACH)
    @given(requests_of(operation, known))
    def send(case: Case) -> None:
        answer = case.call(base_url=server.url, timeout=patience)
        case.validate_response(answer, checks=checks)
        assert not any(word in answer.text for word in TOLD_TO_NOBODY), answer.text

    send()
    check_alive(client)
