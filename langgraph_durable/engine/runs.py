"""Runs: submit, read, follow, wait, cancel, delete."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from langchain_core.utils.uuid import uuid7

from langgraph_durable import submission
from langgraph_durable.engine.started import Started
from langgraph_durable.errors import (
    InvalidRequest,
    KeyReused,
    OutcomeUnknown,
    RunNotCancellable,
    RunNotFound,
    StoreUnavailable,
    ThreadNotFound,
)
from langgraph_durable.forgetting import forget_run
from langgraph_durable.forking import thread_behind
from langgraph_durable.model import (
    BEGINNING,
    Assistant,
    Cursor,
    Event,
    Run,
    RunRequest,
    RunStatus,
)
from langgraph_durable.offer import Offer
from langgraph_durable.postgres import reading, single, transaction
from langgraph_durable.store import entering, events, runs, threads

CANCEL_ACTIONS = ("interrupt", "rollback")
CONFIRM_SECONDS = (0.0, 0.1, 0.3, 0.6, 1.0)


class Runs(Started):
    """The engine's runs."""

    async def submit(self, request: RunRequest) -> Run:
        """Make a run durable; it starts as soon as its thread and a worker are free.

        A request whose ``idempotency_key`` is known answers the run that it was made for.

        Raises:
            KeyReused: its ``idempotency_key`` belongs to another request.
            UnknownGraph, AssistantNotFound: nothing of that name is served here.
            ThreadNotFound: and ``if_not_exists`` does not ask to create it.
            ThreadBusy: and ``multitask`` is ``reject``.
            ThreadMoved: another run has gone on from the one this request ``follows``.
            CheckpointNotFound: the request names a checkpoint its thread does not have.
            InvalidRequest: the request contradicts itself.
            WebhookRefused: its webhook must not be called from here.
            StoreUnavailable: nothing was stored.
        """
        run_id = request.run_id or str(uuid7())
        await self.check_webhook(request.webhook)
        if (known := await self._known(request)) is not None:
            return known
        try:
            return await self._submit(request, run_id)
        except InvalidRequest:
            if (known := await self._known(request)) is None:
                raise
            return known
        except OutcomeUnknown:
            return await self._committed_after_all(run_id)

    async def _submit(self, request: RunRequest, run_id: str) -> Run:
        with self._machinery.beginning(run_id) as offer:
            plain = submission.is_plain(request) and await self._enter(request, run_id, offer)
            entered = plain or await self._enter_by_steps(request, run_id, offer)
            run, offer.claim = entered.read()
        return run

    async def _enter(
        self, request: RunRequest, run_id: str, offer: Offer
    ) -> entering.Entered | None:
        """A plain request, in one statement when its assistant is as it was last, else in two.

        None when its thread is yet to be made.
        """
        assistant_id = self._assistant_id(request.assistant)
        thread_id = request.thread_id or ""
        if (last := self._machinery.remembered.get(assistant_id)) is not None:
            admission = replace(self._admission(run_id, last, offer), remembered=True)
            if entered := await self._enter_plain(request, admission, thread_id):
                return entered
        served = list(self.project.graphs)
        async with reading(self._machinery.pool) as conn:
            assistant, found = await entering.arrival(conn, assistant_id, served, thread_id)
        if found is None:
            return None
        self._machinery.remembered.add(assistant)
        return await self._enter_plain(request, self._admission(run_id, assistant, offer), found)

    async def _enter_plain(
        self, request: RunRequest, admission: submission.Admission, thread_id: str
    ) -> entering.Entered:
        async with single(self._machinery.pool) as conn:
            return await submission.submit_plain(conn, request, admission, thread_id)

    async def _enter_by_steps(
        self, request: RunRequest, run_id: str, offer: Offer
    ) -> entering.Entered:
        async with transaction(self._machinery.pool) as conn:
            assistant = await self._find_assistant(conn, request.assistant)
            admission = self._admission(run_id, assistant, offer)
            ttl = self.project.threads.ttl
            return await submission.submit(conn, request, admission, ttl=ttl)

    def _admission(self, run_id: str, assistant: Assistant, offer: Offer) -> submission.Admission:
        return submission.Admission(
            run_id=run_id,
            assistant=assistant,
            strategy=self.project.graphs[assistant.graph_id].strategy(self.settings),
            tracing=self.settings.tracing,
            hand=offer.hand(assistant.graph_id),
        )

    async def made_before(self, key: str, request_hash: str | None) -> Run | None:
        """The run that a request under this idempotency key has made. Raises KeyReused."""
        async with reading(self._machinery.pool) as conn:
            known = await runs.by_key(conn, key)
        if known is None:
            return None
        run, made_for = known
        if made_for != request_hash:
            raise KeyReused
        return run

    async def _known(self, request: RunRequest) -> Run | None:
        if request.idempotency_key is None:
            return None
        return await self.made_before(request.idempotency_key, request.request_hash)

    async def check_webhook(self, url: str | None) -> None:
        """Raises WebhookRefused unless this server may call ``url`` when a run ends."""
        if url is not None:
            await self._machinery.webhook_policy.targets(url)

    async def _committed_after_all(self, run_id: str) -> Run:
        """A run whose commit was sent and never confirmed; StoreUnavailable when it is not there.

        Whoever is told to try again would run it twice.
        """
        for pause in CONFIRM_SECONDS:
            await asyncio.sleep(pause)
            with suppress(StoreUnavailable):
                try:
                    return await self.run(run_id)
                except RunNotFound:
                    break
        raise StoreUnavailable

    async def thread_behind(self, run: Run) -> str:
        """The id of a thread to go on from the end of ``run``: see ``forking.thread_behind``."""
        async with reading(self._machinery.pool) as conn:
            source = self._graph_of(await threads.get(conn, run.thread_id))
        ttl = self.project.threads.ttl
        return await self._machinery.loops.call(
            lambda place: thread_behind(place, source, run, ttl=ttl)
        )

    async def answer_to(self, asker: Run, question_id: str) -> tuple[Run, Any] | None:
        """The run that answers what ``asker`` asked, and the answer; None while it is open.

        A run that failed or was cancelled has taken its answer back.
        """
        async with reading(self._machinery.pool) as conn:
            return await runs.answering(conn, asker, question_id)

    async def run(self, run_id: str, thread_id: str | None = None) -> Run:
        """Raises RunNotFound, also when the run is on another thread than ``thread_id``."""
        if not _is_uuid(run_id):
            raise RunNotFound
        async with reading(self._machinery.pool) as conn:
            run = await runs.get(conn, run_id)
            if thread_id is not None and run.thread_id != thread_id:
                with suppress(ThreadNotFound):
                    if (await threads.get(conn, thread_id)).thread_id == run.thread_id:
                        return run
                raise RunNotFound
            return run

    async def runs(
        self, thread_id: str, *, limit: int = 10, offset: int = 0, status: str | None = None
    ) -> list[Run]:
        """A thread's runs, newest first. Raises ThreadNotFound."""
        async with reading(self._machinery.pool) as conn:
            thread = await threads.get(conn, thread_id)
            return await runs.of_thread(
                conn, thread.thread_id, limit=limit, offset=offset, status=status
            )

    async def open_runs(self, statuses: Sequence[str]) -> list[Run]:
        """All runs that wait or run, oldest first; ``statuses`` are pending, running or both."""
        async with reading(self._machinery.pool) as conn:
            return await runs.with_status(conn, statuses)

    def batches(
        self, run_id: str, after: Cursor = BEGINNING, *, new: Run | None = None
    ) -> AsyncGenerator[list[Event], None]:
        """Batches of committed events behind ``after``, until the run's ``end`` event.

        Ends early when this process drains: the client reconnects elsewhere. ``new``: the run, if
        it was submitted here a moment ago, so that it can be told from the beginning without
        reading.
        """
        first = entering.created(new) if new is not None else None
        return self._machinery.followers.follow(run_id, after, first=first)

    async def cursor_at(self, run_id: str, checkpoint_id: str) -> Cursor:
        """Behind the events that led to a checkpoint; the beginning unless the log names it."""
        async with reading(self._machinery.pool) as conn:
            return await events.at_checkpoint(conn, run_id, checkpoint_id)

    async def end_heard(self, run_id: str) -> None:
        """A client has heard of this run's end: every server may know. Raises StoreUnavailable."""
        async with single(self._machinery.pool) as conn:
            await runs.hear_end(conn, run_id)

    async def end_is_news(self, run_id: str, seconds: float) -> bool:
        """Did this run end within so many seconds, with nobody noted by :meth:`end_heard`?"""
        async with reading(self._machinery.pool) as conn:
            return await runs.end_is_news(conn, run_id, seconds)

    def followers(self, run_id: str) -> int:
        """How many readers follow this run in this process."""
        return self._machinery.followers.count(run_id)

    async def wait(self, run_id: str, *, new: Run | None = None) -> Run:
        """The run when it has ended, or unfinished when this process drains.

        ``new``: as it was submitted here a moment ago, so that it need not be looked at yet. Then
        only its status, output and error may be newer than that.
        """
        found: list[Run] = []

        async def ended() -> bool:
            with suppress(StoreUnavailable):
                found[:] = [await self.run(run_id)]
            return bool(found) and found[0].status.terminal

        finished = await self._machinery.followers.until(run_id, ended, new=new is not None)
        if finished and new is not None:
            return replace(new, **runs.finished(finished))
        if not found:
            raise StoreUnavailable
        return found[0]

    async def cancel(
        self, run_id: str, thread_id: str | None = None, *, action: str = "interrupt"
    ) -> None:
        """Stop a run for good: at once when nobody executes it, else soon.

        Raises:
            RunNotFound: no such run.
            RunNotCancellable: it has ended already.
            InvalidRequest: ``action`` is neither interrupt nor rollback.
        """
        if action not in CANCEL_ACTIONS:
            raise InvalidRequest(f"action: {action!r} is not {' or '.join(CANCEL_ACTIONS)}")
        run = await self.run(run_id, thread_id)
        async with transaction(self._machinery.pool) as conn:
            thread = await threads.lock(conn, run.thread_id)
            row = await runs.lock(conn, run_id)
            if RunStatus(row["status"]).terminal:
                raise RunNotCancellable
            await submission.stop(conn, thread, row, action=action)
        self._machinery.cancel(run_id)

    async def delete_run(self, run_id: str, thread_id: str | None = None) -> None:
        """Forget a run that has ended, its log and its checkpoints.

        Raises RunNotFound, ThreadBusy, InvalidRequest: see ``forgetting.forget_run``.
        """
        run = await self.run(run_id, thread_id)
        async with reading(self._machinery.pool) as conn:
            source = self._graph_of(await threads.get(conn, run.thread_id))
        await self._machinery.loops.call(lambda place: forget_run(place, source, run))


def _is_uuid(text: str) -> bool:
    """In the one spelling that ids have here; Python knows some that Postgres does not."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
