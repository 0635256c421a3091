"""What users of other servers reported, asked of this one: each test is one report."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from typing_extensions import TypedDict

from langgraph_durable.model import Run, RunRequest, RunStatus
from protocol_adapter.app import create_app
from tests.conftest import MakeEngine
from tests.contract.frames import read_frames
from tests.logs import query
from tests.servers import Server


async def collect(parts: Any) -> list[Any]:
    return [part async for part in parts]


# -- messages -------------------------------------------------------------------------------------


def ids_of(messages: list[dict[str, Any]]) -> dict[str, str]:
    """Message ids by what the messages say."""
    return {f"{m['type']} {m['content']}": m["id"] for m in messages}


async def test_message_ids_are_the_same_in_every_view_of_a_run(
    client: LangGraphClient, http: httpx.AsyncClient, thread_id: str
) -> None:
    """ag-ui#706, CopilotKit#2402: what was streamed was not found again under its id."""
    asked: Any = [{"role": "user", "content": "a", "id": "mine"}, {"role": "user", "content": "b"}]
    made: list[Any] = []
    stream = client.runs.stream(
        thread_id,
        "names",
        input={"messages": asked},
        stream_mode=["values", "updates", "messages-tuple"],
        on_run_created=made.append,
    )
    parts = await collect(stream)

    thread: Any = await client.threads.get(thread_id)
    state: Any = await client.threads.get_state(thread_id)
    history: Any = await client.threads.get_history(thread_id)
    run_id = made[0]["run_id"]
    again = await collect(client.runs.join_stream(thread_id, run_id, last_event_id="-1"))

    ids = ids_of(state["values"]["messages"])
    assert len(set(ids.values())) == len(ids) == 5
    assert (ids["human a"], ids["ai named"]) == ("mine", "ai-1")
    for seen in (
        *(part.data["messages"] for part in (*parts, *again) if part.event == "values"),
        *(part.data["talk"]["messages"] for part in parts if part.event == "updates"),
        [part.data[0] for part in parts if part.event == "messages"],
        thread["values"]["messages"],
        *(each["values"].get("messages", []) for each in history),
    ):
        assert ids_of(seen).items() <= ids.items()
    output = (await http.get(f"/v1/responses/{as_response(run_id)}")).json()["output"]
    assert [item["id"] for item in output] == [ids["ai named"], ids["ai nameless"]]


def as_response(run_id: str) -> str:
    return f"resp_{run_id.replace('-', '')}"


async def test_ids_of_tool_calls_and_streamed_messages_are_the_same_at_both_doors(
    client: LangGraphClient, http: httpx.AsyncClient, thread_id: str
) -> None:
    """ag-ui#1257, #1106, deer-flow#3273: tokens came under the name of the mode, and were lost."""
    made: list[Any] = []
    asked: Any = {"messages": [{"role": "user", "content": "add"}]}
    parts = await collect(
        client.runs.stream(
            thread_id,
            "agent",
            input=asked,
            stream_mode=["messages-tuple", "values"],
            on_run_created=made.append,
        )
    )
    assert list(dict.fromkeys(part.event for part in parts)) == [
        "metadata",
        "values",
        "messages",
        "end",
    ]
    final = [part.data["messages"] for part in parts if part.event == "values"][-1]
    chunks = [part.data[0] for part in parts if part.event == "messages"]
    assert all(isinstance(part.data[1], dict) for part in parts if part.event == "messages")
    spoken = "".join(chunk["content"] for chunk in chunks if chunk["id"] == final[-1]["id"])
    assert spoken == final[-1]["content"] == "The answer is 5"
    assert {chunk["id"] for chunk in chunks} == {message["id"] for message in final[1:]}

    name = as_response(made[0]["run_id"])
    output = (await http.get(f"/v1/responses/{name}")).json()["output"]
    assert [item["id"] for item in output] == ["mcp_call_1", final[-1]["id"]]


