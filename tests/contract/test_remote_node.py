"""RemoteGraph as a node of a graph in this process that has a memory of its own."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.pregel.remote import RemoteException
from langgraph.types import Command, interrupt
from langgraph_sdk.client import LangGraphClient

from tests.contract.conftest import RemoteOf
from tests.contract.remote import Half, gist, names_of, on_a_thread, remembering


def around(state: Any, **nodes: Any) -> Any:
    """The nodes one after the other, with a memory."""
    builder: Any = StateGraph(state).add_sequence(list(nodes.items()))
    return builder.add_edge(START, next(iter(nodes))).compile(checkpointer=InMemorySaver())


async def last_run(client: LangGraphClient, config: RunnableConfig) -> Any:
    """What the newest run there ended with: RemoteGraph leaves as soon as it hears a question."""
    [run, *_] = await client.runs.list(thread_of(config))
    return await client.runs.join(run["thread_id"], run["run_id"])


def thread_of(config: RunnableConfig) -> str:
    return str(config["configurable"]["thread_id"])


@pytest.fixture
def outer(remote: RemoteOf, served: Any) -> Any:
    """A local node behind the served subgraph."""

    def last(state: Any) -> Any:
        return {"x": state["x"] + 100}

    return around(served.Parent, remote=remote("subgraph"), last=last)


async def test_it_takes_the_state_and_gives_it_back(
    call: Half, outer: Any, client: LangGraphClient
) -> None:
    config = on_a_thread()
    assert await call(outer, "invoke", {"x": 1}, config) == {"x": 129}
    assert await call(outer, "invoke", {"x": 2}, config) == {"x": 139}
    runs = await client.runs.list(thread_of(config))
    assert [run["status"] for run in runs] == ["success", "success"]


@pytest.mark.parametrize("mode", ["values", "updates", "custom", "tasks"])
async def test_what_it_streams_is_told_as_that_of_a_subgraph_of_this_process(
    call: Half, remote: RemoteOf, served: Any, mode: str
) -> None:
    told = []
    for inner in (remote("subgraph"), served.subgraph):
        graph = around(served.Parent, inner=inner)
        parts = await call(
            graph, "stream", {"x": 1}, on_a_thread(), stream_mode=mode, subgraphs=True
        )
        told.append([(names_of(namespace), gist(mode, data)) for namespace, data in parts])
    assert told[0] == told[1]
    assert any(namespace == ("inner", "child") for namespace, _ in told[0])


async def test_its_tokens_are_told_as_they_come(call: Half, remote: RemoteOf, served: Any) -> None:
    graph = around(served.MessagesState, agent=remote("agent"))
    given = {"messages": [{"role": "user", "content": "add", "id": "1"}]}
    more: Any = {"stream_mode": "messages", "subgraphs": True}
    parts = await call(graph, "stream", given, on_a_thread(), **more)
    told = [message["content"] for _, (message, _) in parts if isinstance(message, dict)]
    assert [text for text in told if text] == ["5", "The ", "answer ", "is ", "5"]


async def test_its_error_is_an_error_of_the_graph_around_it(
    call: Half, remote: RemoteOf, served: Any
) -> None:
    graph, config = around(served.Echo, remote=remote("boom")), on_a_thread()
    with pytest.raises(RemoteException, match="boom"):
        await call(graph, "invoke", {"x": 1}, config)
    [task] = (await call(graph, "get_state", config)).tasks
    assert task.name == "remote"
    assert "boom" in str(task.error)


# -- questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hitl", "inside"])
async def test_its_question_is_asked_by_the_graph_around_it_and_answered_there(
    call: Half, remote: RemoteOf, served: Any, client: LangGraphClient, name: str
) -> None:
    """langchain-ai/langgraph#4879: the answer never reached the remote graph, which asked again."""
    graph, config = around(served.Question, remote=remote(name), end=served.shout), on_a_thread()
    asked = await call(graph, "invoke", {"q": "ok?"}, config)
    [question] = asked["__interrupt__"]
    assert question.value == {"question": "ok?"}
    state = await call(graph, "get_state", config)
    assert (state.next, [q.id for q in state.interrupts]) == (("remote",), [question.id])
    await last_run(client, config)
    there: Any = await client.threads.get(thread_of(config))
    assert [q["id"] for [q] in there["interrupts"].values()] == [question.id]

    done = await call(graph, "invoke", Command(resume={question.id: "yes"}), config)
    assert done == {"q": "ok?", "a": "yes!" if name == "hitl" else "yes!!"}
    assert (await call(graph, "get_state", config)).next == ()
    assert (await client.threads.get(thread_of(config)))["status"] == "idle"


async def test_an_answer_goes_on_where_the_remote_graph_stood(
    call: Half, remote: RemoteOf, served: Any
) -> None:
    graph, config = around(served.Approval, remote=remote("approval")), on_a_thread()
    [question] = (await call(graph, "invoke", {"request": "pay"}, config))["__interrupt__"]
    done = await call(graph, "invoke", Command(resume={question.id: "yes"}), config)
    assert done["log"] == ["prepared", "decided:yes", "finished"]


