"""The stock Python clients and assistants: made, changed, run, forgotten."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

import httpx
import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient
from langgraph_sdk.errors import ConflictError, NotFoundError, UnprocessableEntityError

from tests.conftest import APPS, MakeServer


@pytest.fixture
def mark() -> dict[str, str]:
    """Metadata that no other test's assistants have."""
    return {"mark": str(uuid.uuid4())}


def test_the_synchronous_client_makes_changes_searches_and_deletes(
    sync_client: SyncLangGraphClient, mark: dict[str, str]
) -> None:
    found = sync_client.assistants
    made = found.create("echo", metadata=mark, context={"tone": "dry"}, description="d")
    name = made["assistant_id"]
    assert (made["name"], made["version"], made["context"]) == ("Untitled", 1, {"tone": "dry"})
    assert found.get(name) == made
    changed = found.update(name, graph_id="steps", name="Walker", config={"recursion_limit": 9})
    assert (changed["graph_id"], changed["name"], changed["version"]) == ("steps", "Walker", 2)
    assert changed["context"] == {"tone": "dry"}
    assert found.search(metadata=mark) == [changed]
    assert found.count(metadata=mark, graph_id="steps", name="walk") == 1
    assert found.count(metadata=mark, graph_id="echo") == 0
    assert [v["version"] for v in found.get_versions(name)] == [2, 1]
    again = found.set_latest(name, 1)
    kept = {k: v for k, v in made.items() if k != "updated_at"}
    assert {k: v for k, v in again.items() if k != "updated_at"} == kept
    found.delete(name)
    with pytest.raises(NotFoundError):
        found.get(name)


async def test_a_search_is_sorted_paged_and_selected(
    client: LangGraphClient, mark: dict[str, str]
) -> None:
    for name in ("b", "c", "a"):
        await client.assistants.create("echo", metadata=mark, name=name)
    asked: dict[str, Any] = {"metadata": mark, "sort_by": "name", "sort_order": "asc"}
    first = await client.assistants.search(
        **asked, limit=2, select=["name"], response_format="object"
    )
    assert first == {"assistants": [{"name": "a"}, {"name": "b"}], "next": "2"}
    rest = await client.assistants.search(**asked, limit=2, offset=2, response_format="object")
    assert ([a["name"] for a in rest["assistants"]], rest["next"]) == (["c"], None)
    newest_first = await client.assistants.search(metadata=mark)
    assert [a["name"] for a in newest_first] == ["a", "c", "b"]


async def test_a_search_covers_the_graphs_own_assistants(client: LangGraphClient) -> None:
    found = await client.assistants.search(metadata={"created_by": "system"}, name="ECHO")
    assert [a["graph_id"] for a in found] == ["echo"]
    assert await client.assistants.get("echo") == found[0]


async def test_versions_are_paged_filtered_and_numbered_on_after_going_back(
    client: LangGraphClient,
) -> None:
    made = (await client.assistants.create("echo"))["assistant_id"]
    await client.assistants.update(made, metadata={"stage": "two"})
    await client.assistants.update(made, name="three")
    await client.assistants.set_latest(made, 1)
    fourth = await client.assistants.update(made, name="four")
    assert (fourth["version"], fourth["metadata"]) == (4, {})
    pages = await client.assistants.get_versions(made, limit=2, offset=1)
    assert [v["version"] for v in pages] == [3, 2]
    filtered = await client.assistants.get_versions(made, metadata={"stage": "two"})
    assert [v["version"] for v in filtered] == [3, 2]
    with pytest.raises(NotFoundError, match="Version 9 not found"):
        await client.assistants.set_latest(made, 9)


async def test_simultaneous_changes_are_all_versions(client: LangGraphClient) -> None:
    made = (await client.assistants.create("echo"))["assistant_id"]
    changes = [client.assistants.update(made, metadata={str(n): n}) for n in range(8)]
    await asyncio.gather(*changes)
    assert len((await client.assistants.get(made))["metadata"]) == 8
    assert len(await client.assistants.get_versions(made)) == 9


async def test_creating_the_same_assistant_twice(client: LangGraphClient) -> None:
    name = str(uuid.uuid4())
    made = await client.assistants.create("echo", assistant_id=name.upper(), name="first")
    assert made["assistant_id"] == name
    with pytest.raises(ConflictError, match=f"{name} already exists"):
        await client.assistants.create("echo", assistant_id=name)
    again = await client.assistants.create(
        "steps", assistant_id=name, name="second", if_exists="do_nothing"
    )
    assert again == made