@pytest.mark.parametrize("named", [False, True], ids=["as asked", "by name"])
async def test_who_joins_in_several_modes_gets_the_events_of_the_run_in_their_order(
    client: LangGraphClient, thread_id: str, named: bool
) -> None:
    """ag-ui#1257, #1106, deer-flow#3273: tokens came under the name of the mode, and were lost."""
    made: list[Any] = []
    asked: Any = {"messages": [{"role": "user", "content": "add"}]}
    modes: Any = ["messages-tuple", "values", "updates"]
    stream = client.runs.stream(
        thread_id, "agent", input=asked, stream_mode=modes, on_run_created=made.append
    )
    first, *told = [(part.event, part.data) for part in await collect(stream)]
    assert first[0] == "metadata"
    assert {event for event, _ in told} == {"messages", "values", "updates", "end"}

    again = client.runs.join_stream(
        thread_id, made[0]["run_id"], stream_mode=modes if named else None, last_event_id="-1"
    )
    joined = [(part.event, part.data) for part in await collect(again)]
    assert joined == (told if named else [first, *told])


async def test_frames_travel_whole_and_say_their_charset(server: Server) -> None:
    """A reader that decodes each chunk by itself must never see half a character.

    open-metadata#29531, api7/aisix#111: text was read as latin-1, and characters were cut.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    body = json.dumps({"assistant_id": "echo", "input": {"x": "😀é\u2028" * 2000}}).encode()
    head = f"POST /runs/stream HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    headers = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    assert "content-type: text/event-stream; charset=utf-8\r\n" in headers
    chunks = []
    while size := int(await reader.readline(), 16):
        chunks.append((await reader.readexactly(size + 2))[:-2].decode("utf-8"))
    writer.close()
    assert all(chunk.endswith("\r\n\r\n") for chunk in chunks)
    told = [frame.event for frame in read_frames("".join(chunks).encode())]
    assert told == ["metadata", "values", "values", "end"]
    assert "\u2028" not in "".join(chunks)


# -- questions and commands -----------------------------------------------------------------------


async def test_a_question_outlives_a_reload_and_a_plain_message_starts_a_new_turn(
    server: Server, client: LangGraphClient, thread_id: str
) -> None:
    """CopilotKit#1397, #1991, #3454, agent-chat-ui#269: a reload lost the question."""
    await client.runs.wait(thread_id, "hitl", input={"q": "first"})
    async with get_client(url=server.url) as reloaded:
        thread: Any = await reloaded.threads.get(thread_id)
        found: Any = await reloaded.threads.search(ids=[thread_id], status="interrupted")
        state = await reloaded.threads.get_state(thread_id)
        [[question]] = thread["interrupts"].values()
        assert question["value"] == {"question": "first"}
        assert found[0]["interrupts"] == thread["interrupts"]
        assert state["interrupts"] == [question]
        assert state["tasks"][0]["interrupts"] == [question]

        turn: Any = await reloaded.runs.wait(thread_id, "hitl", input={"q": "second"})
        [other] = turn["__interrupt__"]
        assert other["value"] == {"question": "second"}
        done: Any = await reloaded.runs.wait(thread_id, "hitl", command={"resume": "yes"})
    assert done == {"q": "second", "a": "yes"}


COMMANDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "resume": lambda _: {"resume": "yes"},
    "resume with an empty answer": lambda _: {"resume": ""},
    "resume by id": lambda question: {"resume": {question: "by id"}},
    "goto": lambda _: {"goto": "finish"},
    "goto several": lambda _: {"goto": ["finish", "prepare"]},
    "goto with an input": lambda _: {"goto": {"node": "finish", "input": {"request": "sent"}}},
    "update": lambda _: {"update": {"request": "other"}},
    "update as pairs": lambda _: {"update": [["log", ["a"]], ["log", ["b"]]]},
    "update and goto": lambda _: {"update": {"decision": "mine"}, "goto": "finish"},
    "resume and update": lambda _: {"resume": "yes", "update": {"request": "other"}},
    "resume and goto": lambda _: {"resume": "yes", "goto": "finish"},
    "all of it": lambda _: {"resume": "yes", "update": {"request": "x"}, "goto": "finish"},
}
"""Commands by name, made from the id of the open question."""


