"""From a ``langgraph.json`` to graphs that run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from typing_extensions import TypedDict

from langgraph_durable.errors import ProjectError
from langgraph_durable.model import RecoveryStrategy
from langgraph_durable.project import Project, load_project, read_config
from langgraph_durable.settings import Settings


class Silent(TypedDict):
    number: int


GRAPHS = """
from contextlib import asynccontextmanager, contextmanager
from langchain_core.runnables import RunnableConfig
from langgraph.graph import MessagesState, StateGraph
from langgraph_sdk.runtime import ServerRuntime

def builder(word="plain"):
    def say(state):
        return {"messages": [("ai", word)]}
    return StateGraph(MessagesState).add_node("say", say).set_entry_point("say")

compiled = builder().compile()
uncompiled = builder("uncompiled")

def factory():
    return builder("factory").compile()

def factory_of_a_builder():
    return builder("factory_of_a_builder")

def with_config(config):
    return builder(config["configurable"]["word"]).compile()

async def with_typed_config(settings: RunnableConfig):
    return builder(settings["configurable"]["word"]).compile()

def with_runtime(runtime: ServerRuntime):
    return builder(f"{runtime.access_context} {runtime.execution_runtime.context}").compile()

async def with_both(config: RunnableConfig, runtime: ServerRuntime):
    return builder(config["configurable"]["word"] + runtime.access_context).compile()

entered = []

@asynccontextmanager
async def managed_async(config):
    entered.append("in")
    yield builder("managed_async").compile()
    entered.append("out")

@contextmanager
def managed():
    entered.append("in")
    yield builder("managed").compile()
    entered.append("out")

def gives_nothing():
    return None

def fails():
    raise RuntimeError("no database")

def asks_too_much(config, runtime, colour):
    return compiled

number = 7
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project folder; what loading it does to this process is undone."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(os, "environ", os.environ.copy())
    before = set(sys.modules)
    (tmp_path / "the_graphs.py").write_text(GRAPHS)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def write(folder: Path, graphs: Any, **more: Any) -> Path:
    path = folder / "langgraph.json"
    path.write_text(json.dumps({"dependencies": ["."], "graphs": graphs, **more}))
    return path


def one(folder: Path, name: str) -> Project:
    return load_project(write(folder, {"agent": f"./the_graphs.py:{name}"}))


async def word(project: Project, *, context: Any = None, **configurable: Any) -> str:
    """What the graph says when it runs once."""
    config: Any = {"configurable": configurable}
    async with project.graphs["agent"].open(config, context=context) as graph:
        result = await graph.ainvoke({"messages": []})
    return str(result["messages"][-1].content)


def problems(path: Path) -> list[str]:
    with pytest.raises(ProjectError) as caught:
        load_project(path)
    return caught.value.message.split("\n")


async def test_a_compiled_graph_is_given_as_it_is(folder: Path) -> None:
    project = one(folder, "compiled")
    source = project.graphs["agent"]
    async with source.open({}) as first, source.open({}) as second:
        assert first is second is source.compiled
    assert await word(project) == "plain"


@pytest.mark.parametrize(
    "name", ["uncompiled", "factory", "factory_of_a_builder", "managed", "managed_async"]
)
async def test_everything_that_makes_a_graph_can_be_served(folder: Path, name: str) -> None:
    assert await word(one(folder, name)) == name


@pytest.mark.parametrize("name", ["with_config", "with_typed_config"])
async def test_a_factory_gets_the_config_of_each_use(folder: Path, name: str) -> None:
    project = one(folder, name)
    assert [await word(project, word="a"), await word(project, word="b")] == ["a", "b"]


async def test_a_factory_gets_the_runtime_it_asks_for(folder: Path) -> None:
    assert await word(one(folder, "with_runtime"), context="me") == "threads.create_run me"
    assert await word(one(folder, "with_both"), word="w ") == "w threads.create_run"


async def test_a_factory_is_told_that_the_graph_will_only_be_read(folder: Path) -> None:
    source = one(folder, "with_both").graphs["agent"]
    config: Any = {"configurable": {"word": ""}}
    async with source.open(config, access="threads.read") as graph:
        result = await graph.ainvoke({"messages": []})
    assert result["messages"][-1].content == "threads.read"


@pytest.mark.parametrize("name", ["managed", "managed_async"])
async def test_a_managed_graph_is_left_after_each_use(folder: Path, name: str) -> None:
    project = one(folder, name)
    await word(project)
    await word(project)
    assert sys.modules["the_graphs"].entered == ["in", "out", "in", "out"]


async def test_an_error_in_the_use_reaches_the_manager_and_the_user(folder: Path) -> None:
    source = one(folder, "managed_async").graphs["agent"]
    with pytest.raises(LookupError, match="mine"):
        async with source.open({}):
            raise LookupError("mine")


