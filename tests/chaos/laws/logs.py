"""The logs by themselves, and against their runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from tests.chaos.evidence import Evidence

TERMINAL = ("success", "error", "timeout", "interrupted")


def dense(found: Evidence) -> Iterator[str]:
    for run_id, log in found.logs.items():
        seqs = [e["seq"] for e in log]
        if seqs != list(range(len(seqs))):
            gap = next(i for i, s in enumerate([*seqs, -1]) if i != s)
            yield f"run {run_id}: no event {gap} among {len(seqs)}"
        elif len(seqs) != found.runs[run_id]["next_seq"]:
            yield f"run {run_id}: {len(seqs)} events, next_seq {found.runs[run_id]['next_seq']}"


SLEEPERS = ("waiting",)
"""Graphs whose runs wake up, which is no recovery and is not told as one."""


def attempts(found: Evidence) -> Iterator[str]:
    for run_id, log in found.logs.items():
        numbers = [e["attempt"] for e in log if e["name"] not in ("created", "end")]
        if numbers != sorted(numbers):
            yield f"run {run_id}: an attempt wrote behind a later one"
        for number in set(numbers):
            if number > 1 and found.runs[run_id]["graph_id"] in SLEEPERS:
                continue
            first = next(e for e in log if e["attempt"] == number and e["name"] != "created")
            if first["name"] != ("started" if number == 1 else "recovered"):
                yield f"run {run_id}: attempt {number} begins with {first['name']}"
        marks = Counter(e["attempt"] for e in log if e["name"] in ("started", "recovered"))
        if any(count > 1 for count in marks.values()):
            yield f"run {run_id}: an attempt begins twice"


def endings(found: Evidence) -> Iterator[str]:
    for run_id, log in found.logs.items():
        status = found.runs[run_id]["status"]
        ends = [e for e in log if e["name"] == "end"]
        if status not in TERMINAL:
            if ends:
                yield f"run {run_id}: is {status} behind its end"
        elif len(ends) != 1 or log[-1]["name"] != "end":
            yield f"run {run_id}: {len(ends)} terminal events, the last event is {log[-1]['name']}"
        elif json.loads(ends[0]["data"])["status"] != status:
            yield f"run {run_id}: is {status}, its log says {ends[0]['data'][:80]}"


def repeats(found: Evidence) -> Iterator[str]:
    """A task's update, a checkpoint's values: once, unless a rotation began anew."""
    for run_id, log in found.logs.items():
        if found.runs[run_id]["strategy"] != "agent_session":
            continue
        told = Counter(
            (e["name"], e["task_id"] or e["checkpoint_id"])
            for e in log
            if e["name"].partition("|")[0] in ("values", "checkpoints", "updates", "checkpoint")
            and (e["task_id"] or e["checkpoint_id"])
            and "__interrupt__" not in e["data"]
        )
        for (name, of), count in told.items():
            if count > 1 and not _ran_again(log, name, of):
                yield f"run {run_id}: {name} of {of} is told {count} times"


def _ran_again(log: list[dict[str, object]], name: str, of: str) -> bool:
    """An update told before its write was durable is told again by the attempt that repeats it."""
    if name.partition("|")[0] != "updates":
        return False
    attempts_of = [e["attempt"] for e in log if e["name"] == name and e["task_id"] == of]
    return len(set(map(str, attempts_of))) == len(attempts_of)


def missing_updates(found: Evidence) -> Iterator[str]:
    """What nodes have left in the state, some update in the thread's logs has told."""
    told: dict[str, str] = {}
    for run in sorted(found.runs.values(), key=lambda r: r["ticket"]):
        log = found.logs[run["run_id"]]
        texts = [e["data"] for e in log if e["name"].partition("|")[0] == "updates"]
        told[run["thread_id"]] = "\n".join((told.get(run["thread_id"], ""), *texts))
        for item in items_of(run):
            if item not in told[run["thread_id"]]:
                yield f"run {run['run_id']}: {item} is in its state and in no event"


def items_of(run: dict[str, str]) -> list[str]:
    """What the run's output holds of the nodes' marks."""
    output = json.loads(run["output"]) if run["output"] else {}
    found: list[str] = output.get("items", []) if isinstance(output, dict) else []
    return found