def as_langgraph_takes_it(command: dict[str, Any]) -> Command[Any]:
    goto = command.get("goto", ())
    if isinstance(goto, dict):
        goto = Send(goto["node"], goto["input"])
    update = command.get("update")
    if isinstance(update, list):
        update = [tuple(pair) for pair in update]
    return Command(resume=command.get("resume"), update=update, goto=goto)


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_command_does_what_langgraph_does_with_it(
    client: LangGraphClient, thread_id: str, served: Any, name: str
) -> None:
    """Duragraph#232, langchain-ai/langgraph#8195, #6534: commands were accepted and ignored."""
    local = served.approval.copy(update={"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": thread_id}}
    first: Any = local.invoke({"request": "pay"}, config)
    served: Any = await client.runs.wait(thread_id, "approval", input={"request": "pay"})

    local.invoke(as_langgraph_takes_it(COMMANDS[name](first["__interrupt__"][0].id)), config)
    command: Any = COMMANDS[name](served["__interrupt__"][0]["id"])
    result: Any = await client.runs.wait(thread_id, "approval", command=command)

    expected = local.get_state(config)
    asked = [question["value"] for question in result.pop("__interrupt__", ())]
    assert asked == [question.value for question in expected.interrupts]
    assert result == expected.values
    state = await client.threads.get_state(thread_id)
    assert (state["values"], state["next"]) == (expected.values, list(expected.next))


@pytest.mark.parametrize("empty", [{}, {"update": {}}, {"goto": []}, {"resume": None}])
async def test_a_command_that_says_nothing_is_none(
    client: LangGraphClient, thread_id: str, empty: Any
) -> None:
    asked = await client.runs.wait(thread_id, "hitl", input={"q": "?"})
    assert await client.runs.wait(thread_id, "hitl", command=empty) == asked


@pytest.mark.parametrize("every", ["*", ["*"]], ids=["text", "list"])
async def test_a_stop_before_every_node_holds_for_every_way_to_follow_a_run(
    client: LangGraphClient, thread_id: str, every: Any
) -> None:
    """aegra#448, #442: where to stop was stored with the run, and no run ever stopped."""
    given: Any = {"input": {"request": "pay"}, "interrupt_before": every}
    for before in ("prepare", "ask", "ask"):  # the second time it asks, and is not passed
        run = await client.runs.create(thread_id, "approval", **given)
        joined: Any = await client.runs.join(thread_id, run["run_id"])
        assert "finished" not in joined.get("log", [])
        assert (await client.runs.get(thread_id, run["run_id"]))["status"] == "success"
        assert (await client.threads.get(thread_id))["status"] == "interrupted"
        assert (await client.threads.get_state(thread_id))["next"] == [before]
        given = {"interrupt_before": every if before == "prepare" else None}


# -- how runs end ---------------------------------------------------------------------------------


async def test_a_message_after_a_stop_is_a_message(client: LangGraphClient, thread_id: str) -> None:
    """langchain-ai/langgraphjs#2751: it was taken for an answer that nobody read.

    aegra#528: a cancel that waits was answered while the run was still at work.
    """
    run = await client.runs.create(thread_id, "slow", input={"delay": 0.2}, stream_mode="updates")
    async for part in client.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"):
        if part.event == "updates":
            await client.runs.cancel(thread_id, run["run_id"], wait=True)
            break
    assert (await client.runs.get(thread_id, run["run_id"]))["status"] == "interrupted"
    kept = (await client.threads.get_state(thread_id))["values"]["steps"]  # type: ignore[call-overload]
    done: Any = await client.runs.wait(thread_id, "slow", input={"tag": "b", "delay": 0})
    assert done["steps"] == [*kept, *(f"b{step}" for step in range(1, 6))]


