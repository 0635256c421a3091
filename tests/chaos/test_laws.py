"""The checker is checked: a history that keeps every law, and one small breach of each."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.evidence import Evidence
from tests.chaos.laws import LAWS
from tests.chaos.mutations import mutated
from tests.chaos.options import MUTATIONS
from tests.chaos.report import judge
from tests.chaos.timeline import Timeline
from tests.chaos.transcript import Connection, Frame, Transcript
from tests.servers import ROOT

RUN = "r1"
NODES = ("one", "two", "three", "say")
ITEMS = [f"n:{node}" for node in NODES]
VALUES = {"items": ITEMS}


def event(seq: int, name: str, data: Any, attempt: int = 1, **more: Any) -> dict[str, Any]:
    ids = {"task_id": None, "checkpoint_id": None} | more
    text = json.dumps(data)
    return {"seq": seq, "name": name, "data": text, "attempt": attempt, "created_at": seq, **ids}


def line(kind: str, what: str, phase: str, step: int, **more: Any) -> dict[str, Any]:
    told = {"at": 10.0 + step, "pid": 100, "run": RUN, "attempt": 1, "thread": "t", "ns": ""}
    return {**told, "kind": kind, "what": what, "phase": phase, "step": step, "task": what, **more}


def lawful() -> Evidence:
    """One run of a chain in two attempts, the first killed after its first node; a second run of
    the thread waits for it."""
    recovered = {"attempt": 2, "reason": "crash", "strategy": "agent_session", "values": {}}
    log = [
        event(0, "created", {}, 0),
        event(1, "started", {"attempt": 1}),
        event(2, "updates", {"one": {"items": ["n:one"]}}, task_id="one"),
        event(3, "recovered", recovered, 2),
        event(4, "updates", {"two": {"items": ["n:two"]}}, 2, task_id="two"),
        event(5, "updates", {"three": {"items": ["n:three"]}}, 2, task_id="three"),
        event(6, "updates", {"say": {"items": ["n:say"]}}, 2, task_id="say"),
        event(7, "end", {"status": "success", "error": None}, 2),
    ]
    run = {
        "run_id": RUN,
        "thread_id": "t",
        "ticket": 0,
        "graph_id": "chain",
        "strategy": "agent_session",
        "status": "success",
        "attempt": 2,
        "next_seq": 8,
        "cancel_action": None,
        "output": json.dumps(VALUES),
        "error": None,
        "idempotency_key": None,
        "metadata": {"nonce": "n"},
        "started_at": 1.0,
        "finished_at": 7.0,
    }
    timeline = Timeline(began=0)
    timeline.begin("kill", server=0, pid=100).at = 2.5
    timeline.expect(100, 9)
    timeline.died(0, 100, -9)
    timeline.deaths[0].at = 2.5
    later = {**run, "run_id": "r2", "ticket": 1, "attempt": 1, "next_seq": 3}
    later |= {"metadata": {"nonce": "m"}, "started_at": 8.0, "finished_at": 20.0}
    thread: dict[str, Any] = {"thread_id": "t", "checkpoint_thread_id": "t", "status": "idle"}
    thread |= {"values": json.dumps(VALUES), "interrupts": "{}", "active_run_id": None}
    begun = [line("node", n, p, s) for s, n in enumerate(NODES) for p in ("begin", "end")]
    for each in begun[2:]:
        each |= {"attempt": 2, "pid": 200}
    calls = [line("call", "n-1", p, 1, attempt=2) for p in ("begin", "end", "returned")]
    end = event(2, "end", {"status": "success", "error": None})
    second = [event(0, "created", {}, 0), event(1, "started", {}), end]
    second[1]["created_at"] = 9
    return Evidence(
        runs={RUN: run, "r2": later},
        threads={"t": thread},
        logs={RUN: log, "r2": second},
        calls=[{"key": "k", "run_id": RUN, "attempt": 2, "tool": "pay", "status": "confirmed"}],
        journal=[*begun, *calls],
        states={"t": {"interrupts": [], "next": [], "values": VALUES}},
        transcripts=[transcript(log)],
        timeline=timeline,
    )


def transcript(log: list[dict[str, Any]]) -> Transcript:
    told = Transcript(
        door="langgraph",
        graph="chain",
        thread_id="t",
        nonce="n",
        modes=("updates",),
        subgraphs=False,
        key="n",
        run_id=RUN,
        acknowledged_at=1.0,
        finished=True,
    )
    first, second = Connection(server=0, after=-1), Connection(server=1, after=2)
    first.frames = [
        Frame(0, "metadata", json.dumps({"run_id": RUN, "attempt": 1})),
        Frame(2, "updates", log[2]["data"]),
        Frame(None, "metadata", "{}"),
    ]
    again = {"run_id": RUN, "attempt": 2, "reason": "crash", "strategy": "agent_session"}
    second.frames = [
        Frame(None, "metadata", json.dumps(again)),
        Frame(3, "values", "{}"),
        *(Frame(n, "updates", log[n]["data"]) for n in (4, 5, 6)),
        Frame(7, "end", json.dumps({"run_id": RUN, "status": "success"})),
    ]
    told.connections = [first, second]
    return told


def broken_laws(found: Evidence) -> set[str]:
    return {v.law for v in judge(found) if v.breaches}


def test_a_lawful_history_breaks_no_law() -> None:
    assert [v for v in judge(lawful()) if v.breaches] == []


def _frames(found: Evidence) -> list[Frame]:
    return found.transcripts[0].connections[1].frames


def _lose(found: Evidence) -> None:
    del found.runs[RUN], found.logs[RUN]


def _skip_frame(found: Evidence) -> None:
    del _frames(found)[2]


def _end_twice(found: Evidence) -> None:
    _frames(found).append(copy.copy(_frames(found)[-1]))


def _refuse(found: Evidence) -> None:
    found.transcripts[0].refusals.append("500 /runs: oh")


def _same_nonce(found: Evidence) -> None:
    found.runs["r2"]["metadata"] = {"nonce": "n"}


def _gap(found: Evidence) -> None:
    del found.logs[RUN][4]


def _zombie_event(found: Evidence) -> None:
    found.logs[RUN][5]["attempt"] = 1


def _no_end(found: Evidence) -> None:
    found.logs[RUN].pop()


def _tell_again(found: Evidence) -> None:
    found.logs[RUN][5]["task_id"] = "two"
    found.logs[RUN][5]["data"] = found.logs[RUN][4]["data"]


def _forget_update(found: Evidence) -> None:
    found.logs[RUN][5]["data"] = "{}"


def _repeat_step(found: Evidence) -> None:
    found.journal.append(line("node", "one", "begin", 0, attempt=3))


def _repeat_call(found: Evidence) -> None:
    found.journal.append(line("call", "n-1", "begin", 1, attempt=3))


def _open_call(found: Evidence) -> None:
    found.calls[0]["status"] = "pending"


def _overtake(found: Evidence) -> None:
    found.logs["r2"][1]["created_at"] = 5


def _rob(found: Evidence) -> None:
    found.timeline.spans.clear()
    found.timeline.deaths.clear()


def _give_up(found: Evidence) -> None:
    found.runs["r2"]["error"] = json.dumps({"error": "MaxAttemptsExceeded", "message": ""})


def _stay(found: Evidence) -> None:
    found.runs["r2"] |= {"status": "running", "finished_at": None}


def _miss_item(found: Evidence) -> None:
    found.runs[RUN]["output"] = json.dumps({"items": ITEMS[1:]})


def _stale_thread(found: Evidence) -> None:
    found.threads["t"]["values"] = json.dumps({"items": []})


def _die(found: Evidence) -> None:
    found.timeline.deaths[0].expected = False
    found.timeline.deaths[0].lived = 100


BREACHES: list[Callable[[Evidence], None]] = [
    _lose,
    _skip_frame,
    _end_twice,
    _refuse,
    _same_nonce,
    _gap,
    _zombie_event,
    _no_end,
    _tell_again,
    _forget_update,
    _repeat_step,
    _repeat_call,
    _open_call,
    _overtake,
    _rob,
    _give_up,
    _stay,
    _miss_item,
    _stale_thread,
    _die,
]
"""One for each law, in the order of the laws."""


@pytest.mark.parametrize("number", range(len(LAWS)), ids=[law.name for law in LAWS])
def test_a_breach_of_each_law_is_noticed(number: int) -> None:
    found = lawful()
    BREACHES[number](found)
    assert LAWS[number].name in broken_laws(found)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_way_to_break_the_product_still_fits_it(name: str, tmp_path: Path) -> None:
    """Which the laws must notice; whether they do takes minutes each: ``--mutation``."""
    broken = mutated(name, tmp_path)
    files = [file.relative_to(broken) for file in broken.rglob("*") if file.is_file()]
    assert any((broken / file).read_bytes() != (ROOT / file).read_bytes() for file in files)
