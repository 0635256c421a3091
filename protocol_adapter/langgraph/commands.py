"""``POST /threads/{thread_id}/commands``: the commands of the agent streaming protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import (
    AssistantNotFound,
    CheckpointNotFound,
    DurableError,
    InvalidRequest,
    RunNotFound,
    StoreUnavailable,
    ThreadNotFound,
    UnknownGraph,
)
from langgraph_durable.model import Run, RunRequest, ThreadStatus
from protocol_adapter.langgraph.command_state import checkpoints_of, state_of
from protocol_adapter.langgraph.fields import Unprocessable, mapping, text
from protocol_adapter.langgraph.http import answer, json_body, segment
from protocol_adapter.langgraph.protocol_events import LOGGED, place
from protocol_adapter.langgraph.request import parse_run

SETTLING_SECONDS = 1.0
"""A question is told before its run has ended: how long an answer waits for that."""

Params = Mapping[str, Any]
Headers = Mapping[str, str]
Result = tuple[dict[str, Any], int | None]
"""What a command answers, and the place on the thread behind which its run is told."""


class CommandRefused(DurableError):
    """The command cannot be carried out."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Commands:
    """One command per request; a command that cannot be carried out is answered, with 200."""

    def __init__(self, engine: DurableEngine) -> None:
        self._engine = engine
        self._methods: dict[str, Callable[[str, Params, Headers], Awaitable[Result]]] = {
            "run.start": self._start,
            "input.respond": self._respond,
            "state.get": self._state,
            "state.listCheckpoints": self._checkpoints,
            "state.fork": self._fork,
        }

    def routes(self) -> list[BaseRoute]:
        return [Route("/threads/{thread_id}/commands", self.command, methods=["POST"])]

    async def command(self, request: Request) -> Response:
        body = await json_body(request)
        command_id, method = body.get("id"), body.get("method")
        if isinstance(command_id, bool) or not isinstance(command_id, int) or command_id < 0:
            raise Unprocessable("'id' must be an integer, not below 0")
        if not isinstance(method, str):
            raise Unprocessable("'method' must be a string")
        try:
            headers = self._engine.allowed_headers(request.headers)
            result, since = await self._run(method, segment(request, "thread_id"), body, headers)
        except StoreUnavailable:
            raise
        except DurableError as refused:
            told = {"error": _code(refused), "message": str(refused)}
            return answer({"type": "error", "id": command_id, **told})
        meta = {} if since is None else {"meta": {"applied_through_seq": since}}
        return answer({"type": "success", "id": command_id, "result": result, **meta})

    async def _run(
        self, method: str, thread_id: str, body: Mapping[str, Any], headers: Headers
    ) -> Result:
        carry_out = self._methods.get(method)
        if carry_out is not None:
            return await carry_out(thread_id, mapping(body, "params"), headers)
        if method.startswith("subscription."):
            raise CommandRefused("not_supported", "Subscribe with POST .../stream/events instead.")
        if method in ("input.inject", "agent.getTree"):
            raise CommandRefused("not_supported", f"{method} is not supported by this server")
        raise CommandRefused("unknown_command", f"Unknown command {method!r}")

    # -- runs --------------------------------------------------------------------------------

    async def _start(self, thread_id: str, params: Params, headers: Headers) -> Result:
        """Starts a run; on a thread that waits for an answer the input is that answer."""
        config = mapping(params, "config")
        forks = bool(mapping(config, "configurable").get("checkpoint_id"))
        given = {"input": params.get("input")}
        if given["input"] is not None and not forks and await self._waits(thread_id):
            given = {"command": {"resume": params["input"]}}
        strategy = params.get("multitask_strategy", params.get("multitaskStrategy"))
        body = {
            "assistant_id": params.get("assistant_id"),
            "config": config,
            "metadata": params.get("metadata"),
            "multitask_strategy": strategy,
            "if_not_exists": "create",
        }
        return await self._submit(thread_id, body | given, headers)

    async def _respond(self, thread_id: str, params: Params, headers: Headers) -> Result:
        """Answers open questions, and may edit the state and jump in the same step."""
        answers = _answers(params)
        asking = await self._asking(thread_id)
        thread = await self._engine.thread(thread_id)
        asked = {question["id"] for task in thread.interrupts.values() for question in task}
        for interrupt_id in answers:
            if interrupt_id not in asked and asking is None:
                raise CommandRefused("no_such_interrupt", f"Nobody asks {interrupt_id!r}")
        strict = params.get("strict_resume")
        command = {"resume": answers, "update": params.get("update"), "goto": params.get("goto")}
        body = {
            "assistant_id": await self._latest_assistant(thread_id),
            "command": {k: v for k, v in command.items() if v is not None},
            "config": params.get("config"),
            "metadata": params.get("metadata"),
            "strict_resume": asking is not None if strict is None else strict,
        }
        return await self._submit(thread_id, body, headers)

    async def _fork(self, thread_id: str, params: Params, headers: Headers) -> Result:
        checkpoint_id = text(params, "checkpoint_id")
        if not checkpoint_id:
            raise Unprocessable("'checkpoint_id' is required")
        body = {
            "assistant_id": await self._latest_assistant(thread_id),
            "input": params.get("input"),
            "config": params.get("config"),
            "checkpoint_id": checkpoint_id,
        }
        result, since = await self._submit(thread_id, body, headers)
        return {**result, "thread_id": thread_id}, since

    async def _submit(self, thread_id: str, body: dict[str, Any], headers: Headers) -> Result:
        request = replace(parse_run(body, thread_id, attended=False), headers=headers)
        run = await self._engine.submit(_told_whole(request))
        return {"run_id": run.run_id}, place(run.ticket, -1)

    async def _waits(self, thread_id: str) -> bool:
        """Is a question open, or just asked by a run that has yet to end?"""
        try:
            thread = await self._engine.thread(thread_id)
            if thread.status is ThreadStatus.BUSY:
                snapshot = await self._engine.state(thread_id)
                if snapshot is None or not snapshot.interrupts:
                    return False
                await self._asking(thread_id)
                thread = await self._engine.thread(thread_id)
        except ThreadNotFound:
            return False
        return bool(thread.interrupts)

    async def _asking(self, thread_id: str) -> Run | None:
        """The run that goes on asking; one that only has to write its end down is waited for."""
        for run in await self._engine.runs(thread_id, limit=1):
            if not run.status.terminal:
                with suppress(TimeoutError):
                    async with asyncio.timeout(SETTLING_SECONDS):
                        run = await self._engine.wait(run.run_id)
            return None if run.status.terminal else run
        return None

    async def _state(self, thread_id: str, params: Params, _: Headers) -> Result:
        return await state_of(self._engine, thread_id, params), None

    async def _checkpoints(self, thread_id: str, params: Params, _: Headers) -> Result:
        return await checkpoints_of(self._engine, thread_id, params), None

    async def _latest_assistant(self, thread_id: str) -> str:
        runs: list[Run] = await self._engine.runs(thread_id, limit=1)
        if not runs:
            raise CommandRefused("no_such_run", f"Thread {thread_id} has no run yet")
        return runs[0].assistant_id


def _told_whole(request: RunRequest) -> RunRequest:
    """Everything that a channel may be subscribed to later is logged."""
    return replace(request, stream_modes=LOGGED, stream_subgraphs=True)


def _answers(params: Params) -> dict[str, Any]:
    """Answers by question id: ``interrupt_id`` and ``response``, or a list of ``responses``."""
    given = params.get("responses")
    entries = [params] if given is None else given
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise Unprocessable("'responses' must be a list of objects")
    answers = {text(entry, "interrupt_id"): entry.get("response") for entry in entries}
    if not answers or None in answers:
        raise Unprocessable("'interrupt_id' is required")
    return {str(interrupt_id): response for interrupt_id, response in answers.items()}


def _code(refused: DurableError) -> str:
    if isinstance(refused, CommandRefused):
        return refused.code
    return next((code for kind, code in _CODES.items() if isinstance(refused, kind)), _OTHER)


_OTHER = "unknown_error"
_CODES: dict[type[DurableError], str] = {
    InvalidRequest: "invalid_argument",
    AssistantNotFound: "invalid_argument",
    UnknownGraph: "invalid_argument",
    CheckpointNotFound: "no_such_checkpoint",
    RunNotFound: "no_such_run",
}
