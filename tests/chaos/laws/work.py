"""What graphs really did, by the side-effect journal."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from tests.chaos.evidence import Evidence, Row
from tests.chaos.timeline import Span

PROCESS_FAULTS = ("kill", "freeze", "pause", "deploy")
TERMINATIONS = ("terminate_one", "terminate_all")
SLOW_RECONNECT_SECONDS = 3.0
"""On a busy machine a worker may take longer than the others' grace to show itself again."""
LINE_FAULTS = ("leave_database", "stall_database", "slow_database", "cut_database", "lose_lock")


def repeated_steps(found: Evidence) -> Iterator[str]:
    """A step that an attempt has begun shows that the ones before it were durable: no later
    attempt begins one of those."""
    furthest: dict[tuple[str, str], dict[int, Row]] = defaultdict(dict)
    begins = [x for x in found.journal if x["kind"] == "node" and x["phase"] == "begin"]
    for line in begins:
        known = furthest[line["run"], line["ns"]].get(line["attempt"])
        if known is None or line["step"] > known["step"]:
            furthest[line["run"], line["ns"]][line["attempt"]] = line
    durable = _checkpointed_steps(found)
    for line in begins:
        run = found.runs.get(line["run"])
        if run is None or run["strategy"] != "agent_session":
            continue
        for attempt, reached in furthest[line["run"], line["ns"]].items():
            if attempt < line["attempt"] and line["step"] < reached["step"]:
                yield _again(line, f"attempt {attempt} was at {reached['what']}")
        told = durable.get((line["run"], line["step"]))
        if not line["ns"] and told is not None and told < line["attempt"]:
            yield _again(line, f"attempt {told} had told its checkpoint")


def _again(line: Row, why: str) -> str:
    return f"run {line['run']}: attempt {line['attempt']} began {line['what']} again; {why}"


def _checkpointed_steps(found: Evidence) -> dict[tuple[str, int], int]:
    """The attempt that had told the checkpoint behind a step, by run and step."""
    steps = {(c["thread_id"], c["id"]): c for c in found.checkpoints if not c["ns"]}
    told: dict[tuple[str, int], int] = {}
    for run_id, log in found.logs.items():
        thread = found.threads.get(found.runs[run_id]["thread_id"])
        for event in log:
            if thread is None or not event["checkpoint_id"] or "|" in event["name"]:
                continue
            at = steps.get((thread["checkpoint_thread_id"], event["checkpoint_id"]))
            if at is not None and at["run_id"] == run_id:
                key = (run_id, at["step"])
                told[key] = min(event["attempt"], told.get(key, event["attempt"]))
    return told


def repeated_calls(found: Evidence) -> Iterator[str]:
    """Behind a call whose result the ledger has, no later attempt makes it again."""
    returned: dict[tuple[str, str], int] = {}
    for line in found.journal:
        if line["kind"] == "call" and line["phase"] == "returned":
            key = (line["run"], line["what"])
            returned[key] = min(line["attempt"], returned.get(key, line["attempt"]))
    began = Counter[tuple[str, str, int]]()
    for line in found.journal:
        if line["kind"] != "call" or line["phase"] != "begin":
            continue
        first = returned.get((line["run"], line["what"]))
        if first is not None and line["attempt"] > first:
            yield _again(line, f"attempt {first} had its result")
        began[line["run"], line["what"], line["attempt"]] += 1
    for (run_id, what, attempt), count in began.items():
        if count > 1:
            yield f"run {run_id}: attempt {attempt} made call {what} {count} times"


def ledger(found: Evidence) -> Iterator[str]:
    """A run that succeeded has no call left open; what is confirmed was made, by this run or by
    one of its thread that went on with it."""
    made, confirmed = Counter[str](), Counter[str]()
    for line in found.journal:
        if line["kind"] == "call" and line["phase"] == "end" and line["run"] in found.runs:
            made[found.runs[line["run"]]["thread_id"]] += 1
    for call in found.calls:
        run = found.runs[call["run_id"]]
        if run["strategy"] != "agent_session":
            continue  # a call of an earlier rotation stands beside the one it was adopted as
        confirmed[run["thread_id"]] += call["status"] == "confirmed"
        asks = bool(run["output"]) and "__interrupt__" in json.loads(run["output"])
        if run["status"] == "success" and not asks and call["status"] == "pending":
            yield f"run {call['run_id']}: succeeded with an open call of {call['tool']}"
    for thread_id, count in confirmed.items():
        if count > made[thread_id]:
            yield f"thread {thread_id}: {count} confirmed calls, {made[thread_id]} made"


def order(found: Evidence) -> Iterator[str]:
    """By the first event that its first attempt wrote: a claim's own time is that of the beginning
    of its transaction, when the run before it may not have ended yet."""
    threads: dict[str, list[tuple[Row, float]]] = defaultdict(list)
    for run in found.runs.values():
        if begun := [e["created_at"] for e in found.logs[run["run_id"]] if e["name"] == "started"]:
            threads[run["thread_id"]].append((run, begun[0]))
    for runs in threads.values():
        runs.sort(key=lambda each: each[0]["ticket"])
        for (before, _), (behind, begun_at) in pairwise(runs):
            if before["finished_at"] is None or begun_at < before["finished_at"]:
                yield f"run {behind['run_id']} began before run {before['run_id']} had ended"


def strikes_without_a_crash(found: Evidence) -> Iterator[str]:
    """Behind a process that was alive and could reach the database, nothing is called a crash."""
    owners = {(x["run"], x["attempt"]): x["pid"] for x in found.journal}
    for run_id, log in found.logs.items():
        for event in log:
            if event["name"] != "recovered" or json.loads(event["data"])["reason"] != "crash":
                continue
            pid = owners.get((run_id, event["attempt"] - 1))
            if pid is not None and not _excused(found, pid, event["created_at"]):
                yield (
                    f"run {run_id}: attempt {event['attempt']} took it from process {pid},"
                    " which was alive"
                )


def _excused(found: Evidence, pid: int, at: float) -> bool:
    """Had this process died, or been frozen or cut off, a little before?"""
    if any(d.pid == pid and d.at <= at + 1 for d in found.timeline.deaths):
        return True
    server = found.timeline.server_of(pid)
    return any(_covers(s, found.lease_seconds, at, server) for s in found.timeline.spans)


def _covers(span: Span, lease: float, at: float, server: int | None) -> bool:
    if not span.at <= at <= span.until + 2 * lease:
        return False
    if span.kind in TERMINATIONS:
        return at <= span.until + SLOW_RECONNECT_SECONDS
    if span.server is None:
        return span.until - span.at > lease - 1
    return span.server == server and span.kind in (*PROCESS_FAULTS, *LINE_FAULTS)


def given_up(found: Evidence) -> Iterator[str]:
    for run in found.runs.values():
        error = json.loads(run["error"])["error"] if run["error"] else None
        if error == "MaxAttemptsExceeded" and run["graph_id"] != "exiting":
            yield f"run {run['run_id']} ({run['graph_id']}) was given up"
