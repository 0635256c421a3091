"""``checkpointer.ttl`` of a ``langgraph.json``: what it says, and threads that live by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Ttl
from langgraph_durable.project import Project
from langgraph_durable.settings import Settings
from langgraph_durable.thread_config import ThreadConfig, notices, read_threads
from tests.graphs import chain, eventually, run, says
from tests.logs import query

GRAPH = chain(only=says("x"))
HOUR = ThreadConfig(ttl=Ttl(minutes=60, strategy="keep_latest"))


def read(**ttl: Any) -> ThreadConfig:
    problems: list[str] = []
    found = read_threads({"ttl": ttl}, problems)
    assert problems == []
    return found


def test_it_says_how_long_threads_live_and_how_they_are_swept() -> None:
    said = read(strategy="keep_latest", default_ttl=90, sweep_interval_minutes=5, sweep_limit=10)
    assert said == ThreadConfig(
        ttl=Ttl(minutes=90, strategy="keep_latest"), sweep_minutes=5, sweep_limit=10
    )
    assert read(default_ttl=0.5).ttl == Ttl(minutes=0.5, strategy="delete")
    assert read(sweep_interval_minutes=1).ttl is None
    assert read_threads(None, []) == read() == ThreadConfig()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("strategy", "forget"),
        ("strategy", ["delete"]),
        ("default_ttl", 0),
        ("default_ttl", -1),
        ("default_ttl", "90"),
        ("default_ttl", True),
        ("default_ttl", float("nan")),
        ("sweep_interval_minutes", 0),
        ("sweep_interval_minutes", "often"),
        ("sweep_limit", 0),
        ("sweep_limit", 1.5),
        ("sweep_limit", True),
    ],
)
def test_what_cannot_be_meant_is_a_problem_by_name(key: str, value: Any) -> None:
    problems: list[str] = []
    read_threads({"ttl": {key: value}}, problems)
    assert [problem.partition(":")[0] for problem in problems] == [f"checkpointer.ttl.{key}"]


def test_what_does_nothing_here_is_told() -> None:
    told = notices({"path": "./mine.py:saver", "serde": {}, "ttl": {"sweep": 1}, "odd": 1})
    assert [line.partition(":")[0] for line in told] == [
        "checkpointer.path",
        "checkpointer.serde",
        "checkpointer.odd",
        "checkpointer.ttl.sweep",
    ]


async def living(database_url: str, config: ThreadConfig, **knobs: Any) -> DurableEngine:
    project = replace(Project.from_graph(GRAPH), threads=config)
    return DurableEngine(project=project, settings=Settings(database_url=database_url, **knobs))


async def test_every_thread_without_a_life_time_of_its_own_has_that_of_the_project(
    database_url: str,
) -> None:
    async with await living(database_url, HOUR) as engine:
        plain = await engine.create_thread()
        own = await engine.create_thread(ttl=Ttl(minutes=5))
        await run(engine, "made-by-a-run", input={"said": []})
        kept = await run(engine, None, input={"said": []}, keep_thread=True)
        copy = await engine.copy_thread(plain.thread_id)
        step = [{"values": {"said": ["y"]}, "command": None, "as_node": "only"}]
        built = await engine.create_thread_with(None, [step], metadata={"graph_id": "agent"})
        for thread_id in (
            *(plain.thread_id, "made-by-a-run", kept.thread_id, copy.thread_id),
            built.thread_id,
        ):
            thread = await engine.thread(thread_id)
            assert (thread.ttl_minutes, thread.ttl_strategy) == (60, "keep_latest")
            assert thread.expires_at is not None
        assert (own.ttl_minutes, own.ttl_strategy) == (5, "delete")


async def test_threads_are_swept_as_often_as_it_says(database_url: str) -> None:
    config = ThreadConfig(ttl=Ttl(minutes=0.001), sweep_minutes=0.002, sweep_limit=1)
    async with await living(database_url, config) as engine:
        for _ in range(3):
            await engine.create_thread()
        await eventually(lambda: not query(database_url, "SELECT 1 FROM threads"), "all are swept")


async def test_a_round_ends_at_its_limit(database_url: str) -> None:
    async with await living(database_url, ThreadConfig(sweep_minutes=60, sweep_limit=3)) as engine:
        for _ in range(7):
            await engine.create_thread(ttl=Ttl(minutes=1))
        query(database_url, "UPDATE threads SET expires_at = now() RETURNING 1")
        left = []
        for _ in range(4):
            while await engine._machinery._swept(engine._machinery.sweeper.unused):
                pass
            left.append(query(database_url, "SELECT count(*) AS n FROM threads")[0]["n"])
        assert left == [4, 1, 0, 0]