@pytest.mark.parametrize("status", RunStatus)
async def test_every_way_to_look_at_a_run_agrees_on_whether_it_has_ended(
    make_engine: MakeEngine, database_url: str, status: RunStatus
) -> None:
    """aegra#609: a run that took too long had ended for one stream, and not for a join."""
    engine = await make_engine({"echo": plain()}, works=False)
    transport = httpx.ASGITransport(create_app(engine))
    run: Run = await engine.submit(
        RunRequest(assistant="echo", thread_id="t", if_not_exists="create", input={"value": 1})
    )
    plant(database_url, run.run_id, status)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        one = f"/threads/t/runs/{run.run_id}"
        assert (await http.get(one)).json()["status"] == status
        listed = (await http.get("/threads/t/runs", params={"status": status.value})).json()
        assert [each["run_id"] for each in listed] == [run.run_id]
        if status.terminal:
            assert (await http.get(f"{one}/join")).status_code == 200
            stream = await http.get(f"{one}/stream", headers={"Last-Event-ID": "-1"})
            end = read_frames(stream.content)[-1]
            assert (end.event, end.data) == ("end", {"run_id": run.run_id, "status": status})
            assert (await http.post(f"{one}/cancel")).status_code == 404
            assert (await http.delete(one)).status_code == 204
        else:
            assert (await http.delete(one)).status_code == 409
            assert (await http.post(f"{one}/cancel")).status_code == 202


class Nothing(TypedDict, total=False):
    value: Any


def plain() -> Any:
    return StateGraph(Nothing).add_node("n", lambda state: {}).add_edge(START, "n").compile()


def plant(database_url: str, run_id: str, status: RunStatus) -> None:
    """A run that ended, or not, as only other settings and other servers make it."""
    if status is RunStatus.RUNNING:
        query(
            database_url,
            "UPDATE runs SET status = 'running', attempt = 1, worker_id = 'nobody',"
            " started_at = now(), lease_expires_at = now() + interval '1 hour' WHERE run_id = %s",
            (run_id,),
        )
    if not status.terminal:
        return
    error = {"error": "E", "message": "m"} if status in ("error", "timeout") else None
    end: dict[str, Any] = {"status": status, "error": error, "interrupts": []}
    query(
        database_url,
        "WITH ended AS (UPDATE runs SET status = %s, error = %s, next_seq = 2, finished_at = now()"
        " WHERE run_id = %s RETURNING run_id)"
        " INSERT INTO events (run_id, seq, attempt, name, data)"
        " SELECT run_id, 1, 1, 'end', %s FROM ended",
        (status, json.dumps(error) if error else None, run_id, json.dumps(end)),
    )


@pytest.mark.parametrize(
    ("graph", "run_status", "thread_status"),
    [
        ("echo", "success", "idle"),
        ("boom", "error", "error"),
        ("hitl", "success", "interrupted"),
    ],
)
async def test_when_an_answer_has_arrived_nothing_shows_the_run_at_work(
    http: httpx.AsyncClient, graph: str, run_status: str, thread_status: str
) -> None:
    """aegra#411: the result of a run arrived before its end was stored."""
    body = {"assistant_id": graph, "input": {"x": 1, "q": "?"}}
    for number in range(12):
        thread = (await http.post("/threads", json={})).json()["thread_id"]
        runs = f"/threads/{thread}/runs"
        if number % 3 == 2:
            run = (await http.post(runs, json=body)).json()["run_id"]
            await http.get(f"{runs}/{run}/join")
        else:
            await http.post(f"{runs}/{('wait', 'stream')[number % 3]}", json=body)
        [listed] = (await http.get(runs)).json()
        assert listed["status"] == run_status
        assert (await http.get(f"/threads/{thread}")).json()["status"] == thread_status


