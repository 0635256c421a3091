"""Runs tell a real receiver of their end, once at least, and only where a server may call."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import UnprocessableEntityError

from langgraph_durable.sql import statements
from tests.conftest import APPS, MakeServer
from tests.logs import query
from tests.receiver import Receiver, receiver
from tests.servers import Server, free_port, until

SECRET = "whisper"
KEYS = (
    *("run_id", "thread_id", "assistant_id", "metadata", "status", "kwargs", "multitask_strategy"),
    *("created_at", "updated_at", "langsmith_session_name", "run_started_at", "run_ended_at"),
    *("webhook_sent_at", "values"),
)


@pytest.fixture
async def clients() -> AsyncIterator[Callable[[str], LangGraphClient]]:
    async with AsyncExitStack() as stack:

        def make(url: str) -> LangGraphClient:
            made = get_client(url=url)
            stack.push_async_callback(made.aclose)
            return made

        yield make


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as listening:
        yield listening


async def told(hook: Receiver, count: int = 1) -> Any:
    return (await asyncio.to_thread(hook.heard, count))[count - 1].said


def due(database_url: str, run_id: str) -> None:
    """The pause before the next try is over."""
    query(
        database_url,
        "UPDATE webhook_deliveries SET next_at = now() WHERE run_id = %s AND next_at IS NOT NULL",
        (run_id,),
    )


def delivery(database_url: str, run_id: str) -> dict[str, Any]:
    (row,) = query(database_url, "SELECT * FROM webhook_deliveries WHERE run_id = %s", (run_id,))
    return row


def outcome(database_url: str, run_id: str, what: str, **wanted: Any) -> None:
    def there() -> bool:
        row = delivery(database_url, run_id)
        return all(row[key] == value for key, value in wanted.items())

    until(there, what)


async def test_a_run_that_succeeds_tells_who_it_was_and_what_it_left(
    client: LangGraphClient, hook: Receiver
) -> None:
    thread = await client.threads.create()
    run = await client.runs.create(
        thread["thread_id"], "echo", input={"x": 5}, webhook=hook.url, metadata={"m": 1}
    )
    said = await told(hook)
    assert tuple(said) == KEYS
    assert (said["run_id"], said["thread_id"]) == (run["run_id"], thread["thread_id"])
    assert (said["status"], said["values"]["y"], said["metadata"]["m"]) == ("success", 5, 1)
    assert said["kwargs"]["webhook"] == hook.url
    assert said["kwargs"]["input"] == {"x": 5}
    assert said["created_at"] <= said["run_started_at"] <= said["run_ended_at"]
    assert said["run_ended_at"] <= said["webhook_sent_at"]
    sent = hook.calls[0].headers
    assert hook.calls[0].path == "/hook"
    assert sent["Content-Type"] == "application/json"
    assert sent["Host"] == hook.url.split("/")[2]
    assert sent["X-LangGraph-Durable-Delivery"] == run["run_id"]
    assert "X-LangGraph-Durable-Signature" not in sent
    found: Any = await client.runs.get(thread["thread_id"], run["run_id"])
    assert found["kwargs"]["webhook"] == hook.url


async def test_a_run_that_fails_tells_the_error(client: LangGraphClient, hook: Receiver) -> None:
    """aegra#456: runs that fail are told of as well."""
    thread = await client.threads.create()
    await client.runs.create(thread["thread_id"], "boom", input={"x": 1}, webhook=hook.url)
    said = await told(hook)
    assert tuple(said) == (*KEYS, "error")
    assert said["status"] == "error"
    assert set(said["error"]) == {"error", "message"}


async def test_a_run_that_asks_a_person_has_succeeded(
    client: LangGraphClient, hook: Receiver
) -> None:
    thread = await client.threads.create()
    await client.runs.create(
        thread["thread_id"], "approval", input={"request": "x"}, webhook=hook.url
    )
    said = await told(hook)
    assert said["status"] == "success"
    assert said["values"]["request"] == "x"
    assert "__interrupt__" not in said["values"]


async def test_a_cancelled_run_tells_that_it_was_interrupted_and_a_rolled_back_one_nothing(
    client: LangGraphClient, server: Server, hook: Receiver
) -> None:
    thread = await client.threads.create()
    for action in ("rollback", "interrupt"):
        run = await client.runs.create(
            thread["thread_id"], "echo", input={"x": 1}, webhook=hook.url, after_seconds=3600
        )
        await client.runs.cancel(
            thread["thread_id"],
            run["run_id"],
            wait=True,
            action=action,
        )
    said = await told(hook)
    assert (said["run_id"], said["status"]) == (run["run_id"], "interrupted")
    outcome(server.database_url, run["run_id"], "it is delivered", next_at=None)
    assert len(hook.calls) == 1
    kept = query(
        server.database_url, "SELECT run_id FROM webhook_deliveries WHERE url = %s", (hook.url,)
    )
    assert [str(row["run_id"]) for row in kept] == [run["run_id"]]


