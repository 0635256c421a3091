"""The store: from ``langgraph.json`` to tables, and what one call does to another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.graph import MessagesState, StateGraph
from langgraph.store.postgres.base import PostgresIndexConfig

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import InvalidRequest, ProjectError
from langgraph_durable.loops import GraphLoop
from langgraph_durable.postgres import Database
from langgraph_durable.project import Project, load_project, read_config
from langgraph_durable.settings import Settings
from langgraph_durable.store import migrations
from langgraph_durable.store_config import StoreConfig

MODULE = """
from langchain_core.embeddings import Embeddings
from langgraph.graph import MessagesState, StateGraph

graph = StateGraph(MessagesState).add_node("n", lambda s: {}).set_entry_point("n").compile()
number = 7

def function(texts):
    return [[1.0, 0.0, 0.0] for _ in texts]

async def coroutine(texts):
    return function(texts)

class Made(Embeddings):
    def embed_documents(self, texts):
        return function(texts)

    def embed_query(self, text):
        return function([text])[0]

made = Made()
"""


def write(folder: Path, store: Any) -> Path:
    (folder / "remembering.py").write_text(MODULE)
    path = folder / "langgraph.json"
    path.write_text(json.dumps({"graphs": {"a": "./remembering.py:graph"}, "store": store}))
    return path


def index_of(embed: str, **more: Any) -> dict[str, Any]:
    return {"index": {"dims": 3, "embed": embed, **more}}


def told(path: Path) -> list[str]:
    with pytest.raises(ProjectError) as caught:
        load_project(path)
    return caught.value.message.splitlines()


def test_a_file_without_a_store_keeps_items_for_ever_and_unindexed(tmp_path: Path) -> None:
    config = read_config(write(tmp_path, None)).store
    assert config.index is None
    assert config.ttl.get("default_ttl") is None


def test_times_and_the_index_are_read_as_they_stand(tmp_path: Path) -> None:
    ttl = {"refresh_on_read": False, "default_ttl": 90, "sweep_interval_minutes": 0.5}
    store = {**index_of("openai:text-embedding-3-small", fields=["a.b"]), "ttl": ttl}
    config = read_config(write(tmp_path, store)).store
    assert config.index == {
        "dims": 3,
        "embed": "openai:text-embedding-3-small",
        "fields": ["a.b"],
    }
    assert (config.sweep_minutes, config.ttl.get("default_ttl")) == (0.5, 90)
    assert config.ttl.get("refresh_on_read") is False


@pytest.mark.parametrize("name", ["function", "coroutine", "made"])
async def test_embeddings_come_from_a_function_or_an_object_of_the_project(
    tmp_path: Path, name: str
) -> None:
    index = load_project(write(tmp_path, index_of(f"./remembering.py:{name}"))).store.index
    assert index is not None
    embed: Any = index["embed"]
    assert [len(vector) for vector in await embed.aembed_documents(["a", "b"])] == [3, 3]


def test_embeddings_that_cannot_be_made_stop_the_start(tmp_path: Path) -> None:
    for name in ("number", "missing"):
        [line] = told(write(tmp_path, index_of(f"./remembering.py:{name}")))
        assert line.startswith("store.index.embed: ")
    line, *_ = told(write(tmp_path, index_of("nobody:no-model")))
    assert line.startswith("store.index.embed: ")


def test_everything_wrong_with_the_store_is_said_at_once(tmp_path: Path) -> None:
    ttl = {"refresh_on_read": 1, "default_ttl": 0, "sweep_interval_minutes": "5"}
    index = {"dims": True, "embed": "alone", "fields": "text"}
    lines = told(write(tmp_path, {"index": index, "ttl": ttl}))
    assert sorted(line.split(": ")[1] for line in lines) == [
        "store.index.dims",
        "store.index.embed",
        "store.index.fields",
        "store.ttl.default_ttl",
        "store.ttl.refresh_on_read",
        "store.ttl.sweep_interval_minutes",
    ]


def test_keys_of_the_store_that_do_nothing_are_told(tmp_path: Path) -> None:
    store = {"wobble": 1, "index": {"dims": 3, "embed": "a:b", "metric": "l2"}}
    assert [n.split(":")[0] for n in read_config(write(tmp_path, store)).notices] == [
        "store.index.metric",
        "store.wobble",
    ]


def index(dims: int = 3, size: int = 3) -> PostgresIndexConfig:
    return {"dims": dims, "embed": lambda texts: [[1.0] * size for _ in texts], "fields": ["text"]}


def migrate(url: str, found: PostgresIndexConfig) -> None:
    database = Database(Settings(database_url=url), "test")
    migrations.migrate(database, StoreConfig(index=found))


def vector_indexes(url: str) -> list[Any]:
    with psycopg.connect(url) as conn:
        statement = "SELECT indexdef FROM pg_indexes WHERE tablename = 'store_vectors'"
        return [row[0] for row in conn.execute(statement) if "hnsw" in row[0]]


def test_the_tables_of_an_index_are_made_once(database_url: str) -> None:
    for _ in range(2):
        migrate(database_url, index())
    assert len(vector_indexes(database_url)) == 1


def test_vectors_too_long_for_an_index_are_kept_without(database_url: str, tmp_path: Path) -> None:
    store = {"index": {"dims": 3072, "embed": "openai:text-embedding-3-large"}}
    found = read_config(write(tmp_path, store)).store.index
    assert found is not None
    migrate(database_url, found)
    assert vector_indexes(database_url) == []


def test_other_dimensions_than_those_stored_are_refused(database_url: str) -> None:
    migrate(database_url, index(3))
    with pytest.raises(ProjectError, match="have 3 dimensions, not 4"):
        migrate(database_url, index(4))


def test_a_database_without_pgvector_is_refused_only_with_an_index(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = {**migrations._ITEMS, "vector_available": "SELECT 1 WHERE false"}
    monkeypatch.setattr(migrations, "_ITEMS", nothing)
    assert migrations.migrate(Database(Settings(database_url=database_url), "test")) == []
    with pytest.raises(ProjectError, match="no extension pgvector"):
        migrate(database_url, index())


@asynccontextmanager
async def engine_with(url: str, store: StoreConfig) -> AsyncIterator[DurableEngine]:
    builder = StateGraph(MessagesState).add_node("n", lambda state: {}).set_entry_point("n")
    project = Project(graphs=Project.from_graph(builder.compile()).graphs, store=store)
    async with DurableEngine(project=project, settings=Settings(database_url=url)) as engine:
        yield engine


async def test_embeddings_of_the_wrong_size_are_the_fault_of_a_request_that_says_so(
    database_url: str,
) -> None:
    async with engine_with(database_url, StoreConfig(index=index(3, size=2))) as engine:
        with pytest.raises(InvalidRequest, match="expected 3 dimensions, not 2"):
            await engine.put_item(["a"], "k", {"text": "hello"})
        assert await engine.get_item(["a"], "k") is None


async def test_an_item_that_cannot_be_stored_fails_no_other_call_of_the_moment(
    database_url: str,
) -> None:
    async def at_once(place: GraphLoop) -> Sequence[Any]:
        bad = place.store.aput(("a",), "bad", {"text": "\x00"})
        good = place.store.aput(("a",), "good", {"text": "fine"})
        return await asyncio.gather(bad, good, return_exceptions=True)

    async with engine_with(database_url, StoreConfig()) as engine:
        bad, good = await engine._machinery.loops.call(at_once)
        assert isinstance(bad, psycopg.DataError)
        assert good is None
        found = await engine.search_items(["a"])
    assert [item.key for item in found] == ["good"]


async def test_an_engine_without_an_index_answers_a_query_with_the_newest(
    database_url: str,
) -> None:
    async with engine_with(database_url, StoreConfig()) as engine:
        for key in ("old", "new"):
            await engine.put_item(["a"], key, {"text": key})
        found = await engine.search_items(["a"], query="old")
    assert [(item.key, item.score) for item in found] == [("new", None), ("old", None)]
