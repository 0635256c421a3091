"""What users reported about threads of other servers, asked of this one: a test is a report."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.servers import Server


async def test_a_new_thread_of_a_graph_can_be_edited_before_its_first_run(
    client: LangGraphClient,
) -> None:
    """ibbybuilds/aegra#254: creating a thread forgot its graph, and the first edit failed."""
    made = await client.threads.create(graph_id="approval", metadata={"team": "a"})
    thread_id = made["thread_id"]
    assert made["metadata"] == {"team": "a", "graph_id": "approval"}
    await client.threads.update_state(thread_id, {"request": "pay"}, as_node="prepare")
    state: Any = await client.threads.get_state(thread_id)
    assert (state["values"]["request"], state["next"]) == ("pay", ["ask"])
    asked: Any = await client.runs.wait(thread_id, "approval")
    assert asked["__interrupt__"][0]["value"]["request"] == "pay"
    assert (await client.threads.get(thread_id))["metadata"]["graph_id"] == "approval"


# -- the list of threads --------------------------------------------------------------------------


@pytest.fixture
async def listed(client: LangGraphClient) -> dict[str, Any]:
    """Four threads by name, oldest first, with the metadata that finds them."""
    mark = {"mark": str(uuid.uuid4())}
    made: dict[str, Any] = {"mark": mark}
    for name, graph, given in (
        ("done", "echo", {"x": "hello"}),
        ("other", "echo", {"x": {"deep": [1, "two"]}}),
        ("asks", "hitl", {"q": "ok?"}),
        ("failed", "boom", {"x": "hello"}),
    ):
        thread = await client.threads.create(metadata={**mark, "name": name})
        run = await client.runs.create(thread["thread_id"], graph, input=given)
        async for _ in client.runs.join_stream(thread["thread_id"], run["run_id"]):
            pass
        made[name] = thread["thread_id"]
    return made


async def names(client: LangGraphClient, listed: dict[str, Any], **asked: Any) -> list[str]:
    asked = {"sort_by": "created_at", "sort_order": "asc", "metadata": listed["mark"], **asked}
    found: Any = await client.threads.search(**asked)
    return [thread["metadata"]["name"] for thread in found]


async def test_a_list_of_threads_shows_what_they_hold_and_how_they_stand(
    client: LangGraphClient, listed: dict[str, Any]
) -> None:
    """ibbybuilds/aegra#189, #302: the list had no values, and pages showed ids for titles."""
    found: Any = await client.threads.search(
        metadata=listed["mark"], sort_by="created_at", sort_order="asc"
    )
    done, _, asks, failed = found
    assert (done["status"], done["values"]) == ("idle", {"x": "hello", "y": "hello"})
    [[question]] = asks["interrupts"].values()
    assert (asks["status"], question["value"]) == ("interrupted", {"question": "ok?"})
    assert failed["status"] == "error"
    assert found == [await client.threads.get(thread["thread_id"]) for thread in found]


async def test_a_list_of_threads_is_filtered_by_everything_the_client_can_ask(
    client: LangGraphClient, listed: dict[str, Any]
) -> None:
    """ibbybuilds/aegra#302, langchain-ai/langsmith-sdk#2036: filters were taken and ignored."""
    everything = ["done", "other", "asks", "failed"]
    assert await names(client, listed) == everything
    for asked, expected in (
        ({"status": "interrupted"}, ["asks"]),
        ({"status": "error"}, ["failed"]),
        ({"status": "idle"}, ["done", "other"]),
        ({"status": "busy"}, []),
        ({"values": {"y": "hello"}}, ["done"]),
        ({"values": {"x": {"deep": [1, "two"]}}}, ["other"]),
        ({"metadata": {**listed["mark"], "name": "asks"}}, ["asks"]),
        ({"metadata": {**listed["mark"], "graph_id": "echo"}}, ["done", "other"]),
        ({"ids": [listed["asks"], listed["done"], "nobody"]}, ["done", "asks"]),
        ({"ids": [listed["asks"]], "status": "idle"}, []),
        ({"limit": 2}, ["done", "other"]),
        ({"limit": 2, "offset": 3}, ["failed"]),
        ({"sort_order": "desc"}, everything[::-1]),
        ({"sort_by": "updated_at"}, everything),
        ({"sort_by": "thread_id"}, sorted(everything, key=listed.__getitem__)),
    ):
        assert await names(client, listed, **asked) == expected, asked
    for asked, number in (({}, 4), ({"status": "idle"}, 2), ({"values": {"y": "hello"}}, 1)):
        assert await client.threads.count(metadata=listed["mark"], **asked) == number  # type: ignore[arg-type]


