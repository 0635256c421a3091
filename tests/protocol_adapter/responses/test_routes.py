"""The door's answers over HTTP, with an engine whose runs do what the test says."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from langgraph_durable.errors import InvalidRequest, StoreUnavailable
from langgraph_durable.model import RunStatus
from protocol_adapter.responses import ids

from .fake import FakeEngine, client
from .logs import RESPONSE_ID, RUN_ID, Log, a_run

UNKNOWN = "resp_" + "0" * 32


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


def frames(answer: httpx.Response) -> list[dict[str, Any]]:
    """The frames of a whole stream, ``[DONE]`` checked and left out."""
    *told, done, rest = answer.text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    found = []
    for each in told:
        event, data = each.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert event == f"event: {found[-1]['type']}"
    return found


def background(log: Log) -> tuple[FakeEngine, str]:
    """An engine with one background run and its path."""
    engine = FakeEngine()
    ended = log.events[-1].name == "end"
    status = RunStatus.SUCCESS if ended else RunStatus.RUNNING
    engine.add(a_run(door={"background": True}, status=status), log)
    return engine, f"/responses/{RESPONSE_ID}"


# -- the four modes -----------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["", "/v1"])
async def test_a_plain_request_waits_for_the_whole_response(
    engine: FakeEngine, prefix: str
) -> None:
    async with client(engine) as http:
        answer = await http.post(f"{prefix}/responses", json={"model": "x", "input": "hi"})

    body = answer.json()
    assert answer.status_code == 200
    assert (body["status"], body["model"]) == ("completed", "x")
    assert body["output"][0]["content"][0]["text"] == "hello"
    assert answer.headers["x-response-id"] == body["id"]
    assert engine.requests[0].run_id == ids.run_id(body["id"])


async def test_a_background_request_is_answered_at_once(engine: FakeEngine) -> None:
    engine.script = None
    async with client(engine) as http:
        answer = await http.post("/responses", json={"input": "hi", "background": True})
        body = answer.json()
        assert (body["status"], body["output"], body["background"]) == ("queued", [], True)

        run_id = ids.run_id(body["id"]) or ""
        await engine.play(run_id, Log().start())
        polled = (await http.get(f"/responses/{body['id']}")).json()
        assert polled == {**body, "status": "in_progress"}

        await engine.play(run_id, Log().says("m1", "hello").end())
        polled = (await http.get(f"/responses/{body['id']}")).json()
    assert polled.keys() == body.keys()
    assert (polled["status"], len(polled["output"])) == ("completed", 1)


async def test_a_stream_ends_with_the_response_and_done(engine: FakeEngine) -> None:
    async with client(engine) as http:
        answer = await http.post("/responses", json={"input": "hi", "stream": True})
        told = frames(answer)
        polled = (await http.get(f"/responses/{told[0]['response']['id']}")).json()

    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["x-response-id"] == told[0]["response"]["id"]
    assert told[-1]["response"] == polled


async def test_a_background_stream_starts_queued(engine: FakeEngine) -> None:
    async with client(engine) as http:
        body = {"input": "hi", "stream": True, "background": True}
        told = frames(await http.post("/responses", json=body))

    assert [f["type"] for f in told[:3]] == [
        "response.created",
        "response.queued",
        "response.in_progress",
    ]


async def test_a_stream_that_the_server_cuts_has_no_done(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, path = background(Log().start())

    async def drained(_: str) -> Any:
        yield Log().start().says("m1", "hi", last=False).events

    monkeypatch.setattr(engine, "batches", drained)
    async with client(engine) as http:
        answer = await http.get(path, params={"stream": "true"})

    assert answer.text.endswith("}\n\n")
    assert "[DONE]" not in answer.text


# -- reading ------------------------------------------------------------------------------------


async def test_the_terminal_response_is_folded_once_and_stored() -> None:
    engine, path = background(Log().start().says("m1", "hi").end())
    async with client(engine) as http:
        first, second = await http.get(path), await http.get(path)

    assert first.text == second.text == engine.stored[RESPONSE_ID]
    assert engine.folds == 1


@pytest.mark.parametrize("cursor", [None, 0, 3, 9, 99])
async def test_a_cursor_gives_the_rest_of_the_stream(cursor: int | None) -> None:
    engine, path = background(Log().start().says("m1", "hi").end())
    query = {"stream": "true"} | ({} if cursor is None else {"starting_after": str(cursor)})
    async with client(engine) as http:
        whole = frames(await http.get(path, params={"stream": "true"}))
        rest = frames(await http.get(path, params=query))

    assert rest == [f for f in whole if cursor is None or f["sequence_number"] > cursor]


async def test_a_stream_waits_for_what_is_not_there_yet() -> None:
    engine, path = background(Log().start())
    async with client(engine) as http:
        reading = asyncio.create_task(http.get(path, params={"stream": "true"}))
        await engine.play(RUN_ID, Log().says("m1", "hi").end())

        told = frames(await reading)

    assert told[-1]["type"] == "response.completed"


async def test_a_run_that_the_sdk_started_is_a_response_too() -> None:
    engine = FakeEngine()
    run = a_run(run_id=RUN_ID, thread_id="t-1", conversation_id="t-1")
    log = Log().start().updates("model", {"type": "ai", "id": "m", "content": "hi"}).end()
    engine.add(type(run)(**{**_fields(run), "request": {}}), log)
    async with client(engine) as http:
        body = (await http.get(f"/responses/{RESPONSE_ID}")).json()
        told = frames(await http.get(f"/responses/{RESPONSE_ID}", params={"stream": "true"}))

    assert (body["model"], body["background"], body["conversation"]) == (
        "agent",
        True,
        {"id": "t-1"},
    )
    assert told[-1]["response"] == body


def _fields(run: Any) -> dict[str, Any]:
    return {name: getattr(run, name) for name in run.__slots__}


def recovered() -> tuple[FakeEngine, str]:
    return background(Log().start().recovered().says("m1", "hi").end())


async def test_recovery_is_told_by_an_event_of_its_own() -> None:
    engine, path = recovered()
    async with client(engine) as http:
        told = frames(await http.get(path, params={"stream": "true"}))

    assert [f["type"] for f in told].count("response.resumed") == 1


@pytest.mark.parametrize(
    ("options", "headers"),
    [
        ({}, {"x-stainless-helper-method": "stream", "x-stainless-lang": "js"}),
        ({"resumed_events": False}, {}),
    ],
)
async def test_it_is_left_out_without_renumbering_for_clients_that_cannot_take_it(
    options: dict[str, Any], headers: dict[str, str]
) -> None:
    engine, path = recovered()
    async with client(engine) as http:
        whole = frames(await http.get(path, params={"stream": "true"}))
    async with client(engine, **options) as http:
        told = frames(await http.get(path, params={"stream": "true"}, headers=headers))

    assert told == [f for f in whole if f["type"] != "response.resumed"]


async def test_other_stainless_clients_get_it() -> None:
    engine, path = recovered()
    headers = {"x-stainless-helper-method": "stream", "x-stainless-lang": "python"}
    async with client(engine) as http:
        told = frames(await http.get(path, params={"stream": "true"}, headers=headers))

    assert "response.resumed" in [f["type"] for f in told]


# -- cancel and delete --------------------------------------------------------------------------


async def test_cancelling_twice_is_cancelling_once() -> None:
    engine, path = background(Log().start().says("m1", "hal", last=False))
    async with client(engine) as http:
        first = await http.post(f"{path}/cancel")
        second = await http.post(f"{path}/cancel")
        told = frames(await http.get(path, params={"stream": "true"}))

    assert (first.status_code, first.json()["status"]) == (200, "cancelled")
    assert second.text == first.text
    assert told[-1]["type"] == "response.incomplete"


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"door": {"background": False}}, "Cannot cancel a synchronous response."),
        ({"door": {"background": True}}, "Cannot cancel a completed response."),
        (
            {"door": {"background": True}, "status": RunStatus.ERROR},
            "Cannot cancel a failed response.",
        ),
    ],
)
async def test_only_unfinished_background_responses_can_be_cancelled(
    run: dict[str, Any], message: str
) -> None:
    engine = FakeEngine()
    engine.add(a_run(**run), Log().end())
    async with client(engine) as http:
        answer = await http.post(f"/responses/{RESPONSE_ID}/cancel")

    assert (answer.status_code, answer.json()["error"]["message"]) == (400, message)


async def test_a_deleted_response_is_gone() -> None:
    engine, path = background(Log().start().end())
    async with client(engine) as http:
        deleted = await http.delete(path)
        again = await http.delete(path)
        read = await http.get(path)
        body = {"input": "hi", "previous_response_id": RESPONSE_ID}
        followed = await http.post("/responses", json=body)

    assert deleted.json() == {"id": RESPONSE_ID, "object": "response", "deleted": True}
    assert {again.status_code, read.status_code, followed.status_code} == {404}


async def test_a_response_that_has_not_ended_is_not_deleted() -> None:
    engine, path = background(Log().start())
    async with client(engine) as http:
        answer = await http.delete(path)

    assert answer.status_code == 400


# -- conversations ------------------------------------------------------------------------------


async def test_a_new_conversation_is_named_after_its_first_response(engine: FakeEngine) -> None:
    async with client(engine) as http:
        body = (await http.post("/responses", json={"input": "hi"})).json()

    assert body["conversation"] == {"id": body["id"]}
    assert engine.requests[0].thread_id == body["id"]


async def test_a_previous_response_is_continued_on_its_thread(engine: FakeEngine) -> None:
    engine.add(a_run(thread_id="t-1"), Log().end())
    async with client(engine) as http:
        body = {"input": "more", "previous_response_id": RESPONSE_ID}
        answer = (await http.post("/responses", json=body)).json()

    assert engine.requests[0].thread_id == "t-1"
    assert answer["previous_response_id"] == RESPONSE_ID


@pytest.mark.parametrize("previous", [UNKNOWN, "resp_nonsense"])
async def test_an_unknown_previous_response_is_told_as_openai_does(
    engine: FakeEngine, previous: str
) -> None:
    async with client(engine) as http:
        body = {"input": "more", "previous_response_id": previous}
        answer = await http.post("/responses", json=body)

    assert answer.status_code == 404
    error = answer.json()["error"]
    assert (error["code"], error["param"]) == (
        "previous_response_not_found",
        "previous_response_id",
    )


async def test_an_open_question_is_answered_by_the_next_request(engine: FakeEngine) -> None:
    engine.ask("t-1", i1={"q": "pay?"})
    approval = {"type": "mcp_approval_response", "approval_request_id": "mcpr_i1", "approve": True}
    async with client(engine) as http:
        await http.post("/responses", json={"input": [approval], "conversation": "t-1"})

    assert engine.requests[0].command == {"resume": {"i1": True}}
    assert engine.requests[0].input is None


async def test_a_call_without_a_result_is_answered_before_the_next_turn(
    engine: FakeEngine,
) -> None:
    engine.ask("t-1")
    call = {"id": "c1", "name": "add", "args": {}}
    engine.values["t-1"] = {
        "messages": [{"type": "ai", "id": "m", "content": "", "tool_calls": [call]}]
    }
    async with client(engine) as http:
        await http.post("/responses", json={"input": "and now?", "conversation": "t-1"})

    repair, question = engine.requests[0].input["messages"]
    assert (repair["role"], repair["tool_call_id"], repair["status"]) == ("tool", "c1", "error")
    assert question == {"role": "user", "content": "and now?"}


# -- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"/responses/{UNKNOWN}", 404),
        ("GET", "/responses/resp_1", 404),
        ("DELETE", f"/v1/responses/{UNKNOWN}", 404),
        ("POST", f"/responses/{UNKNOWN}/cancel", 404),
        ("GET", f"/responses/{UNKNOWN}?stream=true", 404),
        ("GET", f"/responses/{RESPONSE_ID}/nothing", 404),
        ("GET", f"/responses/{UNKNOWN}/input_items", 404),
        ("GET", f"/responses/{RESPONSE_ID}/input_items?order=up", 400),
        ("GET", f"/responses/{RESPONSE_ID}/input_items?limit=0", 400),
        ("GET", f"/responses/{RESPONSE_ID}/input_items?after=x", 400),
        ("GET", "/responses/", 404),
        ("GET", "/responses", 405),
        ("PUT", f"/v1/responses/{RESPONSE_ID}", 405),
        ("GET", f"/responses/{RESPONSE_ID}/cancel", 405),
        ("GET", f"/responses/{RESPONSE_ID}?stream=maybe", 400),
        ("GET", f"/responses/{RESPONSE_ID}?stream=true", 400),
        ("GET", f"/responses/{RESPONSE_ID}?stream=true&starting_after=x", 400),
        ("GET", f"/responses/{RESPONSE_ID}?stream=true&starting_after=-1", 400),
        ("GET", f"/responses/{RESPONSE_ID}?starting_after=1", 400),
    ],
)
async def test_every_error_has_the_same_shape(
    engine: FakeEngine, method: str, path: str, status: int
) -> None:
    engine.add(a_run(), Log().end())
    async with client(engine) as http:
        answer = await http.request(method, path)

    assert answer.status_code == status
    assert answer.json()["error"].keys() == {"message", "type", "param", "code"}
    assert answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("content", ["", "{", "[1]", '"x"', "null"])
async def test_a_body_that_is_no_json_object_is_refused(engine: FakeEngine, content: str) -> None:
    async with client(engine) as http:
        answer = await http.post("/responses", content=content)

    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


async def test_a_body_is_read_as_json_whatever_it_is_called(engine: FakeEngine) -> None:
    async with client(engine) as http:
        headers = {"content-type": "text/plain", "idempotency-key": "k"}
        answer = await http.post("/responses", content='{"input":"hi"}', headers=headers)

    assert answer.status_code == 200


async def test_streaming_a_synchronous_response_is_refused_in_openais_words(
    engine: FakeEngine,
) -> None:
    engine.add(a_run(), Log().end())
    async with client(engine) as http:
        answer = await http.get(f"/responses/{RESPONSE_ID}", params={"stream": "true"})

    assert answer.json()["error"] == {
        "message": "This response cannot be streamed because it was not created with "
        "background=true.",
        "type": "invalid_request_error",
        "param": "stream",
        "code": None,
    }


async def test_an_unknown_model_among_several_graphs_is_refused() -> None:
    async with client(FakeEngine("a", "b")) as http:
        unknown = await http.post("/responses", json={"model": "gpt-5", "input": "hi"})
        absent = await http.post("/responses", json={"input": "hi"})

    error = unknown.json()["error"]
    assert (unknown.status_code, error["code"], error["param"]) == (400, "model_not_found", "model")
    assert absent.json()["model"] == "a"


@pytest.mark.parametrize(
    ("error", "status", "retry_after"),
    [
        (StoreUnavailable(), 503, "1"),
        (InvalidRequest("No."), 400, None),
        (KeyError("secret"), 500, None),
    ],
)
async def test_an_engines_error_tells_nothing_of_its_inside(
    engine: FakeEngine,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    retry_after: str | None,
) -> None:
    async def refuse(_: Any) -> Any:
        raise error

    monkeypatch.setattr(engine, "submit", refuse)
    async with client(engine) as http:
        answer = await http.post("/responses", json={"input": "hi"})

    assert answer.status_code == status
    assert answer.headers.get("retry-after") == retry_after
    assert "x-should-retry" not in answer.headers
    assert "secret" not in answer.text


async def test_no_error_behind_the_commit_invites_a_second_run(engine: FakeEngine) -> None:
    engine.failing = StoreUnavailable()
    async with client(engine) as http:
        answer = await http.post("/responses", json={"input": "hi"})

    assert answer.status_code == 503
    assert answer.headers["x-should-retry"] == "false"
    assert ids.run_id(answer.headers["x-response-id"]) == engine.requests[0].run_id
