"""A tour of the LangGraph door: every answer is what the served OpenAPI document says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from protocol_adapter.langgraph.openapi import LANGGRAPH
from tests.servers import Server

JSON = "application/json"
EVENTS = "text/event-stream"
FORMATS = Draft202012Validator.FORMAT_CHECKER


class Document:
    """The document of a server, to hold answers against."""

    def __init__(self, served: dict[str, Any]) -> None:
        self._components = served["components"]
        self.operations = {
            f"{method.upper()} {path}": operation
            for path, operations in served["paths"].items()
            for method, operation in operations.items()
        }

    def label(self, request: httpx.Request) -> str:
        """The operation that a request asks for: of several, the one with the fewest gaps."""
        path = request.url.path
        fitting = [label for label in self.operations if _fits(label, f"{request.method} {path}")]
        return min(fitting, key=lambda label: label.count("{"))

    def check(self, answer: httpx.Response) -> None:
        """An undocumented status, header, content type or body is an error."""
        label = self.label(answer.request)
        documented = self.operations[label]["responses"].get(str(answer.status_code))
        assert documented is not None, (label, answer.status_code)
        assert {name.lower() for name in documented.get("headers", ())} <= set(answer.headers)
        content = documented.get("content", {})
        kind = answer.headers.get("content-type", "").partition(";")[0]
        assert kind in (content or [""]), (label, kind)
        if kind == JSON:
            schema = {**content[JSON]["schema"], "components": self._components}
            Draft202012Validator(schema, format_checker=FORMATS).validate(answer.json())


def _fits(label: str, asked: str) -> bool:
    return bool(re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(label)), asked))


class Tour:
    """The stock client, and a plain one for what it has no method for; both are watched."""

    def __init__(self, sdk: SyncLangGraphClient, document: Document) -> None:
        self.sdk = sdk
        self.http = sdk.http.client
        self.http.event_hooks = {"response": [self._watch]}
        self.seen: set[str] = set()
        self._document = document

    def _watch(self, answer: httpx.Response) -> None:
        if not answer.headers.get("content-type", "").startswith(EVENTS):
            answer.read()
        self._document.check(answer)
        if answer.is_success:
            self.seen.add(self._document.label(answer.request))

    def post(self, path: str, body: Any) -> Any:
        return self.http.post(path, json=body).raise_for_status().json()

    def listen(self, method: str, path: str, **asked: Any) -> None:
        """Opens a stream that has no end, and leaves it."""
        with self.http.stream(method, path, **asked) as answer:
            assert next(answer.iter_bytes())


@pytest.fixture
def document(server: Server) -> Document:
    return Document(httpx.get(f"{server.url}/openapi.json").json())


@pytest.fixture
def tour(server: Server, document: Document) -> Iterator[Tour]:
    with get_sync_client(url=server.url) as sdk:
        yield Tour(sdk, document)


def test_every_answer_is_as_described(tour: Tour) -> None:
    for visit in (assistants, threads, signals, states, runs, stateless, crons, store, protocol):
        visit(tour)
    assert tour.seen == set(LANGGRAPH.operations)


def assistants(tour: Tour) -> None:
    found = tour.sdk.assistants
    name = found.create("subgraph", metadata={"of": "tour"}, description="d")["assistant_id"]
    found.update(name, name="Walker", config={"recursion_limit": 9}, context={})
    found.get(name)
    found.get("echo")
    found.search(metadata={"of": "tour"}, response_format="object")
    found.search(limit=3, select=["assistant_id", "name"])
    found.count(graph_id="subgraph")
    found.get_versions(name)
    found.set_latest(name, 1)
    found.get_schemas(name)
    found.get_graph(name, xray=True)
    found.get_subgraphs(name, recurse=True)
    found.get_subgraphs(name, namespace="child")
    found.delete(name)
    tour.http.get(f"/assistants/{name}")
    tour.http.delete("/assistants/nope")


def threads(tour: Tour) -> None:
    found = tour.sdk.threads
    steps = [{"updates": [{"values": {"x": 1}, "as_node": "echo"}]}]
    made = found.create(graph_id="echo", ttl=60, metadata={"of": "tour"}, supersteps=steps)
    name = made["thread_id"]
    tour.http.get(f"/threads/{name}", params={"include": "ttl"})
    tour.http.post("/threads", json={"thread_id": name})
    found.get(name)
    found.update(name, metadata={"more": 1})
    tour.http.patch(f"/threads/{name}", json={}, headers={"Prefer": "return=minimal"})
    found.search(metadata={"of": "tour"}, extract={"x": "values.x"})
    found.search(select=["thread_id", "status"])
    found.count(status="idle")
    copied = tour.http.post(f"/threads/{name}/copy").json()["thread_id"]
    found.prune([copied], strategy="keep_latest")
    found.delete(copied)
    tour.http.get(f"/threads/{copied}")


def signals(tour: Tour) -> None:
    thread_id = tour.sdk.threads.create()["thread_id"]
    tour.post(f"/threads/{thread_id}/signals/paid", {"by": "card"})


def states(tour: Tour) -> None:
    found = tour.sdk.threads
    name = found.create()["thread_id"]
    found.get_state(name)
    found.get_history(name)
    tour.sdk.runs.wait(name, "approval", input={"request": "r"})
    found.get(name)
    state = found.get_state(name, subgraphs=True)
    found.get_state(name, checkpoint=state["checkpoint"])
    found.get_state(name, checkpoint_id=state["checkpoint"]["checkpoint_id"])
    found.get_history(name, limit=2, before=state["checkpoint"])
    tour.http.get(f"/threads/{name}/history", params={"limit": 1, "select": "values"})
    found.update_state(name, {"request": "other"})
    tour.http.post(f"/threads/{name}/state", json={"values": 5})
    broken = found.create()["thread_id"]
    tour.sdk.runs.wait(broken, "boom", input={"x": 1}, raise_error=False)
    found.get(broken)
    found.get_state(broken)


def runs(tour: Tour) -> None:
    found = tour.sdk.runs
    thread = tour.sdk.threads.create()["thread_id"]
    asked = {"input": {"x": 1}, "stream_mode": ["values", "updates"]}
    run = found.create(thread, "echo", **asked)["run_id"]
    found.join(thread, run)
    found.get(thread, run)
    list(found.join_stream(thread, run, last_event_id="-1"))
    list(found.stream(thread, "echo", **asked))
    found.wait(thread, "echo", input={"x": 1})
    found.list(thread, status="success")
    tour.listen("GET", f"/threads/{thread}/stream", headers={"Last-Event-ID": "-1"})
    found.list(thread, select=["run_id"])
    found.delete(thread, run)
    found.cancel(thread, found.create(thread, "echo", after_seconds=600)["run_id"])
    found.cancel(thread, found.create(thread, "echo", after_seconds=600)["run_id"], wait=True)
    found.create(thread, "echo", after_seconds=600)
    tour.http.post("/runs/cancel", json={"status": "pending"})
    tour.http.post("/runs/cancel", json={"thread_id": thread, "run_ids": [run]})
    tour.http.get(f"/threads/{thread}/runs/{run}")
    tour.http.post(f"/threads/{thread}/runs", json={"assistant_id": "nope"})


def stateless(tour: Tour) -> None:
    found = tour.sdk.runs
    asked = {"input": {"x": 1}}
    run = found.create(None, "echo", **asked)["run_id"]
    tour.http.get(f"/runs/{run}/join")
    tour.http.get(f"/runs/{run}")
    tour.http.get(f"/runs/{run}/stream")
    list(found.stream(None, "echo", **asked))
    found.wait(None, "echo", **asked)
    found.create_batch([{"assistant_id": "echo", **asked}])
    tour.http.post("/runs", json={"assistant_id": "echo", "command": {"resume": 1}})


def crons(tour: Tour) -> None:
    found, schedule = tour.sdk.crons, "0 0 1 1 *"
    thread = tour.sdk.threads.create()["thread_id"]
    ends = "2090-01-01T00:00:00Z"
    made = tour.post("/runs/crons", {"assistant_id": "echo", "schedule": schedule})["cron_id"]
    own = found.create_for_thread(thread, "echo", schedule=schedule, metadata={"of": "tour"})
    tour.http.patch(f"/runs/crons/{made}", json={"end_time": ends, "timezone": "Europe/Rome"})
    tour.http.get(f"/runs/crons/{made}")
    found.search(limit=5)
    found.search(select=["cron_id", "next_run_date"])
    found.count()
    for cron in (made, own["cron_id"]):
        found.delete(cron)
    tour.http.get(f"/runs/crons/{made}")
    tour.http.post("/runs/crons", json={"assistant_id": "echo", "schedule": "never"})


def store(tour: Tour) -> None:
    found, place = tour.sdk.store, ["of", "tour"]
    found.put_item(place, "k", {"a": 1}, ttl=5)
    found.get_item(place, "k")
    tour.http.get("/store/items", params={"namespace": "of.tour", "key": "nothing"})
    found.search_items(["of"], filter={"a": 1})
    found.list_namespaces(prefix=["of"])
    found.delete_item(place, "k")
    tour.http.put("/store/items", json={"namespace": ["a.b"], "key": "k", "value": {}})


def protocol(tour: Tour) -> None:
    thread = tour.sdk.threads.create()["thread_id"]
    start = {"assistant_id": "echo", "input": {"x": 1}}
    command = f"/threads/{thread}/commands"
    assert (
        tour.post(command, {"id": 1, "method": "run.start", "params": start})["type"] == "success"
    )
    assert tour.post(command, {"id": 2, "method": "nope"})["type"] == "error"
    tour.listen("POST", f"/threads/{thread}/stream/events", json={"channels": ["values"]})
