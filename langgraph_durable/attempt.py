"""The story of one attempt: read, plan, run the graph, write everything, say the last word."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl

from langgraph_durable.checkpointer import FencedSaver, raise_id_floor
from langgraph_durable.ending import Ending, ended_by, failure
from langgraph_durable.errors import LeaseLost
from langgraph_durable.eventlog.change import Change, RunLog
from langgraph_durable.evidence import recovery_message, streamed_message_ids
from langgraph_durable.graphs import GraphSource
from langgraph_durable.lease import Lease, LeaseKeeper, Stop
from langgraph_durable.loops import GraphLoop
from langgraph_durable.model import Event, RecoveryStrategy, RunRequest, RunStatus
from langgraph_durable.parts import stream_parts
from langgraph_durable.postgres import reading
from langgraph_durable.recorder import ALWAYS, Recorder
from langgraph_durable.recovery import (
    Act,
    Baseline,
    BuildRecoveryRequest,
    Plan,
    RecoveryContext,
    Wish,
    plan,
    stored_error,
)
from langgraph_durable.request import (
    answers,
    as_command,
    breakpoints,
    has_edits,
    restored,
    run_config,
)
from langgraph_durable.rotation import rotation_statements
from langgraph_durable.serde import encode
from langgraph_durable.snapshot import (
    NULL_TASK,
    Graph,
    Reading,
    at_checkpoint,
    output_values,
    pending_tool_calls,
    read_head,
)
from langgraph_durable.store import checkpoints, events, threads
from langgraph_durable.store.runs import Claim

_log = logging.getLogger(__name__)

CANCEL_PATIENCE_SECONDS = 2.0
BACKLOG_EVENTS = 2_000
EMPTY_ENTRY: dict[str, Any] = {"head": None, "greatest": None, "pending": []}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What every attempt of a worker shares."""

    keeper: LeaseKeeper
    build_recovery_request: BuildRecoveryRequest | None


