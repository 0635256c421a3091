"""Where everything has come to when the faults are over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.chaos.evidence import Evidence, Row
from tests.chaos.laws.logs import TERMINAL
from tests.chaos.plans import GRAPHS
from tests.chaos.transcript import Transcript


def stuck(found: Evidence) -> Iterator[str]:
    for run in found.runs.values():
        if run["status"] not in TERMINAL:
            yield f"run {run['run_id']} ({run['graph_id']}) is still {run['status']}"
    for thread in found.threads.values():
        if thread["status"] == "busy" or thread["active_run_id"]:
            yield f"thread {thread['thread_id']} is still {thread['status']}"


def outcomes(found: Evidence) -> Iterator[str]:
    for told in found.acknowledged():
        run = found.runs.get(str(told.run_id))
        if run is None or run["status"] not in TERMINAL:
            continue
        if problem := _outcome(told, run):
            yield f"{told.door} {told.graph} run {told.run_id}: {problem}"


def _outcome(told: Transcript, run: Row) -> str | None:
    shape = GRAPHS[told.graph]
    if run["status"] == "interrupted":
        return None if run["cancel_action"] or told.cancels else "was cancelled by nobody"
    error = json.loads(run["error"]) if run["error"] else None
    if error is not None or shape.error:
        if error is not None and error["error"] == shape.error:
            return None
        return f"ended in {run['status']} with {error}"
    output: dict[str, Any] = json.loads(run["output"])
    if "__interrupt__" in output:
        return None if shape.asks or told.graph == "pay_ask" else "asks something"
    nonce = _answered_nonce(told, output["items"])
    done = [i.partition(":")[2] for i in output["items"] if i.partition(":")[0] == nonce]
    plain = [f"{i.partition('=')[0]}=" if "=" in i else i for i in done]
    if sorted(plain) != sorted(shape.items):
        return f"did {done}"
    wrong = [i for i in done if "=" in i and i.partition("=")[2] not in told.answers]
    return f"was answered {told.answers}, heard {wrong}" if wrong else None


def _answered_nonce(told: Transcript, items: list[str]) -> str:
    """For whom a run has worked: an answer may have met the question of a request that was sent
    twice, the first time without an acknowledgement, and then made it to a server after all."""
    name, dot, _ = told.nonce.rpartition(".")
    twins = [
        i.partition(":")[0] for i in items if dot and told.answers and i.startswith(name + ".")
    ]
    return told.nonce if told.nonce in twins or not twins else twins[-1]


def threads(found: Evidence) -> Iterator[str]:
    newest = _newest_ended(found)
    for thread_id, thread in found.threads.items():
        state, run = found.states.get(thread_id), newest.get(thread_id)
        if not state:
            yield f"thread {thread_id}: its state cannot be read"
        elif run is not None and (problem := _disagreement(thread, state, run)):
            yield f"thread {thread_id}: {problem}"


def _newest_ended(found: Evidence) -> dict[str, Row]:
    newest: dict[str, Row] = {}
    for run in sorted(found.runs.values(), key=lambda r: r["ticket"]):
        if run["finished_at"] is not None:
            newest[run["thread_id"]] = run
    return newest


def _disagreement(thread: Row, state: dict[str, Any], run: Row) -> str | None:
    asked = {q["id"] for listed in json.loads(thread["interrupts"]).values() for q in listed}
    pending = {q["id"] for q in state["interrupts"]}
    if run["status"] == "success" and asked != pending:
        return f"lists questions {sorted(asked)}, its checkpoint {sorted(pending)}"
    waits = bool(state["next"] or pending)
    wanted = {
        "success": "interrupted" if waits else "idle",
        "error": "error",
        "timeout": "error",
    }.get(run["status"])
    if wanted is not None and thread["status"] != wanted:
        return f"is {thread['status']}, its last run ended in {run['status']}, next {state['next']}"
    held = json.loads(thread["values"]) if thread["values"] else None
    if run["status"] == "success" and held != (state["values"] or None):
        return f"holds {str(held)[:200]}, its checkpoint {str(state['values'])[:200]}"
    return None


def deaths(found: Evidence) -> Iterator[str]:
    yield from found.timeline.complaints
    for death in found.timeline.deaths:
        if not death.expected and not _could_not_start(found, death.at, death.lived):
            yield f"server {death.server} (pid {death.pid}) ended by itself with {death.code}"


def _could_not_start(found: Evidence, at: float, lived: float) -> bool:
    """A server that starts while its database is away gives up and is started again."""
    return lived < 30 and any(
        s.at - 1 <= at and at - lived <= s.until + 1
        for s in found.timeline.spans
        if s.server is None or s.kind.endswith("database")
    )
