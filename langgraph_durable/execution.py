"""What an attempt does with its graph: note the entry or recover, plan, run, see how it ended."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from langgraph.runtime import RunControl
from langgraph.types import StateSnapshot

from langgraph_durable.checkpointer import FencedSaver, raise_id_floor
from langgraph_durable.ending import Ending, ended_by, refused_by
from langgraph_durable.eventlog.change import Statement
from langgraph_durable.eventlog.journal import Journal
from langgraph_durable.graphs import GraphSource
from langgraph_durable.headers import hidden_in
from langgraph_durable.healing import untold
from langgraph_durable.loops import GraphLoop
from langgraph_durable.model import RecoveryStrategy, RunStatus
from langgraph_durable.parts import stream_parts
from langgraph_durable.postgres import reading
from langgraph_durable.recorder import ALWAYS, SLIM, Part, Recorder
from langgraph_durable.recovery import (
    Act,
    BuildRecoveryRequest,
    Plan,
    stored_error,
)
from langgraph_durable.reentry import notice, rebuilt_request
from langgraph_durable.request import (
    as_command,
    breakpoints,
    logged_modes,
)
from langgraph_durable.rotation import (
    rotation_statements,
)
from langgraph_durable.serde import encode
from langgraph_durable.snapshot import (
    Graph,
    Reading,
    at_checkpoint,
    finished_tasks,
)
from langgraph_durable.standing import NOTHING, Standing
from langgraph_durable.store import checkpoints, events, runs, threads
from langgraph_durable.store.claims import Claim
from langgraph_durable.tracing import AttemptTrace
from langgraph_durable.unasked import open_waits, part_without_waits
from langgraph_durable.waking import still_waits, wake


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
        step_timeout: float | None,
    ) -> None:
        self.saver = saver
        self._claim = claim
        self._source = source
        self._place = place
        self._journal = journal
        self._control = control
        self._hook = hook
        self._trace = trace
        self._step_timeout = step_timeout
        self.standing = Standing(claim)
        self._recorder = Recorder(logged_modes(self.standing.request))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Graph]:
        """The graph with this attempt's saver and this loop's store."""
        store = self._place.store
        async with self._source.open(
            self.standing.config(), context=self.standing.request.context, store=store
        ) as graph:
            self.saver.triggers = graph.trigger_to_nodes
            allowed = getattr(graph, "_serde_allowlist", None)
            saver = self.saver.with_allowlist(allowed) if allowed else self.saver
            bounds = (bound for bound in (graph.step_timeout, self._step_timeout) if bound)
            seconds = min(bounds, default=None)
            own = {"checkpointer": saver, "store": store, "step_timeout": seconds}
            yield graph.copy(update=own)

    def catch_up(self, state: StateSnapshot) -> None:
        """Tell what the graph has done and was stopped before it could tell."""
        self._append(self._recorder.missing(finished_tasks(state)))

    def flush(self) -> None:
        """Parts that still wait for an id go without one."""
        self._append(self._recorder.flush())

    def _append(self, parts: Iterable[Part]) -> None:
        for part in parts:
            self._journal.append(part.name, part.data, part.task_id, part.checkpoint_id)

    async def run(self) -> Ending:
        """Do what the plan says, and tell how it ended."""
        async with self.open() as graph:
            found = await self._begin(graph)
            if found is not None and (refused := self.standing.refusal(found)):
                return refused_by(graph, found.state, refused)
            decided = self.standing.plan(graph, found)
            if decided.act in (Act.INPUT, Act.COMMAND, Act.CONTINUE) or found is None:
                return await self._execute(graph, decided)
            self.catch_up(found.state)
            if decided.act is Act.FAILED:
                error = stored_error(decided.error or "")
                return ended_by(graph, found.state, RunStatus.ERROR, error)
            return await self._ended(graph, found.state)

    async def rollback(self) -> list[Statement]:
        """What undoes the run, when the person who stopped it wants that; else nothing."""
        async with reading(self._place.pool) as conn:
            if await runs.cancel_action(conn, self._claim.run_id) != "rollback":
                return []
        return self.standing.rollback()

    # -- before the graph runs ---------------------------------------------------------------

    async def _begin(self, graph: Graph) -> Reading | None:
        """Note the entry or the recovery; read the head where the plan depends on it."""
        if not self._claim.untouched:
            await self._look_at_entry()
        elif self._claim.entry is None:
            self.standing.begin(dict(NOTHING))
        if self._claim.asleep:
            return await self._wake(graph)
        if self._claim.attempt > 1:
            return await self._recover(graph)
        self._journal.append("started", encode({"attempt": 1}))
        self._journal.note(encode(self.standing.entry))
        if not (self._claim.answer or self.standing.continues):
            return None
        return await self.standing.read(graph, self.saver)

    async def _look_at_entry(self) -> None:
        async with reading(self._place.pool) as conn:
            if self._claim.entry is None:
                self.standing.begin(await checkpoints.entry(conn, self.standing.thread))
                raise_id_floor(self.standing.entry["greatest"])
            else:
                raise_id_floor(await checkpoints.greatest(conn, self.standing.thread))

    async def _wake(self, graph: Graph) -> Reading:
        """Note what stands here and which waits are over: the answers that the run goes on with.

        To its readers nothing has happened. Should it crash from here on, it starts from here.
        """
        async with reading(self._place.pool) as conn:
            woke = await wake(conn, self._claim, self.standing.thread)
            marks = await events.marks(conn, self._claim.run_id)
        await self._journal.write(
            self._journal.take(entry=encode(woke.entry), statements=woke.statements)
        )
        self.standing.wake(woke.entry)
        found = await self.standing.read(graph, self.saver)
        self._recorder = self._recording(found, marks)
        return found

    def _recording(self, found: Reading, marks: events.Marks | None) -> Recorder:
        """Of what the graph repeats of ``found``, only what the log lacks is recorded."""
        return Recorder(
            logged_modes(self.standing.request),
            marks=marks,
            cached=finished_tasks(found.state),
            head_id=found.head.checkpoint_id,
        )

    async def _recover(self, graph: Graph) -> Reading:
        claim, standing = self._claim, self.standing
        crashed = claim.was is RunStatus.RUNNING
        rotates = crashed and claim.strategy is RecoveryStrategy.EVENT_LOG
        async with reading(self._place.pool) as conn:
            past = await events.whole(conn, claim.run_id)
            marks = await events.marks(conn, claim.run_id)
        read = standing.read_entry if rotates else standing.read
        before = await read(graph, self.saver)
        statements = await self._rotation() if rotates else []
        now = standing.thread
        told = notice(claim, graph, before, past, conversation_id=now, crashed=crashed)
        self._journal.append("recovered", told)
        change = self._journal.take(entry=encode(standing.entry), statements=statements)
        await self._journal.write(change)
        self._trace.recovered(past)
        standing.request = await rebuilt_request(
            claim, standing.request, past, conversation_id=now, hook=self._hook
        )
        self._recorder = self._recording(before, None if rotates else marks)
        if rotates:
            return await standing.read(graph, self.saver)
        await self._heal(graph)
        return before

    async def _heal(self, graph: Graph) -> None:
        """Tell what the graph has done, was stopped before it could tell, and will not repeat."""
        async with reading(self._place.pool) as conn:
            lost = await untold(
                conn, graph, self.saver, self.standing.config(), entry=self.standing.entry
            )
        self._append(self._recorder.missing(lost.finished))
        self._recorder.returned = lost.returned

    async def _rotation(self) -> list[Statement]:
        """Choose the next name and move to it; the statements make it so."""
        claim, source = self._claim, self.standing.thread
        async with reading(self._place.pool) as conn:
            first = max(claim.attempt, claim.rotation + 1)
            self.standing.thread, number = await threads.free_name(conn, claim.thread_id, first)
        return rotation_statements(
            thread_id=claim.thread_id,
            source=source,
            name=self.standing.thread,
            number=number,
            entry=self.standing.entry,
        )

    # -- the graph runs ----------------------------------------------------------------------

    async def _execute(self, graph: Graph, decided: Plan) -> Ending:
        async with aclosing(self._parts(graph, decided)) as parts:
            async for namespace, mode, payload in parts:
                if mode in ("checkpoints", "debug"):
                    payload = hidden_in(payload, self.standing.request.headers)
                payload = part_without_waits(mode, payload)
                if payload is None:
                    continue
                self._append(self._recorder.record(namespace, mode, payload))
                await self._journal.hand_over()
        if self._recorder.next or self._recorder.values is None:
            # Only then are the last writes durable: an interrupted status must not be seen before.
            await self.saver.in_flight.settled()
            return await self._ended(graph, await graph.aget_state(self.standing.config()))
        return Ending.complete(self._recorder.values)

    async def _ended(self, graph: Graph, state: StateSnapshot) -> Ending:
        """The run's success, put off while it waits for something that is on record."""
        ending = ended_by(graph, state, RunStatus.SUCCESS, None)
        if not open_waits(state):
            return ending
        async with reading(self._place.pool) as conn:
            left = await still_waits(conn, self._claim.run_id, state)
        return ending.asleep(left) if left else ending

    def _parts(
        self, graph: Graph, decided: Plan
    ) -> AsyncGenerator[tuple[tuple[str, ...], str, Any], None]:
        request, config = self.standing.request, self.standing.config()
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
            return self.standing.request.input
        if decided.act is Act.COMMAND:
            return as_command(self.standing.request, decided.resume, edit=decided.edit)
        return None


def _nodes(given: Any) -> Any:
    return None if given is None else breakpoints(given, ())