async def test_questions_asked_at_once_are_heard_one_by_one_and_all_answered(
    call: Half, remote: RemoteOf, served: Any, client: LangGraphClient
) -> None:
    """RemoteGraph leaves at the first question that it hears; the other one is asked again."""
    graph, config = around(served.Answers, remote=remote("two_questions")), on_a_thread()
    result = await call(graph, "invoke", {"answers": []}, config)
    there = {
        each["value"]: each["id"] for each in (await last_run(client, config))["__interrupt__"]
    }
    heard = []
    while asked := result.get("__interrupt__"):
        heard += [(question.value, question.id) for question in asked]
        answers = {question.id: f"to {question.value}" for question in asked}
        result = await call(graph, "invoke", Command(resume=answers), config)
    assert dict(heard) == there
    assert len(heard) == 2
    assert sorted(result["answers"]) == ["left:to left", "right:to right"]


async def test_an_answer_that_names_no_question_leaves_the_question_as_it_was(
    call: Half, remote: RemoteOf, served: Any
) -> None:
    """RemoteGraph keeps such an answer to itself; the remote graph must not begin anew for it."""
    graph, config = around(served.Approval, remote=remote("approval")), on_a_thread()
    [question] = (await call(graph, "invoke", {"request": "pay"}, config))["__interrupt__"]
    [again] = (await call(graph, "invoke", Command(resume="yes"), config))["__interrupt__"]
    assert (again.id, again.value) == (question.id, question.value)
    done = await call(graph, "invoke", Command(resume={question.id: "yes"}), config)
    assert done["log"] == ["prepared", "decided:yes", "finished"]


async def test_a_new_turn_of_the_graph_around_it_is_a_new_turn(
    call: Half, remote: RemoteOf, served: Any
) -> None:
    graph, config = around(served.Question, remote=remote("hitl")), on_a_thread()
    [first] = (await call(graph, "invoke", {"q": "first"}, config))["__interrupt__"]
    [second] = (await call(graph, "invoke", {"q": "second"}, config))["__interrupt__"]
    assert (second.value, second.id != first.id) == ({"question": "second"}, True)
    done = await call(graph, "invoke", Command(resume={second.id: "yes"}), config)
    assert done == {"q": "second", "a": "yes"}


async def test_a_node_that_calls_it_by_hand_takes_any_answer(
    remote: RemoteOf, served: Any, thread_id: str
) -> None:
    graph, there = remote("hitl"), on_a_thread(thread_id)

    def ask(state: Any) -> Any:
        asked = graph.get_state(there).interrupts
        if not asked:
            asked = graph.invoke(state, there, version="v2").interrupts
        return {"a": graph.invoke(Command(resume=interrupt(asked[0].value)), there)["a"]}

    caller, config = around(served.Question, ask=ask), on_a_thread()
    call = Half("sync")
    [question] = (await call(caller, "invoke", {"q": "ok?"}, config))["__interrupt__"]
    assert question.value == {"question": "ok?"}
    assert await call(caller, "invoke", Command(resume="yes"), config) == {"q": "ok?", "a": "yes"}


async def test_two_at_once_on_threads_of_their_own_answer_each_their_own(
    call: Half, remote: RemoteOf, served: Any, client: LangGraphClient
) -> None:
    """The graph around them names the thread; a node around each gives it another."""
    builder: Any = StateGraph(served.Answers)
    for name in ("one", "two"):
        builder.add_node(name, on_its_own_thread(remote("two_questions"), name))
        builder.add_edge(START, name)
    graph, config = remembering(builder.compile()), on_a_thread()
    result = await call(graph, "invoke", {"answers": []}, config)
    assert len({question.id for question in result["__interrupt__"]}) == 2
    while asked := result.get("__interrupt__"):
        answers = {question.id: f"to {question.value}" for question in asked}
        result = await call(graph, "invoke", Command(resume=answers), config)
    assert sorted(result["answers"]) == ["left:to left"] * 2 + ["right:to right"] * 2
    for name in ("one", "two"):
        there = await client.threads.get(f"{thread_of(config)}-{name}")
        assert there["values"]["answers"] != result["answers"]  # type: ignore[call-overload]


def on_its_own_thread(graph: Any, name: str) -> Any:
    """A node in both halves: the graph on a thread named after the outer one and the node."""

    def there(config: RunnableConfig) -> RunnableConfig:
        configurable = config["configurable"]
        thread_id = f"{configurable['thread_id']}-{name}"
        return {**config, "configurable": {**configurable, "thread_id": thread_id}}

    def node(state: Any, config: RunnableConfig) -> Any:
        return graph.invoke(state, there(config))

    async def anode(state: Any, config: RunnableConfig) -> Any:
        return await graph.ainvoke(state, there(config))

    return RunnableLambda(node, anode)