async def test_stateless_runs_and_batches_tell_their_ends(
    client: LangGraphClient, hook: Receiver
) -> None:
    body: Any = {"assistant_id": "echo", "input": {"x": 1}, "webhook": hook.url}
    made = await client.runs.create_batch([body, body])
    await told(hook, 2)
    assert {call.said["run_id"] for call in hook.calls} == {run["run_id"] for run in made}


async def test_a_batch_with_one_refused_webhook_makes_no_run(
    client: LangGraphClient, server: Server, hook: Receiver
) -> None:
    count = "SELECT count(*) AS n FROM runs"
    before = query(server.database_url, count)
    hooks = (hook.url, "/x")
    payloads: list[Any] = [{"assistant_id": "echo", "input": {}, "webhook": url} for url in hooks]
    with pytest.raises(UnprocessableEntityError):
        await client.runs.create_batch(payloads)
    assert query(server.database_url, count) == before


@pytest.mark.parametrize("answer", [500, 404, 302])
async def test_what_is_not_taken_is_told_again_word_for_word(
    client: LangGraphClient, server: Server, answer: int
) -> None:
    with receiver(answer, answer) as hook:
        thread = await client.threads.create()
        run = await client.runs.create(
            thread["thread_id"], "echo", input={"x": 1}, webhook=hook.url
        )
        for tries in (1, 2):
            await told(hook, tries)
            problem = f"answered {answer}"
            wanted = {"attempts": tries, "last_error": problem}
            outcome(server.database_url, run["run_id"], "the try is noted", **wanted)
            due(server.database_url, run["run_id"])
        await told(hook, 3)
        outcome(server.database_url, run["run_id"], "it is delivered", next_at=None, payload=None)
        row = delivery(server.database_url, run["run_id"])
        assert row["delivered_at"] is not None
        assert (row["attempts"], row["last_error"]) == (3, None)
        assert len({call.body for call in hook.calls}) == 1
        assert {call.path for call in hook.calls} == {"/hook"}
        found = await client.runs.get(thread["thread_id"], run["run_id"])
        assert found["status"] == "success"


async def test_nobody_there_is_tried_eight_times_and_given_up_and_the_run_stays_as_it_is(
    client: LangGraphClient, server: Server
) -> None:
    """langchain-ai/open-swe#1658: to tell of a run is best effort, and no reason for it to fail."""
    thread = await client.threads.create()
    run = await client.runs.create(
        thread["thread_id"],
        "echo",
        input={"x": 1},
        webhook=f"http://127.0.0.1:{free_port()}/nobody",
    )
    url, run_id = server.database_url, run["run_id"]
    until(lambda: delivery(url, run_id)["last_error"] is not None, "the first try failed")
    query(url, "UPDATE webhook_deliveries SET attempts = 7 WHERE run_id = %s", (run_id,))
    due(url, run_id)
    outcome(url, run_id, "it is given up", attempts=8, next_at=None, payload=None)
    row = delivery(url, run_id)
    assert row["delivered_at"] is None
    assert "ConnectError" in row["last_error"]
    assert (await client.runs.get(thread["thread_id"], run_id))["status"] == "success"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:9/x", "loopback IP range"),
        ("http://localhost/x", "loopback IP range"),
        ("http://[::1]/x", "loopback IP range"),
        ("http://2130706433/x", "loopback IP range"),
        ("http://[::ffff:127.0.0.1]/x", "loopback IP range"),
        ("http://10.1.2.3/x", "private IP range"),
        ("http://192.168.0.1/x", "private IP range"),
        ("http://0.0.0.0/x", "private IP range"),
        ("http://[fd00:ec2::254]/x", "private IP range"),
        ("http://169.254.169.254/latest/meta-data", "link-local IP range"),
        ("http://nobody.invalid/x", "cannot be resolved"),
        ("ftp://x", "scheme 'ftp' not allowed"),
        ("file:///etc/passwd", "scheme 'file' not allowed"),
        ("/ok", "must be an absolute URL"),
        ("nowhere", "must be an absolute URL"),
        ("http://", "must have a host"),
        ("http://user:secret@example.com/", "no user or password"),
        ("http://1.2.3.4:99999/", "malformed"),
        ("http://a.com/" + "x" * 5000, "longer than"),
    ],
)
async def test_a_server_in_production_refuses_to_call_its_own_network(
    strict: Server, clients: Callable[[str], LangGraphClient], url: str, reason: str
) -> None:
    client = clients(strict.url)
    with pytest.raises(UnprocessableEntityError, match=reason):
        await client.runs.create(None, "echo", input={"x": 1}, webhook=url)
    assert query(strict.database_url, "SELECT run_id FROM runs") == []