async def test_a_factory_that_gives_no_graph_is_told_so(folder: Path) -> None:
    with pytest.raises(ProjectError, match=r"graphs\.agent: the factory gave a builtins\.NoneType"):
        await word(one(folder, "gives_nothing"))


async def test_a_failing_factory_fails_the_use_not_the_start(folder: Path) -> None:
    """aegra#245, #251: factories were asked at the start, and for nobody."""
    project = one(folder, "fails")
    with pytest.raises(RuntimeError, match="no database"):
        await word(project)


def test_a_module_of_the_project_exists_once_under_its_own_name(folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "state.py").write_text("class State: pass")
    (folder / "package" / "agent.py").write_text(
        "from .state import State\nfrom the_graphs import compiled"
    )
    paths = {"a": "./package/agent.py:compiled", "b": "the_graphs:compiled"}
    project = load_project(write(folder, paths))
    assert sys.modules["package.agent"].State is sys.modules["package.state"].State
    assert project.graphs["a"].compiled is project.graphs["b"].compiled


def test_a_file_named_like_a_known_module_is_loaded_all_the_same(folder: Path) -> None:
    (folder / "json.py").write_text("from the_graphs import compiled")
    project = load_project(write(folder, {"agent": "./json.py:compiled"}))
    assert project.graphs["agent"].compiled is not None
    assert sys.modules["json"] is json


def test_a_description_and_a_strategy_belong_to_their_graph(folder: Path) -> None:
    graphs = {
        "a": {"path": "./the_graphs.py:compiled", "description": "Says a word"},
        "b": "./the_graphs.py:compiled",
    }
    project = load_project(write(folder, graphs, durable={"recovery": {"a": "event_log"}}))
    a, b = project.graphs["a"], project.graphs["b"]
    assert (a.description, a.recovery) == ("Says a word", RecoveryStrategy.EVENT_LOG)
    assert (b.description, b.recovery) == (None, None)
    assert b.strategy(Settings()) is RecoveryStrategy.AGENT_SESSION
    named = Settings(recovery_by_graph={"a": RecoveryStrategy.AGENT_SESSION})
    assert a.strategy(named) is RecoveryStrategy.AGENT_SESSION


def test_the_environment_is_set_before_graphs_are_imported(folder: Path) -> None:
    (folder / "settings.env").write_text("WORD='from a file'\n")
    (folder / "reads.py").write_text(
        "import os\nfrom the_graphs import *\nword = os.environ['WORD']"
    )
    os.environ["WORD"] = "from outside"
    load_project(write(folder, {"a": "./reads.py:compiled"}, env="settings.env"))
    assert sys.modules["reads"].word == "from a file"
    load_project(write(folder, {"a": "./reads.py:compiled"}, env={"WORD": 5}))
    assert os.environ["WORD"] == "5"


def test_a_local_dependency_is_on_the_import_path(folder: Path) -> None:
    (folder / "library").mkdir()
    (folder / "library" / "shared_words.py").write_text("word = 1")
    (folder / "uses.py").write_text("import shared_words\nfrom the_graphs import compiled")
    path = write(folder, {"a": "./uses.py:compiled"}, dependencies=["./library", ".", "langchain"])
    assert list(load_project(path).graphs) == ["a"]
    assert [n for n in read_config(path).notices if "langchain" in n] != []


def test_every_graph_that_cannot_be_used_is_named_at_once(folder: Path) -> None:
    (folder / "broken.py").write_text("import nowhere_to_be_found")
    (folder / "leaves.py").write_text("raise SystemExit(3)")
    graphs = {
        "good": "./the_graphs.py:compiled",
        "missing": "./the_graphs.py:missing",
        "number": "./the_graphs.py:number",
        "greedy": "./the_graphs.py:asks_too_much",
        "broken": "./broken.py:graph",
        "leaves": "./leaves.py:graph",
        "nowhere": "./nowhere.py:graph",
    }
    found = {line.split(":")[0]: line for line in problems(write(folder, graphs))}
    assert sorted(found) == [f"graphs.{n}" for n in sorted(graphs) if n != "good"]
    assert "nowhere_to_be_found" in found["graphs.broken"]
    assert "'colour'" in found["graphs.greedy"]
    assert "builtins.int" in found["graphs.number"]