async def test_a_run_takes_what_its_assistant_lends(client: LangGraphClient) -> None:
    """aegra#19: the context of an assistant was ignored."""
    made = await client.assistants.create(
        "contextual",
        context={"secret": "abc"},
        config={"tags": ["t"], "recursion_limit": 7},
        metadata={"team": "red"},
    )
    thread = (await client.threads.create())["thread_id"]
    values: Any = await client.runs.wait(thread, made["assistant_id"], input={})
    assert values["value"] == "3 letters"
    [run] = await client.runs.list(thread)
    assert run["assistant_id"] == made["assistant_id"]
    assert run["metadata"]["team"] == "red"
    assert run["kwargs"]["config"]["recursion_limit"] == 7
    assert run["kwargs"]["context"] == {"secret": "abc"}
    state = await client.threads.get_state(thread)
    assert state["metadata"]["team"] == "red"
    held = await client.threads.get(thread)
    assert held["metadata"]["assistant_id"] == made["assistant_id"]


async def test_a_request_goes_before_its_assistant(client: LangGraphClient) -> None:
    made = await client.assistants.create("contextual", context={"secret": "abc"})
    given: Any = {"secret": "abcde"}
    values: Any = await client.runs.wait(None, made["assistant_id"], input={}, context=given)
    assert values["value"] == "5 letters"


async def test_a_factory_makes_its_graph_from_the_assistants_config(
    client: LangGraphClient,
) -> None:
    made = await client.assistants.create("needy", config={"configurable": {"user": "Ada"}})
    name = made["assistant_id"]
    assert (await client.assistants.get_schemas(name))["graph_id"] == "needy"
    nodes = (await client.assistants.get_graph(name))["nodes"]
    assert "greet" in [node["id"] for node in nodes]
    values: Any = await client.runs.wait(None, name, input={})
    assert values["value"] == "hello Ada"


async def test_a_queued_run_keeps_what_its_assistant_said_when_it_was_asked(
    client: LangGraphClient,
) -> None:
    made = (await client.assistants.create("contextual", context={"secret": "abc"}))["assistant_id"]
    thread = (await client.threads.create())["thread_id"]
    await client.runs.create(thread, "slow", input={"delay": 0.1})
    waiting = await client.runs.create(thread, made, input={})
    await client.assistants.update(made, context={"secret": "a"})
    await client.assistants.delete(made)
    values: Any = await client.runs.join(thread, waiting["run_id"])
    assert values["value"] == "3 letters"


async def test_the_graphs_own_assistant_can_be_changed_but_not_deleted(
    make_server: MakeServer, database_url: str
) -> None:
    server = make_server("basic", database_url=database_url).start()
    async with get_client(url=server.url) as client:
        own = await client.assistants.get("contextual")
        await client.assistants.update("contextual", context={"secret": "ab"}, name="Keeper")
        values: Any = await client.runs.wait(None, "contextual", input={})
        assert values["value"] == "2 letters"
        with pytest.raises(ConflictError, match="cannot be deleted"):
            await client.assistants.delete("contextual")
        with pytest.raises(ConflictError, match="cannot be deleted"):
            await client.assistants.delete(own["assistant_id"])
    server.kill()
    server.start()
    async with get_client(url=server.url) as client:
        kept = await client.assistants.get("contextual")
        assert (kept["name"], kept["version"]) == ("Keeper", 2)
        assert (await client.assistants.set_latest("contextual", 1))["context"] == {}
        graphs = json.loads((APPS / "basic" / "langgraph.json").read_text())["graphs"]
        assert await client.assistants.count() == len(graphs)


async def test_a_deleted_assistant_is_not_found_by_runs(client: LangGraphClient) -> None:
    made = (await client.assistants.create("echo"))["assistant_id"]
    await client.assistants.delete(made)
    with pytest.raises(NotFoundError):
        await client.runs.create(None, made, input={})
    with pytest.raises(NotFoundError):
        await client.assistants.update(made, name="x")
    with pytest.raises(NotFoundError):
        await client.assistants.get_versions(made)


async def test_an_assistant_goes_with_its_threads_only_if_asked(client: LangGraphClient) -> None:
    made = [(await client.assistants.create("echo"))["assistant_id"] for _ in range(2)]
    threads = [(await client.threads.create())["thread_id"] for _ in range(2)]
    for name, thread in zip(made, threads, strict=True):
        await client.runs.wait(thread, name, input={"x": 1})
    await client.assistants.delete(made[0])
    await client.assistants.delete(made[1], delete_threads=True)
    assert (await client.threads.get_state(threads[0]))["values"] == {"x": 1, "y": 1}
    with pytest.raises(NotFoundError):
        await client.threads.get(threads[1])