@pytest.fixture(scope="module")
def strict(databases: Any, template: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A production server."""
    log = tmp_path_factory.mktemp("strict") / "log"
    config = APPS / "basic" / "langgraph.json"
    running = Server(config, database_url=databases.create(template), command="serve", log=log)
    yield running.start()
    running.close()


async def test_an_address_that_was_let_in_is_judged_again_when_it_is_called(
    strict: Server, clients: Callable[[str], LangGraphClient], hook: Receiver
) -> None:
    client = clients(strict.url)
    run = await client.runs.create(None, "echo", input={"x": 1}, after_seconds=3600)
    query(
        strict.database_url,
        "INSERT INTO webhook_deliveries (run_id, url) VALUES (%s, %s)",
        (run["run_id"], hook.url),
    )
    await client.runs.cancel(run["thread_id"], run["run_id"], wait=True)
    reason = "Webhook host blocked: loopback IP range"
    outcome(strict.database_url, run["run_id"], "the call is refused", last_error=reason)
    assert hook.calls == []
    query(strict.database_url, "DELETE FROM runs")


async def test_a_secret_signs_the_time_and_the_body(
    database_url: str, make_server: MakeServer, clients: Callable[[str], LangGraphClient]
) -> None:
    env = {"LANGGRAPH_DURABLE_WEBHOOK_SECRET": SECRET}
    server = make_server("basic", database_url=database_url, env=env).start()
    with receiver() as hook:
        await clients(server.url).runs.create(None, "echo", input={"x": 1}, webhook=hook.url)
        await told(hook)
        sent = hook.calls[0].headers
        signed = sent["X-LangGraph-Durable-Timestamp"].encode() + b"." + hook.calls[0].body
        digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        assert sent["X-LangGraph-Durable-Signature"] == f"sha256={digest}"


@pytest.mark.parametrize("disabled", [False, True])
async def test_the_project_adds_headers_and_may_close_its_own_machine(
    tmp_path: Path, database_url: str, clients: Callable[[str], LangGraphClient], disabled: bool
) -> None:
    project = {
        "graphs": {"echo": f"{APPS / 'basic' / 'graphs.py'}:echo"},
        "env": {"LG_WEBHOOK_TOKEN": "t0ken"},
        "webhooks": {
            "url": {"require_https": False, "disable_loopback": disabled},
            "headers": {"Authorization": "Bearer ${{ env.LG_WEBHOOK_TOKEN }}"},
        },
    }
    config = tmp_path / "langgraph.json"
    config.write_text(json.dumps(project))
    server = Server(config, database_url=database_url, log=tmp_path / "log")
    with receiver() as hook, closing(server.start()):
        body: Any = {"input": {"x": 1}, "webhook": hook.url}
        if disabled:
            with pytest.raises(UnprocessableEntityError, match="loopback"):
                await clients(server.url).runs.create(None, "echo", **body)
            return
        await clients(server.url).runs.create(None, "echo", **body)
        await told(hook)
        assert hook.calls[0].headers["Authorization"] == "Bearer t0ken"


async def test_a_temporary_thread_stays_until_its_end_is_told(
    client: LangGraphClient, server: Server
) -> None:
    url = server.database_url
    with receiver(500) as hook:
        run = await client.runs.create(None, "echo", input={"x": 1}, webhook=hook.url)
        outcome(url, run["run_id"], "the try is noted", last_error="answered 500")
        thread_id = run["thread_id"]
        expire = "UPDATE threads SET expires_at = now() WHERE thread_id = %s"
        query(url, expire, (thread_id,))
        async with await psycopg.AsyncConnection.connect(
            url, options="-c search_path=langgraph_durable"
        ) as conn:
            expired = statements("threads")["expired"]
            given = {"temporary": True, "limit": 50}
            assert thread_id not in {row[0] async for row in await conn.execute(expired, given)}
            await conn.rollback()
            due(url, run["run_id"])
            await told(hook, 2)
            outcome(url, run["run_id"], "it is delivered", next_at=None)
            assert thread_id in {row[0] async for row in await conn.execute(expired, given)}


async def test_an_end_is_told_after_a_kill_between_the_end_and_the_telling(
    database_url: str, make_server: MakeServer, clients: Callable[[str], LangGraphClient]
) -> None:
    server = make_server("basic", database_url=database_url).start()
    port = free_port()
    client = clients(server.url)
    thread = await client.threads.create()
    run = await client.runs.create(
        thread["thread_id"], "echo", input={"x": 1}, webhook=f"http://127.0.0.1:{port}/hook"
    )
    await client.runs.join(thread["thread_id"], run["run_id"])
    server.kill()
    assert delivery(database_url, run["run_id"])["delivered_at"] is None
    with receiver(port=port) as hook:
        server.start()
        due(database_url, run["run_id"])
        said = await told(hook)
        assert (said["run_id"], said["status"]) == (run["run_id"], "success")
