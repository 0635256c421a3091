"""RemoteGraph does what the same graph does in this process, through both of its halves."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from langgraph.pregel.remote import RemoteException, RemoteGraph
from langgraph.types import Command, Send
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient
from langgraph_sdk.errors import BadRequestError

from tests.contract.conftest import RemoteOf
from tests.contract.remote import Half, gist, names_of, on_a_thread, remembering

# -- running --------------------------------------------------------------------------------------


async def test_a_call_without_a_thread_answers_and_leaves_nothing(
    call: Half, remote: RemoteOf, client: LangGraphClient
) -> None:
    before = await client.threads.count()
    assert await call(remote("echo"), "invoke", {"x": 5}) == {"x": 5, "y": 5}
    assert await client.threads.count() == before


async def test_calls_on_a_thread_remember(call: Half, remote: RemoteOf) -> None:
    config = on_a_thread()
    await call(remote("steps"), "invoke", {"items": ["mine"]}, config)
    twice = await call(remote("steps"), "invoke", {"items": ["more"]}, config)
    assert twice["items"] == ["mine", *(made := [f"s{n}" for n in range(8)]), "more", *made]


async def test_the_newer_form_of_the_result_has_questions_beside_the_values(
    call: Half, remote: RemoteOf
) -> None:
    result = await call(remote("hitl"), "invoke", {"q": "?"}, on_a_thread(), version="v2")
    assert result.value == {"q": "?"}
    assert [question.value for question in result.interrupts] == [{"question": "?"}]


STREAMS: dict[str, tuple[str, Any]] = {
    "values": ("subgraph", {"x": 1}),
    "updates": ("subgraph", {"x": 1}),
    "custom": ("subgraph", {"x": 1}),
    "tasks": ("subgraph", {"x": 1}),
    "checkpoints": ("subgraph", {"x": 1}),
    "debug": ("subgraph", {"x": 1}),
    "messages": ("agent", {"messages": [{"role": "user", "content": "add", "id": "1"}]}),
}


@pytest.mark.parametrize("subgraphs", [False, True], ids=["root", "subgraphs"])
@pytest.mark.parametrize("mode", STREAMS)
async def test_a_stream_says_what_the_graph_says_in_this_process(
    call: Half, remote: RemoteOf, served: Any, mode: str, subgraphs: bool
) -> None:
    name, given = STREAMS[mode]
    local = remembering(getattr(served, name))
    more: Any = {"stream_mode": mode, "subgraphs": subgraphs}
    told = [
        await call(remote(name), "stream", given, on_a_thread(), **more),
        await Half("async")(local, "stream", given, on_a_thread(), **more),
    ]
    ours, own = [
        [(names_of(p[0]), gist(mode, p[1])) if subgraphs else gist(mode, p) for p in parts]
        for parts in told
    ]
    assert ours == own
    assert bool(ours) == (subgraphs or mode != "custom")


async def test_several_modes_come_in_one_stream_and_events_in_none(
    call: Half, remote: RemoteOf
) -> None:
    modes = ["values", "custom", "events"]
    parts = await call(remote("subgraph"), "stream", {"x": 1}, stream_mode=modes)
    assert [part.event for part in parts] == ["values"] * 4
    deep = await call(remote("subgraph"), "stream", {"x": 1}, stream_mode=modes, subgraphs=True)
    said = [(names_of(namespace), mode, data) for namespace, mode, data in deep]
    assert (("child",), "custom", {"in": "c2", "x": 3}) in said
    newer = await call(remote("hitl"), "stream", {"q": "?"}, on_a_thread(), version="v2")
    assert newer[-1]["type"] == "updates"
    assert newer[-1]["data"]["__interrupt__"][0]["value"] == {"question": "?"}


async def test_what_fails_there_is_a_remote_exception_here(call: Half, remote: RemoteOf) -> None:
    for method in ("invoke", "stream"):
        with pytest.raises(RemoteException) as failed:
            await call(remote("boom"), method, {"x": 1})
        assert failed.value.args == ({"error": "ValueError", "message": "boom"},)


async def test_config_and_context_reach_the_graph(
    call: Half, remote: RemoteOf, client: LangGraphClient
) -> None:
    needy = remote("needy").with_config({"configurable": {"user": "ada"}, "tags": ["kept"]})
    config = on_a_thread()
    done = await call(needy, "invoke", {"kind": "x"}, {**config, "metadata": {"from": "here"}})
    assert done["value"] == "hello ada"
    [run] = await client.runs.list(config["configurable"]["thread_id"])
    asked: Any = run["kwargs"]["config"]  # type: ignore[typeddict-item]
    assert (asked["tags"], asked["metadata"]["from"]) == (["kept"], "here")
    told = await call(remote("contextual"), "invoke", {"kind": "x"}, context={"secret": "abc"})
    assert told["value"] == "3 letters"
    with pytest.raises(RemoteException, match="GraphRecursionError"):
        await call(remote("steps"), "invoke", {"items": []}, {"recursion_limit": 3})


async def test_headers_and_parameters_of_a_call_are_sent(
    call: Half, client: LangGraphClient, sync_client: SyncLangGraphClient
) -> None:
    seen: list[httpx.Request] = []

    async def note(request: httpx.Request) -> None:
        seen.append(request)

    client.http.client.event_hooks = {"request": [note]}
    sync_client.http.client.event_hooks = {"request": [seen.append]}
    graph = RemoteGraph("echo", client=client, sync_client=sync_client)
    more: Any = {"headers": {"x-from": "test"}, "params": {"a": "1"}}
    assert await call(graph, "invoke", {"x": 1}, **more) == {"x": 1, "y": 1}
    assert (seen[0].headers["x-from"], seen[0].url.params["a"]) == ("test", "1")


# -- commands -------------------------------------------------------------------------------------

COMMANDS: dict[str, Any] = {
    "resume": lambda _: Command(resume="yes"),
    "resume by id": lambda question: Command(resume={question: "by id"}),
    "resume with nothing in it": lambda _: Command(resume=""),
    "update": lambda _: Command(update={"request": "other"}),
    "update as pairs": lambda _: Command(update=[("log", ["a"]), ("log", ["b"])]),
    "goto": lambda _: Command(goto="finish"),
    "goto several": lambda _: Command(goto=["finish", "prepare"]),
    "all of it": lambda _: Command(resume="yes", update={"request": "x"}, goto="finish"),
}
"""Commands by name, made from the id of the open question."""


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_command_does_what_it_does_in_this_process(
    call: Half, remote: RemoteOf, served: Any, name: str
) -> None:
    ends = []
    for graph in (remote("approval"), remembering(served.approval)):
        config = on_a_thread()
        asked = await call(graph, "invoke", {"request": "pay"}, config)
        question = asked["__interrupt__"][0]
        question_id = question["id"] if isinstance(question, dict) else question.id
        await call(graph, "invoke", COMMANDS[name](question_id), config)
        state = await call(graph, "get_state", config)
        ends.append((state.values, state.next, [each.value for each in state.interrupts]))
    assert ends[0] == ends[1]


async def test_what_the_client_cannot_write_or_the_server_cannot_do_is_refused(
    call: Half, remote: RemoteOf
) -> None:
    with pytest.raises(TypeError, match="not JSON serializable: Send"):
        await call(remote("echo"), "invoke", Command(goto=Send("echo", {})), on_a_thread())
    with pytest.raises(BadRequestError, match="thread_id"):
        await call(remote("hitl"), "invoke", Command(resume="yes"))


async def test_a_run_stops_where_it_is_told_to(call: Half, remote: RemoteOf) -> None:
    config = on_a_thread()
    stopped = await call(remote("subgraph"), "invoke", {"x": 1}, config, interrupt_before=["child"])
    assert stopped == {"x": 2}
    assert (await call(remote("subgraph"), "get_state", config)).next == ("child",)
    stopped = await call(remote("subgraph"), "invoke", None, config, interrupt_after=["child"])
    assert stopped == {"x": 30}
    assert await call(remote("subgraph"), "invoke", None, config) == {"x": 29}
