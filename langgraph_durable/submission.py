"""How a run enters its thread's queue, and how one that nobody executes leaves it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psycopg import AsyncConnection

from langgraph_durable.answers import bind, unknown
from langgraph_durable.assistants import with_defaults
from langgraph_durable.errors import InvalidRequest, ThreadBusy, ThreadMoved, ThreadNotFound
from langgraph_durable.model import (
    Assistant,
    RecoveryStrategy,
    RunRequest,
    RunStatus,
    Ttl,
)
from langgraph_durable.postgres import Row
from langgraph_durable.request import answers, has_edits, stored
from langgraph_durable.serde import clean, decode, encode
from langgraph_durable.store import entering, events, runs, threads, waits, webhooks
from langgraph_durable.threadstate import asked_at, check_checkpoint
from langgraph_durable.tracing import trace_metadata
from langgraph_durable.unowned import end_waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What the engine says of a new run. A ``hand`` begins it at once if it can.

    ``tracing`` is that of the settings. ``remembered``: the assistant may have changed meanwhile.
    """

    run_id: str
    assistant: Assistant
    strategy: RecoveryStrategy
    tracing: str | None = None
    hand: entering.Hand | None = None
    remembered: bool = False


def is_plain(request: RunRequest) -> bool:
    """Does it ask for nothing that has to be looked at under the lock of its thread?"""
    return (
        request.thread_id is not None
        and request.multitask == "enqueue"
        and not answers(request)
        and request.resumes is None
        and request.follows is None
        and not request.checkpoint
        and request.webhook is None
    )


async def submit_plain(
    conn: AsyncConnection[Row], request: RunRequest, admission: Admission, thread_id: str
) -> entering.Entered:
    """One statement for a plain request. Nothing has entered when its thread is not there."""
    return await _enter(conn, request, admission, thread_id)


async def submit(
    conn: AsyncConnection[Row], request: RunRequest, admission: Admission, *, ttl: Ttl | None
) -> entering.Entered:
    """Thread, run, first event and notification, in the caller's transaction.

    ``ttl`` is the life time of a thread that has to be made.
    """
    if request.thread_id is None and answers(request):
        raise InvalidRequest("You must provide a thread_id when resuming.")
    thread = await _locked_thread(conn, request, ttl)
    await _check_place(conn, request, thread)
    thread = await _made_room(conn, request, thread)
    request, answer = await _heard(conn, request, thread)
    await _check_answer(conn, request, thread, answer)
    await check_checkpoint(conn, threads.as_thread(thread), request.checkpoint)
    entered = await _enter(conn, request, admission, thread["thread_id"], answer=answer)
    if answer is not None:
        await conn.execute(*waits.settle_unasked(thread["thread_id"]))
        entered.now = await runs.get(conn, admission.run_id)
    if request.webhook is not None:
        await webhooks.insert(conn, admission.run_id, request.webhook)
    return entered