class Attempt:
    """One execution of a run by this worker. Lives on a graph loop; ``stop`` is for any thread."""

    def __init__(
        self, claim: Claim, source: GraphSource, lease: Lease, log: RunLog, setting: Setting
    ) -> None:
        self.claim = claim
        self.lease = lease
        self.control = RunControl()
        self._source = source
        self._log = log
        self._setting = setting
        self._request = restored(claim.request)
        self._checkpoint_thread = claim.checkpoint_thread_id
        self._stopped: Stop | None = None
        self._wake: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._place: GraphLoop | None = None
        self._saver: FencedSaver | None = None
        self._backlog: Change | None = None
        self._entry = claim.entry or EMPTY_ENTRY
        self._recorder = Recorder(self._asked())

    def stop(self, reason: Stop) -> None:
        """Ask the attempt to end before its graph does; the first reason stands, except a drain."""
        if self._stopped in (None, Stop.DRAIN):
            self._stopped = reason
        if self._loop is not None and self._wake is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake.set)

    async def run(self, place: GraphLoop) -> None:
        """Execute on a graph loop until the run has ended, was handed back or was lost."""
        self._place, self._loop, self._wake = place, asyncio.get_running_loop(), asyncio.Event()
        story = asyncio.create_task(self._story(), name=f"run {self.claim.run_id}")
        try:
            await self._watch(story)
            await self._last_word(story)
        except LeaseLost:
            _log.warning("run %s attempt %d is not ours any more: lost", *self._log.key)
        finally:
            self._setting.keeper.release(self.lease)

    async def _watch(self, story: asyncio.Task[Ending]) -> None:
        """Wait for the graph; cancel it when it must stop, again when it does not listen."""
        assert self._wake is not None
        while not story.done() and not self._must_stop():
            woken = asyncio.create_task(self._wake.wait())
            left = self._setting.keeper.remaining(self.lease)
            await asyncio.wait(
                [story, woken], timeout=min(max(left, 0.0), 0.5), return_when="FIRST_COMPLETED"
            )
            woken.cancel()
            self._wake.clear()
        for _ in range(3):
            if story.done():
                return
            story.cancel()
            await asyncio.wait([story], timeout=CANCEL_PATIENCE_SECONDS)

    def _must_stop(self) -> bool:
        if self._stopped is None and self._setting.keeper.remaining(self.lease) <= 0:
            self._stopped = Stop.OUTAGE
        return self._stopped not in (None,)

    async def _last_word(self, story: asyncio.Task[Ending]) -> None:
        if self._stopped is Stop.OUTAGE:
            _log.warning("run %s attempt %d is not ours any more: lease ran out", *self._log.key)
            self._setting.keeper.give_up(self.lease)
            return
        if self._stopped is Stop.LOST:
            raise LeaseLost
        if self._saver is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CANCEL_PATIENCE_SECONDS):
                    await self._saver.in_flight.settled()
        ending = await self._ending(story)
        for part in self._recorder.flush():
            self._append(part.name, part.data, part.task_id, part.checkpoint_id)
        await self._write(ending.change(self._log, self._drain_backlog()))

    async def _ending(self, story: asyncio.Task[Ending]) -> Ending:
        if story.done() and not story.cancelled():
            error = story.exception()
            if error is None:
                return story.result()
            if isinstance(error, LeaseLost):
                raise error
            if isinstance(error, GraphDrained):
                return Ending.handed_back()
        else:
            error = None
        if self._stopped is Stop.DRAIN:
            return Ending.handed_back()
        if self._stopped is Stop.CANCEL:
            return await self._settled(RunStatus.INTERRUPTED, None)
        reason = failure(error if error is not None else asyncio.CancelledError())
        if error is not None:
            _log.info("run %s failed", self.claim.run_id, exc_info=error)
        return await self._settled(RunStatus.ERROR, reason)

    async def _settled(self, status: RunStatus, error: Mapping[str, str] | None) -> Ending:
        """An ending without the graph's own: what the checkpoints say decides the thread."""
        if self._saver is None:
            return Ending.without_state(status, error)
        async with self._source.open(self._config()) as opened:
            graph = self._equipped(opened)
            state = await graph.aget_state(self._config())
            ending = ended_by(graph, state, status, error)
            if error is None or not answers(self._request):
                return ending
            nested = await graph.aget_state(self._config(), subgraphs=True)
            return ending.repaired(self._saver, nested, set(self._answers() or ()))

    # -- the graph ---------------------------------------------------------------------------

    async def _story(self) -> Ending:
        assert self._place is not None
        refused = (self.claim.answer or {}).get("refused")
        self._saver = FencedSaver(self._place.pool, self._log)
        async with self._source.open(self._config(), context=self._request.context) as opened:
            graph = self._equipped(opened)
            reading_ = await self._begin(graph)
            if refused:
                assert reading_ is not None
                return ended_by(graph, reading_.state, RunStatus.ERROR, refused)
            decided = self._plan(graph, reading_)
            if decided.act in (Act.INPUT, Act.COMMAND, Act.CONTINUE):
                return await self._execute(graph, decided)
            assert reading_ is not None
            return self._conclude(graph, reading_, decided)

    async def _begin(self, graph: Graph) -> Reading | None:
        """Note the entry or the recovery; read the head where the plan depends on it."""
        assert self._place is not None
        async with reading(self._place.pool) as conn:
            if self.claim.entry is None:
                self._entry = await checkpoints.entry(conn, self._checkpoint_thread)
            raise_id_floor(await checkpoints.greatest(conn, self._checkpoint_thread))
        if self.claim.attempt > 1:
            return await self._recover(graph)
        self._append("started", encode({"attempt": 1}))
        await self._write(self._drain_backlog(entry=encode(self._entry)))
        if answers(self._request) or self.claim.answer:
            return await self._read(graph)
        return None

    async def _recover(self, graph: Graph) -> Reading:
        assert self._place is not None
        crashed = self.claim.was is RunStatus.RUNNING
        rotates = crashed and self.claim.strategy is RecoveryStrategy.EVENT_LOG
        async with reading(self._place.pool) as conn:
            past = await events.whole(conn, self.claim.run_id)
            marks = await events.marks(conn, self.claim.run_id)
        statements: list[Any] = []
        if rotates:
            statements = await self._rotate()
        head = await self._read(graph, at_entry=rotates)
        values = head.state.values if head.head.checkpoint_id else None
        seen = {getattr(m, "id", None) for m in _messages(values)}
        data = {
            "attempt": self.claim.attempt,
            "strategy": self.claim.strategy,
            "reason": "crash" if crashed else "deploy",
            "conversation_id": self._checkpoint_thread,
            "values": output_values(graph, values) if values is not None else None,
            "open_tool_call_ids": [] if rotates else pending_tool_calls(values),
            "void_message_ids": sorted(streamed_message_ids(past) - seen),
        }
        self._append("recovered", encode(data))
        await self._write(
            self._drain_backlog(entry=encode(self._entry), statements=statements)
        )
        await self._build_recovery_request(past, crashed=crashed)
        cached = [(t.id, t.name) for t in head.state.tasks if t.result is not None]
        self._recorder = Recorder(
            self._asked(),
            marks=None if rotates else marks,
            cached=cached,
            head_id=head.head.checkpoint_id,
        )
        return await self._read(graph) if rotates else head

    async def _rotate(self) -> list[Any]:
        assert self._place is not None
        claim = self.claim
        first = max(claim.attempt, claim.rotation + 1)
        async with reading(self._place.pool) as conn:
            name, number = await threads.free_name(conn, claim.thread_id, first)
        source, self._checkpoint_thread = self._checkpoint_thread, name
        self._source_thread = source
        return rotation_statements(
            thread_id=claim.thread_id, source=source, name=name, number=number, entry=self._entry
        )

    async def _build_recovery_request(self, past: list[Event], *, crashed: bool) -> None:
        """After a crash: the hook's request, or under EVENT_LOG the evidence added to the input."""
        by_log = self.claim.strategy is RecoveryStrategy.EVENT_LOG and self.claim.crashes > 0
        hook = self._setting.build_recovery_request
        if not by_log and not (hook and crashed):
            return
        default = with_evidence(self._request, past) if by_log else self._request
        if hook is None:
            self._request = default
            return
        context = RecoveryContext(
            run_id=self.claim.run_id,
            thread_id=self.claim.thread_id,
            conversation_id=self._checkpoint_thread,
            attempt=self.claim.attempt,
            previous_attempt=self.claim.attempt - 1,
            strategy=self.claim.strategy,
            events=past,
            default=default,
        )
        built = hook(self._request, context)
        self._request = await built if isawaitable(built) else built

    async def _read(self, graph: Graph, *, at_entry: bool = False) -> Reading:
        assert self._saver is not None
        config = self._config()
        checkpoint = self._request.checkpoint
        if at_entry:
            config["configurable"]["thread_id"] = self._source_thread
            checkpoint = {"checkpoint_id": self._entry["head"]} if self._entry["head"] else None
            if checkpoint is None:
                config["configurable"]["thread_id"] = self._checkpoint_thread
        return await read_head(
            graph,
            self._saver,
            config,
            run_id="" if at_entry else self.claim.run_id,
            baseline=self._entry["head"],
            checkpoint=checkpoint,
        )

    def _plan(self, graph: Graph, found: Reading | None) -> Plan:
        if found is None:
            return self._first_plan()
        wish = Wish(
            run_id=self.claim.run_id,
            answers=self._answers(),
            edits=has_edits(self._request),
            fork=bool(self._request.checkpoint),
            before=breakpoints(self._request.interrupt_before, graph.interrupt_before_nodes),
            after=breakpoints(self._request.interrupt_after, graph.interrupt_after_nodes),
        )
        baseline = Baseline(
            head=self._entry["head"],
            null_writes=sum(
                1 for w in self._entry["pending"] if w["task_id"] == NULL_TASK and not w["ns"]
            ),
        )
        return plan(wish, baseline, found.head, first=self.claim.attempt == 1)

    def _first_plan(self) -> Plan:
        edits = has_edits(self._request)
        act = Act.COMMAND if edits else Act.INPUT
        return Plan(act=act, edit=edits, fork=bool(self._request.checkpoint))

    def _answers(self) -> dict[str, Any] | None:
        if not answers(self._request):
            return None
        return dict((self.claim.answer or {}).get("answers") or {})

    async def _execute(self, graph: Graph, decided: Plan) -> Ending:
        config = self._config()
        if decided.fork and self._request.checkpoint:
            config = at_checkpoint(config, self._request.checkpoint)
        given: Any = None
        if decided.act is Act.INPUT:
            given = self._request.input
        elif decided.act is Act.COMMAND:
            given = as_command(self._request, decided.resume, edit=decided.edit)
        async for namespace, mode, payload in self._parts(graph, given, config):
            for part in self._recorder.record(namespace, mode, payload):
                self._append(part.name, part.data, part.task_id, part.checkpoint_id)
            await self._hand_over()
        return await self._ended(graph)

    def _parts(
        self, graph: Graph, given: Any, config: RunnableConfig
    ) -> AsyncIterator[tuple[tuple[str, ...], str, Any]]:
        request = self._request
        return stream_parts(
            graph,
            given,
            config,
            modes=sorted({*ALWAYS, *self._asked()}),
            context=request.context,
            interrupt_before=_nodes(request.interrupt_before),
            interrupt_after=_nodes(request.interrupt_after),
            durability=request.durability,
            control=self.control,
        )

    async def _ended(self, graph: Graph) -> Ending:
        assert self._saver is not None
        await self._saver.in_flight.settled()
        if self._recorder.next or self._recorder.values is None:
            state = await graph.aget_state(self._config())
            return ended_by(graph, state, RunStatus.SUCCESS, None)
        return Ending.complete(self._recorder.values)

    def _conclude(self, graph: Graph, found: Reading, decided: Plan) -> Ending:
        if decided.act is Act.FAILED:
            error = stored_error(decided.error or "")
            return ended_by(graph, found.state, RunStatus.ERROR, error)
        return ended_by(graph, found.state, RunStatus.SUCCESS, None)

    # -- what the attempt writes -------------------------------------------------------------

    def _append(
        self, name: str, data: str, task_id: str | None = None, checkpoint_id: str | None = None
    ) -> None:
        if self._backlog is None:
            self._backlog = Change(log=self._log)
        self._backlog.events.append(self._log.event(name, data, task_id, checkpoint_id))

    async def _hand_over(self) -> None:
        """Queue what has gathered; wait only when the writer is far behind."""
        if self._backlog is None:
            return
        change, self._backlog = self._backlog, None
        durable = self._log.put(change)
        if change.events[-1][0] % BACKLOG_EVENTS == BACKLOG_EVENTS - 1:
            await asyncio.wrap_future(durable)

    def _drain_backlog(self, *, entry: str | None = None, statements: Any = ()) -> Change:
        change, self._backlog = self._backlog or Change(log=self._log), None
        change.entry = entry
        change.statements = statements
        change.locks_thread = bool(statements)
        change.urgent = True
        return change

    async def _write(self, change: Change) -> None:
        await asyncio.wrap_future(self._log.put(change))

    def _asked(self) -> set[str]:
        names = {"messages-tuple": "messages"}
        return {names.get(mode, mode) for mode in self._request.stream_modes}

    def _config(self) -> RunnableConfig:
        return run_config(
            self._request,
            run_id=self.claim.run_id,
            thread_id=self._checkpoint_thread,
            conversation_id=self.claim.thread_id,
            graph_id=self.claim.graph_id,
            assistant_id=self.claim.assistant_id,
        )

    def _equipped(self, graph: Graph) -> Graph:
        assert self._saver is not None
        assert self._place is not None
        allowed = getattr(graph, "_serde_allowlist", None)
        saver = self._saver.with_allowlist(allowed) if allowed else self._saver
        return graph.copy(update={"checkpointer": saver, "store": self._place.store})


def with_evidence(request: RunRequest, past: list[Event]) -> RunRequest:
    """The request plus one message with what earlier attempts left in the log."""
    from dataclasses import replace

    message = recovery_message(past)
    if request.command:
        update = request.command.get("update") or {}
        if isinstance(update, Mapping):
            merged = {**update, "messages": [*_listed(update.get("messages")), message]}
            return replace(request, command={**request.command, "update": merged})
        return request
    given = request.input if isinstance(request.input, Mapping) else {}
    merged = {**given, "messages": [*_listed(given.get("messages")), message]}
    return replace(request, input=merged)


def _listed(messages: Any) -> list[Any]:
    if messages is None:
        return []
    return list(messages) if isinstance(messages, list) else [messages]


def _messages(values: Any) -> list[Any]:
    found = values.get("messages") if isinstance(values, dict) else None
    return found if isinstance(found, list) else []


def _nodes(given: Any) -> Any:
    return None if given is None else breakpoints(given, ())