async def test_a_list_of_threads_has_the_asked_columns_and_tells_of_its_next_page(
    client: LangGraphClient, http: httpx.AsyncClient, listed: dict[str, Any]
) -> None:
    """ibbybuilds/aegra#302: the whole of every thread was sent, and no page had a next one."""
    found: Any = await client.threads.search(
        metadata=listed["mark"],
        select=["thread_id", "status"],
        extract={"title": "values.x", "last": "values.x.deep[-1]"},
        sort_by="created_at",
        sort_order="asc",
        limit=2,
    )
    titles = ["hello", {"deep": [1, "two"]}]
    for thread, name, title in zip(found, ("done", "other"), titles, strict=True):
        assert thread["extracted"]["title"] == title
        assert set(thread) == {"thread_id", "status", "extracted"}
        assert thread["thread_id"] == listed[name]
    assert found[1]["extracted"]["last"] == "two"
    for offset, following in ((0, "3"), (3, None)):
        body = {"metadata": listed["mark"], "limit": 3, "offset": offset}
        page = await http.post("/threads/search", json=body)
        assert page.headers["x-pagination-total"] == "4"
        assert page.headers.get("x-pagination-next") == following


# -- a graph that is no longer what it was --------------------------------------------------------

GRAPH = """
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    kept: str
    {key}: str


def {node}(state):
    return {{"{key}": interrupt("ok?")}}


graph = StateGraph(State).add_node({node}).add_edge(START, "{node}").compile()
"""


def deploy(place: Path, *, node: str, key: str) -> Path:
    """A project of one graph whose only node asks."""
    place.mkdir(exist_ok=True)
    (place / "graph.py").write_text(GRAPH.format(node=node, key=key))
    config = place / "langgraph.json"
    config.write_text(json.dumps({"dependencies": ["."], "graphs": {"graph": "./graph.py:graph"}}))
    return config


async def test_an_answer_to_a_node_that_a_deploy_took_away_is_an_error_that_names_it(
    tmp_path: Path, database_url: str
) -> None:
    """langchain-ai/langgraph#9001: the question was asked again and again, or the answer lost."""
    project = tmp_path / "project"
    for number, (node, key) in enumerate((("ask", "answer"), ("ask_again", "reply"))):
        server = Server(
            deploy(project, node=node, key=key),
            database_url=database_url,
            log=tmp_path / f"log-{number}",
        )
        try:
            async with get_client(url=server.start().url) as client:
                await asks(client) if number == 0 else await answers(client)
        finally:
            server.close()


async def asks(client: LangGraphClient) -> None:
    await client.threads.create(thread_id="t")
    asked: Any = await client.runs.wait("t", "graph", input={"kept": "yes"})
    assert asked["__interrupt__"][0]["value"] == "ok?"


async def answers(client: LangGraphClient) -> None:
    state: Any = await client.threads.get_state("t")
    assert state["values"] == {"kept": "yes"}
    parts = [part async for part in client.runs.stream("t", "graph", command={"resume": "yes"})]
    [error] = [part.data for part in parts if part.event == "error"]
    assert error["error"] == "GraphChanged"
    assert "no longer has: ask." in error["message"]
    [run, _] = await client.runs.list("t")
    assert (run["status"], (await client.threads.get("t"))["status"]) == ("error", "error")
    assert (await client.threads.get_state("t"))["values"] == {"kept": "yes"}
    turn: Any = await client.runs.wait("t", "graph", input={"kept": "more"})
    assert turn["__interrupt__"][0]["value"] == "ok?"
    assert await client.runs.wait("t", "graph", command={"resume": "now"}) == {
        "kept": "more",
        "reply": "now",
    }