async def _enter(
    conn: AsyncConnection[Row],
    asked: RunRequest,
    admission: Admission,
    thread_id: str,
    *,
    answer: str | None = None,
) -> entering.Entered:
    assistant, run_id = admission.assistant, admission.run_id
    request = with_defaults(asked, assistant)
    ids = {"graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id}
    own = {**(request.config.get("metadata") or {}), **asked.metadata, **ids}
    run = {
        "run_id": run_id,
        "thread_id": thread_id,
        "thread_metadata": request.thread_metadata,
        "config": _public_config(request),
        **ids,
        "strategy": admission.strategy,
        "multitask": request.multitask,
        "temporary": request.thread_id is None,
        "metadata": request.metadata,
        "own_metadata": {**own, **trace_metadata(admission.tracing, run_id)},
        "request": encode(stored(request)),
        "answer": answer,
        "idempotency_key": request.idempotency_key,
        "request_hash": request.request_hash,
        "after_seconds": request.after_seconds,
    }
    remembered = assistant if admission.remembered else None
    return await entering.enter(conn, run, admission.hand, remembered=remembered)


async def _locked_thread(conn: AsyncConnection[Row], request: RunRequest, ttl: Ttl | None) -> Row:
    if request.thread_id is not None:
        try:
            return await threads.lock(conn, request.thread_id)
        except ThreadNotFound:
            if request.if_not_exists != "create":
                raise
    temporary = request.thread_id is None and not request.keep_thread
    thread_id = request.thread_id or str(uuid.uuid4())
    return await threads.insert(
        conn,
        thread_id,
        metadata=request.thread_metadata,
        temporary=temporary,
        ttl=None if temporary else ttl,
    ) or await threads.lock(conn, thread_id)


async def _check_place(conn: AsyncConnection[Row], request: RunRequest, thread: Row) -> None:
    """Raise ThreadMoved when another run has gone on from the one that ``request`` follows."""
    if request.follows is None:
        return
    followed = await runs.get(conn, request.follows)
    if followed.thread_id == thread["thread_id"] and await runs.lock_behind(conn, followed):
        raise ThreadMoved


async def _check_answer(
    conn: AsyncConnection[Row], request: RunRequest, thread: Row, answer: str | None
) -> None:
    """Raise ThreadMoved when an answer on a fork has been given behind the same run already."""
    if request.follows is None or answer is None:
        return
    followed = await runs.get(conn, request.follows)
    if followed.thread_id == thread["thread_id"]:
        return
    await threads.lock_origins(conn, followed.thread_id)
    for question_id in decode(answer).get("answers") or ():
        if await runs.answering(conn, followed, question_id) is not None:
            raise ThreadMoved


async def _heard(
    conn: AsyncConnection[Row], request: RunRequest, thread: Row
) -> tuple[RunRequest, str | None]:
    """The request, and its answer bound to what the thread asks now."""
    if not answers(request) and request.resumes is None:
        return request, None
    questions = await _questions(conn, request, thread)
    request = _going_on(request, questions)
    if not answers(request):
        return request, None
    resume = (request.command or {})["resume"]
    bound = bind(resume, questions, strict=request.strict_resume)
    if "refused" in bound and await runs.sleeps(conn, thread["active_run_id"]):
        # It would have to wait until the sleeper has ended to be told so.
        raise InvalidRequest(bound["refused"]["message"])
    return request, encode(bound | _unasked(request, bound))


def _unasked(request: RunRequest, bound: Mapping[str, Any]) -> dict[str, Any]:
    """How a run ends that only answers, when it comes to a sleeper that does not ask for it."""
    if has_edits(request) or request.checkpoint:
        return {}
    strict = unknown(bound.get("answers", ()), ()) if request.strict_resume else None
    error = bound.get("refused") or strict
    status = RunStatus.ERROR if error else RunStatus.SUCCESS
    return {"unasked": runs.ending(status, error)}


async def _questions(
    conn: AsyncConnection[Row], request: RunRequest, thread: Row
) -> list[dict[str, Any]]:
    """What the thread asks: also what its run has told already, which has yet to end for it.

    A run from a checkpoint answers what was asked there.
    """
    if request.checkpoint:
        return await asked_at(conn, threads.as_thread(thread), request.checkpoint)
    told = thread["active_run_id"] and await events.asked(conn, str(thread["active_run_id"]))
    return told or [q for listed in decode(thread["interrupts"]).values() for q in listed]


def _going_on(request: RunRequest, questions: Sequence[Mapping[str, Any]]) -> RunRequest:
    """What a caller that resumes means while something is asked: answer it, or ask again."""
    if request.resumes is None or not questions:
        return request
    asked = {question["id"] for question in questions}
    answered = {i: answer for i, answer in request.resumes.items() if i in asked}
    return replace(request, input=None, command={"resume": answered} if answered else None)


def _public_config(request: RunRequest) -> Any:
    return clean(dict(request.config))


async def _made_room(conn: AsyncConnection[Row], request: RunRequest, thread: Row) -> Row:
    """Treat the runs that wait or run on the thread as the request asks; the thread behind it."""
    if request.multitask == "enqueue":
        return thread
    open_runs = await runs.open_of_thread(conn, thread["thread_id"])
    if answers(request):
        # One that sleeps beside a question gives way to its answer by itself.
        open_runs = [run for run in open_runs if not (run["asleep"] and run["asks"])]
    if open_runs and request.multitask == "reject":
        raise ThreadBusy
    for run in open_runs:
        await stop(conn, thread, run, action=request.multitask)
    return await threads.lock(conn, thread["thread_id"]) if open_runs else thread


async def stop(conn: AsyncConnection[Row], thread: Row, run: Row, *, action: str) -> None:
    """Stop a run under both locks: at once when nobody executes it, else by its owner."""
    if run["status"] == RunStatus.RUNNING:
        await runs.request_cancel(conn, str(run["run_id"]), action)
        await runs.announce_cancel(conn, str(run["run_id"]))
    else:
        await end_waiting(conn, thread, run, action=action)