async def test_threads_at_work_keep_their_assistant(client: LangGraphClient) -> None:
    made = (await client.assistants.create("slow"))["assistant_id"]
    idle, busy = [(await client.threads.create())["thread_id"] for _ in range(2)]
    await client.runs.wait(idle, made, input={})
    run = await client.runs.create(busy, made, input={"delay": 0.5})
    with pytest.raises(ConflictError, match=busy):
        await client.assistants.delete(made, delete_threads=True)
    assert (await client.assistants.get(made))["assistant_id"] == made
    assert (await client.threads.get(idle))["status"] == "idle"
    await client.runs.cancel(busy, run["run_id"], wait=True)
    await client.assistants.delete(made, delete_threads=True)
    assert await client.threads.search(ids=[idle, busy]) == []


async def test_subgraphs_are_told_with_their_schemas(client: LangGraphClient) -> None:
    every = await client.assistants.get_subgraphs("subgraph", recurse=True)
    assert list(every) == ["child"]
    assert set(every["child"]["input_schema"]["properties"]) == {"x", "trail"}
    assert await client.assistants.get_subgraphs("subgraph", namespace="child") == every
    assert await client.assistants.get_subgraphs("subgraph", namespace="other") == {}
    assert await client.assistants.get_subgraphs("echo") == {}


def test_a_remote_graph_of_an_assistant_draws_and_runs(sync_client: SyncLangGraphClient) -> None:
    made = sync_client.assistants.create("echo")["assistant_id"]
    remote = RemoteGraph(made, sync_client=sync_client)
    assert "echo" in remote.get_graph().nodes
    assert remote.invoke({"x": 4}) == {"x": 4, "y": 4}


async def test_what_only_the_server_sets_is_dropped_from_an_assistants_config(
    client: LangGraphClient,
) -> None:
    sent: Any = {"configurable": {"thread_id": "x", "__pregel_send": 1, "own": 1}}
    made = await client.assistants.create("echo", config=sent)
    assert made["config"] == {"configurable": {"own": 1}}
    assert made["context"] == {"own": 1}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "", {}, 422),
        ("POST", "", {"graph_id": None}, 422),
        ("POST", "", {"graph_id": 7}, 422),
        ("POST", "", {"graph_id": "nope"}, 404),
        ("POST", "", {"graph_id": "echo", "assistant_id": "nope"}, 422),
        ("POST", "", {"graph_id": "echo", "if_exists": "maybe"}, 422),
        ("POST", "", {"graph_id": "echo", "config": []}, 422),
        ("POST", "", {"graph_id": "echo", "config": {"recursion_limit": "many"}}, 422),
        ("POST", "", {"graph_id": "echo", "context": "text"}, 422),
        ("POST", "", {"graph_id": "echo", "metadata": [1]}, 422),
        ("PATCH", "/echo", {"graph_id": "nope"}, 404),
        ("PATCH", "/echo", {"name": 7}, 422),
        ("PATCH", "/nope", {"name": "x"}, 422),
        ("POST", "/echo/latest", {}, 422),
        ("POST", "/echo/latest", {"version": 0}, 422),
        ("POST", "/echo/latest", {"version": "1"}, 422),
        ("POST", "/echo/latest", {"version": 2**31}, 422),
        ("POST", "/echo/versions", {"limit": 0}, 422),
        ("POST", "/search", {"sort_by": "owner_id"}, 422),
        ("POST", "/search", {"select": ["owner_id"]}, 422),
        ("DELETE", "/nope", None, 422),
        ("DELETE", "/echo?delete_threads=maybe", None, 422),
        ("GET", "/echo/subgraphs?recurse=maybe", None, 422),
    ],
)
def test_what_cannot_be_understood_is_told(
    server: Any, method: str, path: str, body: Any, status: int
) -> None:
    answer = httpx.request(method, f"{server.url}/assistants{path}", json=body)
    assert answer.status_code == status, answer.text
    assert isinstance(answer.json()["detail"], str)


async def test_a_graph_name_is_no_id_for_a_new_assistant(client: LangGraphClient) -> None:
    with pytest.raises(UnprocessableEntityError, match="must be a UUID"):
        await client.assistants.create("echo", assistant_id="echo")
