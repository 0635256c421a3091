"""One thread's runs through every turn of their life, against a model of what must be there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from langgraph_durable.ending import Ending
from langgraph_durable.errors import LeaseLost, RunNotCancellable
from langgraph_durable.eventlog.change import Change, RunLog
from langgraph_durable.eventlog.writer import Group, Writer
from langgraph_durable.model import RunStatus
from langgraph_durable.store.runs import Claim
from tests.property.laws import race
from tests.property.rig import (
    Rig,
    cancelled,
    end,
    handed_back,
    new_thread,
    says,
    succeeded,
    write,
)

MAX_ATTEMPTS = 3


@dataclass
class Model:
    """What the laws say about one run."""

    run_id: str
    resumes: bool
    status: str = "pending"
    attempt: int = 0
    crashes: int = 0
    fruitful: bool = False
    expired: bool = False
    cancelled: bool = False
    log: list[tuple[int, str]] = field(default_factory=lambda: [(0, "created")])

    @property
    def terminal(self) -> bool:
        return self.status not in ("pending", "running")

    @property
    def abandoned(self) -> bool:
        return self.status == "running" and self.expired

    @property
    def strikes(self) -> int:
        """Crashes in a row without a checkpoint or a task's result, this one counted."""
        if not self.abandoned:
            return self.crashes
        return 0 if self.fruitful and self.resumes else self.crashes + 1

    def swept(self) -> None:
        if self.cancelled and (self.abandoned or self.status == "pending"):
            self.end_unowned("interrupted")
        elif self.abandoned and self.strikes >= MAX_ATTEMPTS:
            self.crashes = self.strikes
            self.end_unowned("error")

    def end_unowned(self, status: str) -> None:
        self.attempt += 1
        self.end(status)

    def end(self, status: str) -> None:
        self.status = status
        self.log.append((self.attempt, "end"))

    def claimable(self, *, idle: bool) -> bool:
        most = MAX_ATTEMPTS if idle else MAX_ATTEMPTS - 1
        due = self.status == "pending" or self.abandoned
        return due and not self.cancelled and self.strikes < most

    def claimed(self) -> None:
        self.crashes = self.strikes
        self.attempt += 1
        self.status, self.fruitful, self.expired = "running", False, False

    def handed_back(self) -> None:
        self.status = "pending"
        if self.fruitful and self.resumes:
            self.crashes = 0


class ForgetfulWriter(Writer):
    """Loses the answer to a commit when told to: nobody can know whether it went through."""

    loses = False

    def _commit(self, groups: list[Group]) -> None:
        super()._commit(groups)
        if self.loses:
            self.loses = False
            self._drop_connection()
            raise psycopg.OperationalError("the connection broke behind COMMIT")


@pytest.fixture(scope="module")
def rig(module_database: str) -> Iterator[Rig]:
    with Rig(module_database, writer=ForgetfulWriter, max_attempts=MAX_ATTEMPTS).started() as made:
        yield made


def checkpoint_of(log: RunLog, name: str, *, fruitful: bool) -> Change:
    """A row of every kind that a checkpointer writes."""
    place = (log.thread_id, "", name)
    task = (*place, "task", "", 0, "channel", "type", b"blob")
    return Change(
        log=log,
        blobs=[(log.thread_id, "", "channel", name, "type", b"blob")],
        checkpoints=[(*place, None, "{}", "{}")],
        task_writes=[task],
        special_writes=[(*task[:5], -1, *task[6:])],
        fruitful=fruitful,
    )


def only(kind: str) -> Callable[[RunLog], Change]:
    """A checkpointer's change without all but one kind of row."""

    def make(log: RunLog) -> Change:
        whole = checkpoint_of(log, "stale", fruitful=True)
        return Change(log=log, fruitful=True, **{kind: getattr(whole, kind)})

    return make


LAST_WORDS: dict[str, Callable[[RunLog], Change]] = {
    "success": lambda log: succeeded().change(log, says(log, "stale")),
    "cancel": lambda log: cancelled().change(log, Change(log=log)),
    "hand back": lambda log: handed_back().change(log, Change(log=log)),
}
STALE: dict[str, Callable[[RunLog], Change]] = {
    "events": lambda log: says(log, "stale", "stale"),
    "entry": lambda log: Change(log=log, entry="{}"),
    **{kind: only(kind) for kind in ("blobs", "checkpoints", "task_writes", "special_writes")},
    **LAST_WORDS,
}

