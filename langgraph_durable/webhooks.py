"""Telling the world that a run has ended: what is said, how it is signed, and when it is repeated.

A receiver may hear of a run more than once, always under the same delivery id and with the same
body. It never hears of one that was rolled back, and whatever it answers, the run is not touched.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import httpx
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from langgraph_durable.errors import RunNotFound, StoreUnavailable, WebhookRefused
from langgraph_durable.model import Run
from langgraph_durable.postgres import Row, transaction
from langgraph_durable.serde import decode, encode
from langgraph_durable.store import runs
from langgraph_durable.store import webhooks as store
from langgraph_durable.store.webhooks import Delivery
from langgraph_durable.webhook_policy import WebhookPolicy, host_of

_log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
ANSWER_SECONDS = 10.0
TRY_SECONDS = 30.0
"""A try is over by then: resolving, connecting and the answer are all limited."""
PAUSES = (3.0, 9.0, 27.0, 81.0, 243.0, 729.0, 2187.0)
"""After each failed try but the last: eight within an hour."""
MOST_AT_A_TIME = 20


class Webhooks:
    """Delivers for one process; any number of processes share the work."""

    def __init__(
        self,
        pool: AsyncConnectionPool[AsyncConnection[Row]],
        policy: WebhookPolicy,
        secret: str | None,
    ) -> None:
        self._pool = pool
        self._policy = policy
        self._secret = secret
        self._tasks: set[asyncio.Task[None]] = set()
        self._polling: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._polling = asyncio.create_task(self._poll(), name="durable-webhooks")

    async def stop(self) -> None:
        """Tries in hand are broken off; another process or the next start repeats them."""
        ending = [*self._tasks, *([self._polling] if self._polling else [])]
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending)
        if "_client" in self.__dict__:
            await self._client.aclose()

    @cached_property
    def _client(self) -> httpx.AsyncClient:
        # No connection is kept: one belongs to the name its certificate was checked for.
        # No proxy either, which would connect to where it pleases.
        return httpx.AsyncClient(
            verify=httpx.create_ssl_context(),
            trust_env=False,
            follow_redirects=False,
            timeout=ANSWER_SECONDS,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def _poll(self) -> None:
        while True:
            try:
                await self._begin()
            except StoreUnavailable:
                pass
            except Exception:
                _log.exception("webhooks are looked for again")
            await asyncio.sleep(POLL_SECONDS)

    async def _begin(self) -> None:
        slots = MOST_AT_A_TIME - len(self._tasks)
        if slots <= 0:
            return
        async with transaction(self._pool) as conn:
            due = await store.take(conn, slots=slots, try_seconds=TRY_SECONDS)
        for delivery in due:
            task = asyncio.create_task(self._deliver(delivery), name="durable-webhook")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _deliver(self, delivery: Delivery) -> None:
        try:
            body = delivery.payload or await self._payload(delivery.run_id)
            problem = await self._tell(delivery, body.encode())
            await self._settle(delivery, problem)
        except (StoreUnavailable, RunNotFound):
            pass  # the try is repeated when its time is over, unless the run is gone
        except Exception:
            _log.exception("a webhook of run %s is tried again", delivery.run_id)

    async def _payload(self, run_id: str) -> str:
        async with transaction(self._pool) as conn:
            made = payload(await runs.get(conn, run_id), sent_at=datetime.now(UTC))
            return await store.keep_payload(conn, run_id, made)

    async def _tell(self, delivery: Delivery, body: bytes) -> str | None:
        """What went wrong; None when the receiver took it."""
        try:
            url, addresses = await self._policy.targets(delivery.url)
            async with asyncio.timeout(ANSWER_SECONDS):
                status = await self._post(url, addresses, body, self._headers(delivery, body))
        except WebhookRefused as error:
            return error.message
        except (httpx.HTTPError, OSError) as error:
            return f"{type(error).__name__}: {error}"
        return None if 200 <= status < 300 else f"answered {status}"

    async def _post(
        self, url: httpx.URL, addresses: list[str], body: bytes, headers: httpx.Headers
    ) -> int:
        """The status of the answer, whose body is not read, from the first address that listens."""
        headers["Host"] = url.netloc.decode("ascii")
        named = {"sni_hostname": host_of(url)}
        for left, address in enumerate(addresses, 1 - len(addresses)):
            there = url.copy_with(host=address)
            sent = self._client.stream(
                "POST", there, content=body, headers=headers, extensions=named
            )
            try:
                async with sent as answer:
                    return answer.status_code
            except httpx.ConnectError:
                if left == 0:
                    raise
        raise httpx.ConnectError("no address")

    def _headers(self, delivery: Delivery, body: bytes) -> httpx.Headers:
        """Those of ``langgraph.json``, then ours."""
        headers = httpx.Headers(dict(self._policy.config.headers))
        now = str(int(datetime.now(UTC).timestamp()))
        headers["Content-Type"] = "application/json"
        headers["User-Agent"] = "langgraph-durable"
        headers["X-LangGraph-Durable-Delivery"] = delivery.run_id
        headers["X-LangGraph-Durable-Timestamp"] = now
        if self._secret:
            headers["X-LangGraph-Durable-Signature"] = signature(self._secret, now, body)
        return headers

    async def _settle(self, delivery: Delivery, problem: str | None) -> None:
        async with transaction(self._pool) as conn:
            if problem is None:
                await store.delivered(conn, delivery.run_id)
                return
            pause = PAUSES[delivery.attempts - 1] if delivery.attempts <= len(PAUSES) else None
            await store.failed(conn, delivery, problem, pause=pause)
        outcome = "given up" if pause is None else f"again in {pause:.0f} s"
        _log.warning("webhook of run %s: %s; %s", delivery.run_id, problem, outcome)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """``sha256=<hex>`` of ``<timestamp>.<body>``: neither can be changed, nor used again later."""
    said = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), said, hashlib.sha256).hexdigest()


def payload(run: Run, *, sent_at: datetime) -> str:
    """JSON text: the run as clients see it, how it ended, and the values it left."""
    said: dict[str, Any] = {
        "run_id": run.run_id,
        "thread_id": run.thread_id,
        "assistant_id": run.assistant_id,
        "metadata": run.metadata,
        "status": run.status,
        "kwargs": _kwargs(run.request, temporary=run.temporary),
        "multitask_strategy": run.multitask,
        "created_at": run.created_at,
        "updated_at": run.updated_at,
        "langsmith_session_name": None,
        "run_started_at": run.started_at,
        "run_ended_at": run.finished_at,
        "webhook_sent_at": sent_at,
        "values": _values(run),
    }
    return encode(said | ({"error": run.error} if run.error else {}))


def _values(run: Run) -> Any:
    values = decode(run.output) if run.output else None
    if isinstance(values, dict):
        values.pop("__interrupt__", None)
    return values


def _kwargs(asked: Mapping[str, Any], *, temporary: bool) -> dict[str, Any]:
    same = ("input", "command", "config", "context", "interrupt_before", "interrupt_after")
    return {key: asked.get(key) for key in (*same, "webhook", "durability")} | {
        "stream_mode": asked.get("stream_modes"),
        "subgraphs": asked.get("stream_subgraphs"),
        "checkpoint_during": asked.get("durability") != "exit",
        "temporary": temporary,
        "resumable": True,
        "feedback_keys": None,
    }
