"""One thread's runs through every turn of their life, step by step, next to what must be there."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from langgraph_durable.ending import Ending
from langgraph_durable.errors import LeaseLost, RunNotCancellable
from langgraph_durable.eventlog.change import Change, RunLog
from langgraph_durable.eventlog.writer import Group, Writer
from langgraph_durable.store.claims import Claim
from tests.property.expected_run import ExpectedRun
from tests.property.rig import Rig, end, handed_back, new_thread, says, write
from tests.property.writes import ENDINGS, LAST_WORDS, STALE, save

OF_THREAD = "SELECT t::text AS row FROM {} t WHERE thread_id = %(thread)s"
TABLES = ("threads", "runs", "checkpoints", "checkpoint_blobs", "checkpoint_writes")
EVERYTHING = (
    " UNION ALL ".join(map(OF_THREAD.format, TABLES))
    + " UNION ALL SELECT e::text FROM events e JOIN runs USING (run_id)"
    " WHERE thread_id = %(thread)s ORDER BY row"
)

graphs = st.sampled_from(["agent", "log"])
processes = st.integers(0, 1)
checkpoints = st.sampled_from([None, "the input", "a step"])
statuses = st.sampled_from(["hand back", *sorted(ENDINGS)])
mostly = st.sampled_from([True, True, True, False])
kinds = st.sampled_from(sorted(STALE))
lost_answers = st.sampled_from([False, False, False, True])


def running(life: RunLife) -> bool:
    return life.run.status == "running"


class ForgetfulWriter(Writer):
    """Loses the answer to a commit when told to: nobody can know whether it went through."""

    loses = False

    def _commit(self, groups: list[Group]) -> None:
        super()._commit(groups)
        if self.loses:
            self.loses = False
            self._drop_connection()
            raise psycopg.OperationalError("the connection broke behind COMMIT")


class RunLife(RuleBasedStateMachine):
    """Two processes, one thread, one run after the other, and a neighbour whom nothing may harm."""

    def __init__(self, rig: Rig) -> None:
        super().__init__()
        self.rig = rig
        self.thread, self.next_door = new_thread(), new_thread()
        rig.run(rig.submit(self.next_door))
        [claim] = rig.run(rig.claim())
        self.neighbour = rig.pen(claim)
        self.past: list[Claim] = []
        self.pen: RunLog | None = None
        self.wrote = self.heard = 0

    @initialize(graph=graphs, starts=mostly)
    def begin(self, graph: str, starts: bool) -> None:
        run = self.rig.run(self.rig.submit(self.thread, graph))
        self.run = ExpectedRun(run.run_id, resumes=graph == "agent")
        if starts:
            self.claim(0, True, False)

    @precondition(lambda self: self.run.terminal)
    @rule(graph=graphs, starts=mostly)
    def submit_the_next(self, graph: str, starts: bool) -> None:
        with pytest.raises(RunNotCancellable):
            self.rig.run(self.rig.engine.cancel(self.run.run_id))
        self.begin(graph, starts)

    @rule(process=processes, idle=st.booleans(), sweeps=st.booleans())
    def claim(self, process: int, idle: bool, sweeps: bool) -> None:
        if sweeps:
            self.run.swept()
        expected = self.run.claimable(idle=idle)

        claims = self.rig.run(self.rig.claim(idle=idle, sweeps=sweeps))

        assert len(claims) == expected
        if claims:
            self.run.claimed()
            assert (claims[0].run_id, claims[0].attempt) == (self.run.run_id, self.run.attempt)
            assert claims[0].next_seq == len(self.run.log)
            self.past += claims
            self.pen = self.rig.pen(claims[0], process)

    @rule()
    def sweep(self) -> None:
        self.rig.run(self.rig.sweep())
        self.run.swept()

    @precondition(running)
    @rule()
    def crash(self) -> None:
        self.rig.run(self.rig.expire(self.run.run_id))
        self.run.expired = True

    @precondition(running)
    @rule(process=processes, kind=kinds, ahead=st.booleans())
    def recover(self, process: int, kind: str, ahead: bool) -> None:
        """The owner freezes, somebody takes over, the owner wakes up and writes."""
        self.crash()
        self.claim(process, True, False)
        self.write_what_is_stale(1 - process, kind, 1, ahead)

    @precondition(running)
    @rule(texts=st.lists(st.text(max_size=3), max_size=4), saves=checkpoints, lost=lost_answers)
    def write_on(self, texts: list[str], saves: str | None, lost: bool) -> None:
        """Events, a checkpoint, or both at once; only what follows the input is fruit."""
        change = says(self.owner, *texts)
        if saves:
            self.wrote += 1
            change.fruitful = saves == "a step"
            save(change, f"{self.wrote:04}")
        self.write(change, lost)
        self.run.log += [(self.run.attempt, "custom")] * len(texts)
        self.run.fruitful = self.run.fruitful or change.fruitful

    @precondition(running)
    @rule(status=statuses, lost=lost_answers, kind=kinds)
    def leave(self, status: str, lost: bool, kind: str = "events") -> None:
        """The owner's last word; what a forgotten task of it writes later is too late."""
        self.last_word(ENDINGS.get(status) or handed_back(), lost)
        if status in ENDINGS:
            self.run.end(status)
        else:
            self.run.handed_back()
        self.write_what_is_stale(0, kind, 1, True)

    @precondition(lambda self: not self.run.terminal)
    @rule()
    def cancel(self) -> None:
        self.rig.run(self.rig.engine.cancel(self.run.run_id))
        if self.run.status == "pending":
            self.run.end_unowned("interrupted")
        else:
            self.run.cancelled = True

    @precondition(lambda self: self.stale())
    @rule(process=processes, kind=kinds, back=st.integers(1, 4), ahead=st.booleans())
    def write_what_is_stale(self, process: int, kind: str, back: int, ahead: bool) -> None:
        """Some earlier owner comes back with the number it knows, or with the right one."""
        if not (stale := self.stale()):
            return
        claim = stale[-min(back, len(stale))]
        log = self.rig.pen(claim, process, next_seq=len(self.run.log) if ahead else 0)
        before = self.everything()
        heard = self.neighbour.put(says(self.neighbour, "here"))
        refused = log.put(STALE[kind](log))

        # An attempt that repeats its last word is told that it was heard: its COMMIT may have been.
        assert isinstance(refused.exception(5), LeaseLost) or self.ended_itself(claim, kind)
        assert heard.exception(5) is None
        assert self.everything() == before
        self.heard += 1

    @property
    def owner(self) -> RunLog:
        assert self.pen is not None
        return self.pen

    def write(self, change: Change, lost: bool) -> None:
        self.lose_answer(lost)
        self.rig.run(write(self.owner, change))
        self.run.expired = False

    def last_word(self, ending: Ending, lost: bool) -> None:
        self.lose_answer(lost)
        self.rig.run(end(self.owner, ending))
        with pytest.raises(LeaseLost):
            self.rig.run(write(self.owner, says(self.owner, "too late")))

    def lose_answer(self, lost: bool) -> None:
        for writer in self.rig.writers:
            assert isinstance(writer, ForgetfulWriter)
            writer.loses = lost

    def stale(self) -> list[Claim]:
        """Every attempt that is over."""
        owner = (self.run.run_id, self.run.attempt) if self.run.status == "running" else None
        return [claim for claim in self.past if (claim.run_id, claim.attempt) != owner]

    def ended_itself(self, claim: Claim, kind: str) -> bool:
        [run] = self.rig.query("SELECT attempt FROM runs WHERE run_id = %s", (claim.run_id,))
        return kind in LAST_WORDS and run["attempt"] == claim.attempt

    def everything(self) -> list[dict[str, Any]]:
        """Every row of every table that belongs to the thread."""
        return self.rig.query(EVERYTHING, {"thread": self.thread})

    @invariant()
    def the_log_is_dense_ordered_and_append_only(self) -> None:
        events = self.rig.run(self.rig.log(self.run.run_id))
        assert [(event.attempt, event.name) for event in events] == self.run.log

    @invariant()
    def the_run_stands_where_the_laws_put_it(self) -> None:
        run = self.rig.run(self.rig.engine.run(self.run.run_id))
        expected = self.run
        assert (run.status, run.attempt) == (expected.status, expected.attempt)
        assert run.crashes == expected.crashes
        assert run.next_seq == len(expected.log)
        assert [name for _, name in expected.log].count("end") == run.status.terminal

    @invariant()
    def a_started_run_keeps_its_thread(self) -> None:
        [thread] = self.rig.query(
            "SELECT active_run_id::text, status FROM threads WHERE thread_id = %s", (self.thread,)
        )
        started = self.run.attempt > 0 and not self.run.terminal
        assert thread["active_run_id"] == (self.run.run_id if started else None)
        assert (thread["status"] == "busy") == (not self.run.terminal)

    def check(self) -> None:
        self.the_log_is_dense_ordered_and_append_only()
        self.the_run_stands_where_the_laws_put_it()
        self.a_started_run_keeps_its_thread()

    def teardown(self) -> None:
        """Whatever happened, the run can come to its end."""
        try:
            if running(self):
                self.crash()
            self.claim(0, True, True)
            if running(self):
                self.leave("success", False)
            assert self.run.terminal
            self.check()
            told = self.rig.run(self.rig.log(self.neighbour.run_id))
            assert len(told) == 1 + self.heard
        finally:
            self.rig.run(self.rig.forget(self.thread, self.next_door))
