"""What an attempt knows before its graph runs: what is asked, on which checkpoints, since when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig

from langgraph_durable.answers import unknown
from langgraph_durable.checkpointer import FencedSaver
from langgraph_durable.eventlog.change import Statement
from langgraph_durable.recovery import Act, Baseline, Plan, Wish, plan
from langgraph_durable.request import (
    answers,
    breakpoints,
    has_edits,
    restored,
    run_config,
    woken,
)
from langgraph_durable.rotation import retraction_statements, rollback_statements
from langgraph_durable.snapshot import Graph, Reading, read_head
from langgraph_durable.store import checkpoints
from langgraph_durable.store.claims import Claim

NOTHING: dict[str, Any] = {"head": None, "greatest": None, "pending": []}


class Standing:
    """One attempt's place. ``thread`` is the checkpoint thread in use, which a rotation changes;
    ``entry`` is what stood there at the run's start, or when it last woke up.
    """

    def __init__(self, claim: Claim) -> None:
        self.request = replace(restored(claim.request), metadata=claim.metadata)
        self.thread = claim.checkpoint_thread_id
        self.entry = claim.entry or NOTHING
        self._begun = claim.entry is not None
        self._claim = claim
        self._woken: Mapping[str, Any] | None = None
        if "answers" in self.entry:
            self.wake(self.entry)

    def begin(self, entry: dict[str, Any]) -> None:
        """The run's start: what stands on its thread."""
        self.entry, self._begun = entry, True

    def wake(self, entry: dict[str, Any]) -> None:
        """The run goes on from ``entry`` with the answers in it, to waits that are over."""
        self.entry, self._woken = entry, entry["answers"]
        self.request = woken(self.request, entry["answers"])

    @property
    def first_entry(self) -> dict[str, Any] | None:
        """What stood there before the run's first call; None while there was none."""
        return self._claim.first_entry or self._claim.entry or (self.entry if self._begun else None)

    @property
    def answers(self) -> dict[str, Any] | None:
        """Answers by question id: to the waits that were over when the run woke up, before that
        as bound at submit. None when the run answers nothing.
        """
        if self._woken is not None:
            return dict(self._woken)
        if not answers(self.request):
            return None
        return dict((self._claim.answer or {}).get("answers") or {})

    @property
    def continues(self) -> bool:
        """Is the run given nothing, to go on where its thread stands?"""
        return self.request.input is None and not self.request.command

    def refusal(self, found: Reading) -> dict[str, str] | None:
        """Why the run's answer is not taken.

        Not for being unknown in a later attempt, which may have used it up itself, nor behind a
        checkpoint long passed, whose questions are asked anew.
        """
        refused: dict[str, str] | None = (self._claim.answer or {}).get("refused")
        chosen = (self.request.checkpoint or {}).get("checkpoint_id")
        now = self._claim.entry is None and chosen in (None, self.entry["head"])
        if refused is None and self.request.strict_resume and now:
            return unknown(self.answers or (), found.head.questions)
        return refused

    def config(self) -> RunnableConfig:
        """The config of every call, on the checkpoint thread in use."""
        return run_config(
            self.request,
            run_id=self._claim.run_id,
            thread_id=self.thread,
            conversation_id=self._claim.thread_id,
            graph_id=self._claim.graph_id,
            assistant_id=self._claim.assistant_id,
        )

    async def read(self, graph: Graph, saver: FencedSaver) -> Reading:
        """The newest checkpoint, or the request's own before the run has one."""
        return await read_head(
            graph,
            saver,
            self.config(),
            run_id=self._claim.run_id,
            baseline=self.entry["head"],
            checkpoint=self.request.checkpoint,
        )

    async def read_entry(self, graph: Graph, saver: FencedSaver) -> Reading:
        """The state the run began on: where a rotation starts."""
        head = self.entry["head"]
        if head is None:
            return Reading.nothing(self.config())
        return await read_head(
            graph,
            saver,
            self.config(),
            run_id="",
            baseline=head,
            checkpoint={"checkpoint_id": head},
        )

    def plan(self, graph: Graph, found: Reading | None) -> Plan:
        """What the attempt has to do; ``found`` None: a first call that depends on nothing."""
        edits = has_edits(self.request)
        if found is None:
            act = Act.COMMAND if edits else Act.INPUT
            return Plan(act=act, edit=edits, fork=bool(self.request.checkpoint))
        wish = Wish(
            run_id=self._claim.run_id,
            answers=self.answers,
            continues=self.continues,
            edits=edits,
            fork=bool(self.request.checkpoint),
            before=breakpoints(self.request.interrupt_before, graph.interrupt_before_nodes),
            after=breakpoints(self.request.interrupt_after, graph.interrupt_after_nodes),
        )
        baseline = Baseline(
            head=self.entry["head"], null_writes=checkpoints.null_writes(self.entry)
        )
        return plan(wish, baseline, found.head, first=self._claim.entry is None)

    def rollback(self) -> list[Statement]:
        """What undoes the run."""
        return rollback_statements(
            run_id=self._claim.run_id,
            thread_id=self._claim.thread_id,
            checkpoint_thread_id=self.thread,
            entry=self.first_entry,
        )

    def retraction(self) -> list[Statement]:
        """What takes the run's answers back from questions that are still asked."""
        return retraction_statements(self.thread, self.first_entry)
