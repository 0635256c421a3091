"""The laws of durability, each a function from the evidence to what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.chaos.evidence import Evidence
from tests.chaos.laws import logs, readers, states, work


@dataclass(frozen=True, slots=True)
class Law:
    """``breaches`` yields one sentence for every breach; ``count`` is what it looked at."""

    name: str
    count: Callable[[Evidence], int]
    breaches: Callable[[Evidence], Iterator[str]]


def _runs(found: Evidence) -> int:
    return len(found.runs)


def _events(found: Evidence) -> int:
    return sum(map(len, found.logs.values()))


def _readers(found: Evidence) -> int:
    return len(found.acknowledged())


def _lines(kind: str) -> Callable[[Evidence], int]:
    return lambda found: sum(line["kind"] == kind for line in found.journal)


LAWS = (
    Law("acknowledged runs are never lost", _readers, readers.lost),
    Law("no gap, no repeat, no other byte in a transcript", _readers, readers.unlike_the_log),
    Law("clients see exactly one terminal frame, last", _readers, readers.endings),
    Law("no answer that only a broken server gives", _readers, readers.refused),
    Law("one request under one key makes one run", _runs, readers.twice_under_a_key),
    Law("logs are dense, ordered and append-only", _events, logs.dense),
    Law("one owner writes: attempts follow each other", _events, logs.attempts),
    Law("exactly one terminal event, last, as the status says", _runs, logs.endings),
    Law("nothing is told twice in a log", _events, logs.repeats),
    Law("nothing in a checkpoint is missing from the log", _runs, logs.missing_updates),
    Law("finished steps are not repeated (AGENT_SESSION)", _lines("node"), work.repeated_steps),
    Law("confirmed calls are not made again", _lines("call"), work.repeated_calls),
    Law("the ledger agrees with what was done", lambda f: len(f.calls), work.ledger),
    Law("one running run per thread, in order", _runs, work.order),
    Law("only crashes count as crashes", _runs, work.strikes_without_a_crash),
    Law("only the graph that exits is given up", _runs, work.given_up),
    Law("nothing is stuck when faults are over", _runs, states.stuck),
    Law("runs end as they should, with the right state", _runs, states.outcomes),
    Law("threads agree with their checkpoints", lambda f: len(f.threads), states.threads),
    Law("no process dies or hangs by itself", lambda f: len(f.timeline.deaths), states.deaths),
)