FAILED = Ending.without_state(RunStatus.ERROR, {"error": "ValueError", "message": "no"})
ENDINGS = {"success": succeeded(), "error": FAILED, "interrupted": cancelled()}

OF_THREAD = "SELECT t::text AS row FROM {} t WHERE thread_id = %(thread)s"
TABLES = ("threads", "runs", "checkpoints", "checkpoint_blobs", "checkpoint_writes")
EVERYTHING = " UNION ALL ".join(
    [
        *map(OF_THREAD.format, TABLES),
        "SELECT e::text FROM events e JOIN runs USING (run_id) WHERE thread_id = %(thread)s",
        "ORDER BY row",
    ]
).replace("UNION ALL ORDER", "ORDER")

graphs = st.sampled_from(["agent", "log"])
processes = st.integers(0, 1)
kinds = st.sampled_from(sorted(STALE))
lost_answers = st.sampled_from([False, False, False, True])


def running(life: RunLife) -> bool:
    return life.run.status == "running"


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

    @initialize(graph=graphs)
    def begin(self, graph: str) -> None:
        run = self.rig.run(self.rig.submit(self.thread, graph))
        self.run = Model(run.run_id, resumes=graph == "agent")

    @precondition(lambda self: self.run.terminal)
    @rule(graph=graphs)
    def submit_the_next(self, graph: str) -> None:
        self.begin(graph)

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
    @rule(texts=st.lists(st.text(max_size=3), min_size=1, max_size=4), lost=lost_answers)
    def append(self, texts: list[str], lost: bool) -> None:
        self.write(says(self.owner, *texts), lost)
        self.run.log += [(self.run.attempt, "custom")] * len(texts)

    @precondition(running)
    @rule(fruitful=st.booleans(), lost=lost_answers)
    def save_a_checkpoint(self, fruitful: bool, lost: bool) -> None:
        self.wrote += 1
        name = f"{self.wrote:04}"
        self.write(checkpoint_of(self.owner, name, fruitful=fruitful), lost)
        self.run.fruitful = self.run.fruitful or fruitful

    @precondition(running)
    @rule(status=st.sampled_from(sorted(ENDINGS)), lost=lost_answers)
    def finish(self, status: str, lost: bool) -> None:
        self.last_word(ENDINGS[status], lost)
        self.run.end(status)

    @precondition(running)
    @rule(lost=lost_answers)
    def hand_back(self, lost: bool) -> None:
        self.last_word(handed_back(), lost)
        self.run.handed_back()

    @rule()
    def cancel(self) -> None:
        if self.run.terminal:
            with pytest.raises(RunNotCancellable):
                self.rig.run(self.rig.engine.cancel(self.run.run_id))
            return
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
        model = self.run
        assert (run.status, run.attempt, run.crashes) == (model.status, model.attempt, model.crashes)
        assert run.next_seq == len(model.log)
        assert [name for _, name in model.log].count("end") == run.status.terminal

    @invariant()
    def a_started_run_keeps_its_thread(self) -> None:
        [thread] = self.rig.query(
            "SELECT active_run_id::text, status FROM threads WHERE thread_id = %s", (self.thread,)
        )
        started = self.run.attempt > 0 and not self.run.terminal
        assert thread["active_run_id"] == (self.run.run_id if started else None)
        assert (thread["status"] == "busy") == (not self.run.terminal)

    def teardown(self) -> None:
        """Whatever happened, the run can come to its end."""
        try:
            if running(self):
                self.crash()
            self.claim(0, True, True)
            if running(self):
                self.finish("success", False)
            assert self.run.terminal
            self.the_log_is_dense_ordered_and_append_only()
            told = self.rig.run(self.rig.log(self.neighbour.run_id))
            assert len(told) == 1 + self.heard
        finally:
            self.rig.run(self.rig.forget(self.thread, self.next_door))


def test_one_owner_writes_one_dense_log_with_one_end(rig: Rig) -> None:
    run_state_machine_as_test(
        lambda: RunLife(rig), settings=settings(race, max_examples=60, stateful_step_count=30)
    )