def test_everything_wrong_with_the_file_is_said_at_once(folder: Path) -> None:
    path = write(
        folder,
        {"a": "nothing", "b": {"path": 3}, "c": "./c.ts:graph"},
        dependencies=["./missing"],
        env="missing.env",
        auth={"path": "./auth.py:auth"},
        durable={"recovery": {"a": "prayer", "z": "event_log"}},
        http=[],
    )
    subjects = sorted({line.split(":")[1].strip() for line in problems(path)})
    assert subjects == [
        "auth",
        "dependencies",
        "durable.recovery.a",
        "durable.recovery.z",
        "env",
        "graphs.a",
        "graphs.b",
        "graphs.c",
        "http",
    ]


def test_who_may_do_what_is_refused_rather_than_left_out(folder: Path) -> None:
    """aegra#336, opensre#561: runs were accepted on the threads of other people."""
    graphs = {"agent": "./the_graphs.py:compiled"}
    told = problems(write(folder, graphs, auth={"path": "./auth.py:auth"}))
    assert told == [
        "langgraph.json: auth: not supported yet, and without it anyone could use this server"
    ]


@pytest.mark.parametrize(
    "key", ["graphs", "dependencies", "env", "http", "durable", "auth", "store"]
)
def test_no_value_of_a_known_key_is_more_than_a_problem(folder: Path, key: str) -> None:
    for value in (None, 5, True, "text", [], [5], {}, {"a": 5}, {"recovery": {"a": 5}}):
        text = json.dumps({"graphs": {"a": "m:g"}, key: value})
        (folder / "langgraph.json").write_text(text)
        assert all(line.startswith(f"langgraph.json: {key}") for line in problems_if_any(folder))


def problems_if_any(folder: Path) -> list[str]:
    try:
        read_config(folder / "langgraph.json")
    except ProjectError as error:
        return error.message.splitlines()
    return []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"graphs": {}}', '{"graphs": []}', "{}"])
def test_a_file_without_graphs_is_one_problem(folder: Path, text: str) -> None:
    (folder / "langgraph.json").write_text(text)
    assert len(problems(folder / "langgraph.json")) == 1


def test_a_missing_file_is_one_problem(folder: Path) -> None:
    assert problems(folder / "no.json") == [f"{folder / 'no.json'}: No such file or directory"]


def test_keys_that_do_nothing_here_are_told_once_each(folder: Path) -> None:
    more = {"python_version": "3.12", "webhooks": {"a": 1}, "wobble": 1}
    more["http"] = {"mount_prefix": "/x/"}
    config = read_config(write(folder, {"a": "m:g"}, **more))
    assert sorted(notice.split(":")[0] for notice in config.notices) == [
        "python_version",
        "webhooks.a",
        "wobble",
    ]
    assert config.http.mount_prefix == "/x"


def test_the_environment_of_a_project_is_not_shown(folder: Path) -> None:
    assert "s3cret" not in repr(read_config(write(folder, {"a": "m:g"}, env={"KEY": "s3cret"})))


async def test_that_the_own_checkpointer_of_a_graph_is_replaced_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    builder = StateGraph(MessagesState).add_node("n", lambda s: s).set_entry_point("n")
    with caplog.at_level("INFO", logger="langgraph_durable"):
        source = Project.from_graph(builder.compile(checkpointer=InMemorySaver())).graphs["agent"]
        async with source.open({}), source.open({}):
            pass
    assert [r.getMessage() for r in caplog.records] == [
        "graph agent: its own checkpointer is replaced by the server's"
    ]


def test_several_graphs_can_be_given_by_hand() -> None:
    builder = StateGraph(MessagesState).add_node("n", lambda s: s).set_entry_point("n")
    assert list(Project.from_graph({"a": builder, "b": builder.compile()}).graphs) == ["a", "b"]
    with pytest.raises(ProjectError) as caught:
        Project.from_graph({"a": builder, "b": 3, "c": "x"})
    assert len(caught.value.message.split("\n")) == 2


def test_event_log_needs_a_messages_channel_or_a_hook() -> None:
    builder = StateGraph(Silent).add_node("n", lambda s: s).set_entry_point("n")
    project = Project.from_graph(
        {
            "talks": StateGraph(MessagesState).add_node("n", lambda s: s).set_entry_point("n"),
            "silent": builder,
        }
    )
    settings = Settings(recovery=RecoveryStrategy.EVENT_LOG)
    with pytest.raises(ProjectError, match=r"^graphs\.silent: recovery event_log needs"):
        project.check(settings)
    project.check(settings, hooked=True)
    project.check(Settings())


def test_a_strategy_for_a_graph_that_is_not_served_is_a_problem() -> None:
    builder = StateGraph(MessagesState).add_node("n", lambda s: s).set_entry_point("n")
    settings = Settings(recovery_by_graph={"agnet": RecoveryStrategy.EVENT_LOG})
    with pytest.raises(ProjectError, match="no graph is called 'agnet'"):
        Project.from_graph(builder).check(settings)
