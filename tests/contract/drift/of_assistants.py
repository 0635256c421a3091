"""Proofs for ``/assistants``."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from langgraph_sdk.errors import ConflictError

from tests.contract.drift.proving import World, proves

MAKE, CHANGE = "POST /assistants", "PATCH /assistants/{assistant_id}"
SEARCH, COUNT = "POST /assistants/search", "POST /assistants/count"
TOLD: dict[str, Any] = {
    "graph_id": "slow",
    "config": {"recursion_limit": 9},
    "context": {"secret": "s"},
    "description": "d",
    "name": "n",
}


async def made(world: World, **asked: Any) -> dict[str, Any]:
    found: Any = await world.client.assistants.create(**{"graph_id": "echo", **asked})
    return dict(found)


@proves(MAKE, "body.graph_id", "body.config", "body.context", "body.description", "body.name")
@proves(MAKE, "body.metadata", "body.assistant_id", "body.if_exists")
async def what_is_said_of_an_assistant_is_kept(world: World) -> None:
    assistant_id = str(uuid.uuid4())
    asked = {**TOLD, "metadata": {"m": 1}, "assistant_id": assistant_id}
    found = await made(world, **asked)
    assert found["config"].pop("recursion_limit") == asked.pop("config")["recursion_limit"]
    assert {key: found[key] for key in asked} == asked
    again = await made(world, assistant_id=assistant_id, if_exists="do_nothing")
    assert again["graph_id"] == "slow"
    with pytest.raises(ConflictError):
        await made(world, assistant_id=assistant_id)


@proves(CHANGE, "body.graph_id", "body.config", "body.context", "body.description", "body.name")
@proves(CHANGE, "body.metadata")
async def what_is_changed_is_told(world: World) -> None:
    held = await made(world)
    changed: Any = await world.client.assistants.update(
        held["assistant_id"], **TOLD, metadata={"m": 2}
    )
    for key in ("graph_id", "context", "description", "name"):
        assert changed[key] == TOLD[key]
    assert changed["config"]["recursion_limit"] == 9
    assert (changed["metadata"]["m"], changed["version"]) == (2, 2)


@proves("DELETE /assistants/{assistant_id}", "query.delete_threads")
async def threads_go_along_only_if_asked(world: World) -> None:
    for asked, status in ((False, 200), (True, 404)):
        held = await made(world)
        thread_id = await world.thread()
        await world.client.runs.wait(thread_id, held["assistant_id"], input={"x": 1})
        await world.client.assistants.delete(held["assistant_id"], delete_threads=asked)
        assert (await world.http.get(f"/threads/{thread_id}")).status_code == status


@proves("GET /assistants/{assistant_id}/graph", "query.xray")
async def xray_shows_the_inside_of_subgraphs(world: World) -> None:
    for asked, shown in ((True, "child:c1"), (False, "child")):
        graph: Any = await world.client.assistants.get_graph("subgraph", xray=asked)
        assert shown in [node["id"] for node in graph["nodes"]]


@proves("GET /assistants/{assistant_id}/subgraphs", "query.recurse")
@proves("GET /assistants/{assistant_id}/subgraphs/{namespace}", "query.recurse")
async def recurse_shows_subgraphs_of_subgraphs(world: World) -> None:
    for namespace, inner in ((None, "middle|person"), ("middle|person", "middle|person")):
        for asked in (True, False):
            found = await world.client.assistants.get_subgraphs("nested", namespace, asked)
            assert (inner in found) is asked


@proves(COUNT, "body.graph_id", "body.metadata", "body.name")
@proves(SEARCH, "body.graph_id", "body.metadata", "body.name")
async def filters_find_what_they_say(world: World) -> None:
    mark = str(uuid.uuid4())
    held = await made(world, metadata={"m": mark}, name=mark)
    for asked in ({"metadata": {"m": mark}}, {"name": mark}, {"name": mark, "graph_id": "echo"}):
        found: Any = await world.client.assistants.search(**asked)
        assert [each["assistant_id"] for each in found] == [held["assistant_id"]]
        assert await world.client.assistants.count(**asked) == 1
    assert await world.client.assistants.search(name=mark, graph_id="slow") == []
    assert await world.client.assistants.count(name=mark, graph_id="slow") == 0


@proves(SEARCH, "body.limit", "body.offset", "body.select", "body.sort_by", "body.sort_order")
async def a_page_is_sorted_and_selected(world: World) -> None:
    mark: Any = {"m": str(uuid.uuid4())}
    for name in ("b", "a", "c"):
        await made(world, metadata=mark, name=name)
    found: Any = await world.client.assistants.search(
        metadata=mark, sort_by="name", sort_order="desc", limit=1, offset=1, select=["name"]
    )
    assert found == [{"name": "b"}]


@proves("POST /assistants/{assistant_id}/latest", "body.version")
@proves("POST /assistants/{assistant_id}/versions", "body.limit", "body.metadata", "body.offset")
async def versions_are_paged_filtered_and_chosen(world: World) -> None:
    held = await made(world, metadata={"m": 1})
    assistant_id = held["assistant_id"]
    for number in (2, 3):
        await world.client.assistants.update(assistant_id, metadata={"m": number})
    page: Any = await world.client.assistants.get_versions(assistant_id, limit=1, offset=1)
    assert [each["version"] for each in page] == [2]
    some: Any = await world.client.assistants.get_versions(assistant_id, metadata={"m": 3})
    assert [each["version"] for each in some] == [3]
    assert (await world.client.assistants.set_latest(assistant_id, 1))["metadata"] == {"m": 1}