async def test_the_result_of_a_run_that_failed_is_its_error(
    client: LangGraphClient, thread_id: str
) -> None:
    """aegra#601: it was empty, and no client raised anything."""
    told = {"__error__": {"error": "ValueError", "message": "boom"}}
    asked: Any = {"input": {"x": 1}}
    run = await client.runs.create(thread_id, "boom", **asked)
    assert await client.runs.join(thread_id, run["run_id"]) == told
    threads: list[Any] = [thread_id, None]
    for thread in threads:
        assert await client.runs.wait(thread, "boom", **asked, raise_error=False) == told
        with pytest.raises(Exception, match="ValueError: boom"):
            await client.runs.wait(thread, "boom", **asked)


# -- config, factories, threads -------------------------------------------------------------------


async def test_context_reaches_the_node_and_no_checkpoint(
    client: LangGraphClient, server: Server, thread_id: str
) -> None:
    """aegra#246, #604: the context of a run was stored with its checkpoints."""
    secret = f"secret-{uuid.uuid4()}"
    asked: Any = {"input": {"kind": "x"}, "context": {"secret": secret}}
    done: Any = await client.runs.wait(thread_id, "contextual", **asked)
    assert done == {"kind": "x", "value": f"{len(secret)} letters"}
    thread = await client.threads.get(thread_id)
    history = await client.threads.get_history(thread_id)
    assert len(history) > 1
    assert secret not in json.dumps([thread, history])
    for table in ("checkpoints", "checkpoint_writes", "checkpoint_blobs"):
        found = query(
            server.database_url,
            f"SELECT 1 FROM {table} t WHERE thread_id = %s AND strpos(t::text, %s) > 0",
            (thread_id, secret),
        )
        assert found == [], table


async def test_a_factory_that_needs_to_know_for_whom_is_asked_per_use(
    client: LangGraphClient, http: httpx.AsyncClient, thread_id: str
) -> None:
    """aegra#245, #251: factories were asked at the start, and for nobody."""
    for user in ("ada", "bob"):
        config: Any = {"configurable": {"user": user}}
        done: Any = await client.runs.wait(thread_id, "needy", input={"kind": "x"}, config=config)
        assert done["value"] == f"hello {user}"
    state = await client.threads.get_state(thread_id)
    assert state["values"] == {"kind": "x", "value": "hello bob"}
    assert len(await client.threads.get_history(thread_id)) > 2
    for tail in ("schemas", "graph"):
        told = await http.get(f"/assistants/needy/{tail}")
        assert (told.status_code, told.json()) == (
            400,
            {"detail": "Graph 'needy' cannot be made here: KeyError: 'user'"},
        )
    failed = await http.post("/runs/wait", json={"assistant_id": "needy", "input": {"kind": "x"}})
    assert failed.json() == {"__error__": {"error": "KeyError", "message": "'user'"}}


async def test_a_stateless_run_leaves_no_thread_and_attaches_to_none(
    client: LangGraphClient, thread_id: str
) -> None:
    """azure-functions-langgraph-python#53, #66: runs without a thread, and one smuggled in."""
    before = await client.threads.count()
    smuggled: Any = {"configurable": {"thread_id": thread_id}}
    asked: Any = {"input": {"x": 5}, "config": smuggled}
    assert await client.runs.wait(None, "echo", **asked) == {"x": 5, "y": 5}
    parts = await collect(client.runs.stream(None, "echo", **asked))
    assert parts[-1].data["status"] == "success"
    created = await client.runs.create(None, "echo", **asked)
    assert created["thread_id"] != thread_id
    assert await client.runs.list(thread_id) == []
    assert (await client.threads.get_state(thread_id))["values"] == {}
    assert await client.threads.count() == before

    kept: Any = {"input": {"x": 6}, "on_completion": "keep"}
    made: list[Any] = []
    await client.runs.wait(None, "echo", **kept, on_run_created=made.append)
    assert await client.threads.count() == before + 1
