"""What an attempt does with its graph: note the entry or recover, plan, run, see how it ended."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import RunControl

from langgraph_durable.answers import unknown
from langgraph_durable.checkpointer import FencedSaver, raise_id_floor
from langgraph_durable.ending import Ending, ended_by, refused_by
from langgraph_durable.eventlog.change import Statement
from langgraph_durable.eventlog.journal import Journal
from langgraph_durable.graphs import GraphSource
from langgraph_durable.headers import hidden_in
from langgraph_durable.loops import GraphLoop
from langgraph_durable.model import RecoveryStrategy, RunStatus
from langgraph_durable.parts import stream_parts
from langgraph_durable.postgres import reading
from langgraph_durable.recorder import ALWAYS, SLIM, Recorder
from langgraph_durable.recovery import (
    Act,
    Baseline,
    BuildRecoveryRequest,
    Plan,
    Wish,
    plan,
    stored_error,
)
from langgraph_durable.reentry import notice, rebuilt_request
from langgraph_durable.request import (
    answers,
    as_command,
    breakpoints,
    has_edits,
    logged_modes,
    restored,
    run_config,
)
from langgraph_durable.rotation import (
    retraction_statements,
    rollback_statements,
    rotation_statements,
)
from langgraph_durable.serde import encode
from langgraph_durable.snapshot import (
    Graph,
    Reading,
    at_checkpoint,
    finished_tasks,
    read_head,
)
from langgraph_durable.store import checkpoints, events, runs, threads
from langgraph_durable.store.runs import Claim
from langgraph_durable.tracing import AttemptTrace

NOTHING: dict[str, Any] = {"head": None, "greatest": None, "pending": []}


class Execution:
    """One attempt's use of its graph. ``run`` answers how it ended; the attempt writes it down."""

    def __init__(
        self,
        claim: Claim,
        source: GraphSource,
        *,
        place: GraphLoop,
        saver: FencedSaver,
        journal: Journal,
        control: RunControl,
        hook: BuildRecoveryRequest | None,
        trace: AttemptTrace,
    ) -> None:
        self.saver = saver
        self._claim = claim
        self._source = source
        self._place = place
        self._journal = journal
        self._control = control
        self._hook = hook
        self._trace = trace
        self._request = restored(claim.request)
        self._thread = claim.checkpoint_thread_id
        self._known_entry = claim.entry
        self._recorder = Recorder(logged_modes(self._request))

    @property
    def _entry(self) -> dict[str, Any]:
        return self._known_entry or NOTHING

    @property
    def answers(self) -> dict[str, Any] | None:
        """Answers by question id, as bound at submit; None when the run answers nothing."""
        if not answers(self._request):
            return None
        return dict((self._claim.answer or {}).get("answers") or {})

    @property
    def _continues(self) -> bool:
        """Is the run given nothing, to go on where its thread stands?"""
        return self._request.input is None and not self._request.command

    def _refusal(self, found: Reading) -> dict[str, str] | None:
        """Why the run's answer is not taken.

        Not for being unknown in a later attempt, which may have used it up itself, nor behind a
        checkpoint long passed, whose questions are asked anew.
        """
        refused: dict[str, str] | None = (self._claim.answer or {}).get("refused")
        chosen = (self._request.checkpoint or {}).get("checkpoint_id")
        now = self._claim.entry is None and chosen in (None, self._entry["head"])
        if refused is None and self._request.strict_resume and now:
            return unknown(self.answers or (), found.head.questions)
        return refused

    def config(self) -> RunnableConfig:
        """The config of every call, on the checkpoint thread in use."""
        return run_config(
            self._request,
            run_id=self._claim.run_id,
            thread_id=self._thread,
            conversation_id=self._claim.thread_id,
            graph_id=self._claim.graph_id,
            assistant_id=self._claim.assistant_id,
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Graph]:
        """The graph with this attempt's saver and this loop's store."""
        store = self._place.store
        async with self._source.open(
            self.config(), context=self._request.context, store=store
        ) as graph:
            allowed = getattr(graph, "_serde_allowlist", None)
            saver = self.saver.with_allowlist(allowed) if allowed else self.saver
            yield graph.copy(update={"checkpointer": saver, "store": store})

    def flush(self) -> None:
        """Parts that still wait for an id go without one."""
        for part in self._recorder.flush():
            self._journal.append(part.name, part.data, part.task_id, part.checkpoint_id)

    async def run(self) -> Ending:
        """Do what the plan says, and tell how it ended."""
        async with self.open() as graph:
            found = await self._begin(graph)
            if found is not None and (refused := self._refusal(found)):
                return refused_by(graph, found.state, refused)
            decided = self._plan(graph, found)
            if decided.act in (Act.INPUT, Act.COMMAND, Act.CONTINUE) or found is None:
                return await self._execute(graph, decided)
            if decided.act is Act.FAILED:
                error = stored_error(decided.error or "")
                return ended_by(graph, found.state, RunStatus.ERROR, error)
            return ended_by(graph, found.state, RunStatus.SUCCESS, None)

    async def rollback(self) -> list[Statement]:
        """What undoes the run, when the person who stopped it wants that; else nothing."""
        async with reading(self._place.pool) as conn:
            if await runs.cancel_action(conn, self._claim.run_id) != "rollback":
                return []
        return rollback_statements(
            run_id=self._claim.run_id,
            thread_id=self._claim.thread_id,
            checkpoint_thread_id=self._thread,
            entry=self._known_entry,
        )

    def retraction(self) -> list[Statement]:
        """What takes the run's answers back from questions that are still asked."""
        return retraction_statements(self._thread, self._known_entry)

    # -- before the graph runs ---------------------------------------------------------------

    async def _begin(self, graph: Graph) -> Reading | None:
        """Note the entry or the recovery; read the head where the plan depends on it."""
        async with reading(self._place.pool) as conn:
            if self._claim.entry is None:
                self._known_entry = await checkpoints.entry(conn, self._thread)
                raise_id_floor(self._entry["greatest"])
            else:
                raise_id_floor(await checkpoints.greatest(conn, self._thread))
        if self._claim.attempt > 1:
            return await self._recover(graph)
        self._journal.append("started", encode({"attempt": 1}))
        await self._journal.write(self._journal.take(entry=encode(self._entry)))
        return await self._read(graph) if self._claim.answer or self._continues else None

    async def _recover(self, graph: Graph) -> Reading:
        claim = self._claim
        crashed = claim.was is RunStatus.RUNNING
        rotates = crashed and claim.strategy is RecoveryStrategy.EVENT_LOG
        async with reading(self._place.pool) as conn:
            past = await events.whole(conn, claim.run_id)
            marks = await events.marks(conn, claim.run_id)
        before = await self._read_entry(graph) if rotates else await self._read(graph)
        statements = await self._rotation() if rotates else []
        told = notice(claim, graph, before, past, conversation_id=self._thread, crashed=crashed)
        self._journal.append("recovered", told)
        await self._journal.write(
            self._journal.take(entry=encode(self._entry), statements=statements)
        )
        self._trace.recovered(past)
        self._request = await rebuilt_request(
            claim, self._request, past, conversation_id=self._thread, hook=self._hook
        )
        self._recorder = Recorder(
            logged_modes(self._request),
            marks=None if rotates else marks,
            cached=finished_tasks(before.state),
            head_id=before.head.checkpoint_id,
        )
        return await self._read(graph) if rotates else before

    async def _rotation(self) -> list[Statement]:
        """Choose the next name and move to it; the statements make it so."""
        claim, source = self._claim, self._thread
        async with reading(self._place.pool) as conn:
            first = max(claim.attempt, claim.rotation + 1)
            self._thread, number = await threads.free_name(conn, claim.thread_id, first)
        return rotation_statements(
            thread_id=claim.thread_id,
            source=source,
            name=self._thread,
            number=number,
            entry=self._entry,
        )

    async def _read(self, graph: Graph) -> Reading:
        return await read_head(
            graph,
            self.saver,
            self.config(),
            run_id=self._claim.run_id,
            baseline=self._entry["head"],
            checkpoint=self._request.checkpoint,
        )

    async def _read_entry(self, graph: Graph) -> Reading:
        """The state the run began on: where a rotation starts."""
        head = self._entry["head"]
        if head is None:
            return Reading.nothing(self.config())
        return await read_head(
            graph,
            self.saver,
            self.config(),
            run_id="",
            baseline=head,
            checkpoint={"checkpoint_id": head},
        )

    def _plan(self, graph: Graph, found: Reading | None) -> Plan:
        edits = has_edits(self._request)
        if found is None:
            act = Act.COMMAND if edits else Act.INPUT
            return Plan(act=act, edit=edits, fork=bool(self._request.checkpoint))
        wish = Wish(
            run_id=self._claim.run_id,
            answers=self.answers,
            continues=self._continues,
            edits=edits,
            fork=bool(self._request.checkpoint),
            before=breakpoints(self._request.interrupt_before, graph.interrupt_before_nodes),
            after=breakpoints(self._request.interrupt_after, graph.interrupt_after_nodes),
        )
        baseline = Baseline(
            head=self._entry["head"], null_writes=checkpoints.null_writes(self._entry)
        )
        return plan(wish, baseline, found.head, first=self._claim.entry is None)

    # -- the graph runs ----------------------------------------------------------------------

    async def _execute(self, graph: Graph, decided: Plan) -> Ending:
        async with aclosing(self._parts(graph, decided)) as parts:
            async for namespace, mode, payload in parts:
                if mode in ("checkpoints", "debug"):
                    payload = hidden_in(payload, self._request.headers)
                for part in self._recorder.record(namespace, mode, payload):
                    self._journal.append(part.name, part.data, part.task_id, part.checkpoint_id)
                await self._journal.hand_over()
        # Only now are the last writes durable: an interrupted status must not be seen before.
        await self.saver.in_flight.settled()
        if self._recorder.next or self._recorder.values is None:
            state = await graph.aget_state(self.config())
            return ended_by(graph, state, RunStatus.SUCCESS, None)
        return Ending.complete(self._recorder.values)

    def _parts(
        self, graph: Graph, decided: Plan
    ) -> AsyncGenerator[tuple[tuple[str, ...], str, Any], None]:
        request, config = self._request, self.config()
        if decided.fork and request.checkpoint:
            config = at_checkpoint(config, request.checkpoint)
        return stream_parts(
            graph,
            self._given(decided),
            config,
            modes=sorted({*ALWAYS, *logged_modes(request)} - {SLIM}),
            context=request.context,
            interrupt_before=_nodes(request.interrupt_before),
            interrupt_after=_nodes(request.interrupt_after),
            durability=request.durability,
            control=self._control,
        )

    def _given(self, decided: Plan) -> Any:
        if decided.act is Act.INPUT:
            return self._request.input
        if decided.act is Act.COMMAND:
            return as_command(self._request, decided.resume, edit=decided.edit)
        return None


def _nodes(given: Any) -> Any:
    return None if given is None else breakpoints(given, ())
