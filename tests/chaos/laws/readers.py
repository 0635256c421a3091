"""What clients saw, against the logs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.chaos.evidence import Evidence, Row
from tests.chaos.transcript import Frame, Transcript

Group = tuple[int, list[tuple[str, Any]]]
"""The frames that lead to one cursor."""


def lost(found: Evidence) -> Iterator[str]:
    for told in found.acknowledged():
        if told.run_id not in found.runs:
            yield f"run {told.run_id} ({told.door}) was acknowledged and is not there"
        elif any(r.startswith("404 ") for r in told.refusals):
            yield f"run {told.run_id} ({told.door}) was acknowledged and then unknown"


def refused(found: Evidence) -> Iterator[str]:
    for told in found.transcripts:
        for refusal in told.refusals:
            if not refusal.startswith("404 ") or told.run_id in found.runs:
                yield f"{told.door} {told.graph} {told.key}: {refusal}"
    yield from (f"client {text}" for text in found.broken_clients)


def twice_under_a_key(found: Evidence) -> Iterator[str]:
    keys = Counter(r["idempotency_key"] for r in found.runs.values() if r["idempotency_key"])
    nonces = Counter(r["metadata"].get("nonce") for r in found.runs.values())
    nonces.pop(None, None)
    for key, count in (keys + nonces).items():
        if count > 1:
            yield f"{count} runs for {key}"


def endings(found: Evidence) -> Iterator[str]:
    for told in _readable(found):
        groups = list(_groups(told))
        names = [name for _, group in groups for name, _ in group]
        terminal = [name for name in names if _terminal(told.door, name)]
        if not told.finished:
            yield f"{_name(told)}: its client never saw an end"
        elif len(terminal) != 1 or not _terminal(told.door, names[-1]):
            yield f"{_name(told)}: ends with {names[-3:]}, terminal frames: {terminal}"


def unlike_the_log(found: Evidence) -> Iterator[str]:
    for told in _readable(found):
        seen, expected = list(_groups(told)), _expected(told, found.logs[str(told.run_id)])
        if expected is None:
            yield f"{_name(told)}: its replay could not be read"
            continue
        if not told.finished:
            expected = expected[: len(seen)]
        if seen != expected:
            yield f"{_name(told)}: {_difference(seen, expected)}"


def _readable(found: Evidence) -> list[Transcript]:
    return [t for t in found.acknowledged() if t.run_id in found.runs and t.connections]


def _name(told: Transcript) -> str:
    return f"{told.door} {told.graph} run {told.run_id}"


def _terminal(door: str, name: str) -> bool:
    if door in ("langgraph", "sdk"):
        return name == "end"
    if door == "responses":
        return name in ("response.completed", "response.failed", "response.incomplete")
    return name in ("run.completed", "run.failed", "run.cancelled", "run.requires_action")


def _groups(told: Transcript) -> Iterator[Group]:
    """Frames by the cursor that they lead to; what a cut left without one is sent again."""
    for connection in told.connections:
        before: list[Frame] = []
        for frame in connection.frames:
            before.append(frame)
            if frame.id is not None:
                yield frame.id, [(f.event, json.loads(f.data)) for f in before]
                before = []


def _expected(told: Transcript, log: list[Row]) -> list[Group] | None:
    if told.door == "responses":
        if told.replay is None:
            return None
        if [f.id for f in told.replay] != list(range(len(told.replay))):
            return None
        return [(f.id or 0, [(f.event, json.loads(f.data))]) for f in told.replay]
    if told.door == "invocations":
        return [(e["seq"], [_invocation_frame(e, told)]) for e in log]
    return [(e["seq"], shown) for e in log if (shown := _langgraph_frames(e, told))]


def _langgraph_frames(event: Row, told: Transcript) -> list[tuple[str, Any]]:
    data = json.loads(event["data"])
    mode, _, namespace = event["name"].partition("|")
    if mode == "created":
        return [("metadata", {"run_id": told.run_id, "attempt": 1})]
    if mode == "recovered":
        values = data.pop("values")
        fresh = [] if values is None else [("values", values)]
        return [("metadata", {"run_id": told.run_id, **data}), *fresh]
    if mode == "end":
        error, status = data.get("error"), data["status"]
        head = [("error", error)] if error is not None and status != "interrupted" else []
        return [*head, ("end", {"run_id": told.run_id, "status": status})]
    modes = {"messages" if m == "messages-tuple" else m for m in told.modes}
    if mode not in modes or (namespace and not told.subgraphs):
        return []
    return [(event["name"], data)]


def _invocation_frame(event: Row, told: Transcript) -> tuple[str, Any]:
    """What this event must have looked like; for its first and last one, whatever was seen."""
    seen: tuple[str, Any] = ("nothing", None)
    seen = next((group[0] for seq, group in _groups(told) if seq == event["seq"]), seen)
    data: Any = json.loads(event["data"])
    name = str(event["name"])
    if name == "end":
        return seen if _terminal(told.door, seen[0]) else ("a terminal event", None)
    if name == "created":
        return ("run.queued", seen[1])
    if name.partition("|")[0] == "custom":
        own = data.get("type") if isinstance(data, dict) else None
        return (seen[0] if own else "message", data)
    return ({"started": "run.started", "recovered": "run.recovered"}.get(name, name), data)


def _difference(seen: list[Group], expected: list[Group]) -> str:
    ids, wanted = [i for i, _ in seen], [i for i, _ in expected]
    if repeated := [i for i, n in Counter(ids).items() if n > 1]:
        return f"seen twice: {repeated[:5]}"
    if missing := [i for i in wanted if i not in ids]:
        return f"never seen: {missing[:5]} of {len(wanted)}"
    if extra := [i for i in ids if i not in wanted]:
        return f"seen and not in the log: {extra[:5]}"
    for one, other in zip(seen, expected, strict=False):
        if one != other:
            return f"frame {one[0]}: saw {str(one[1])[:300]}, the log says {str(other[1])[:300]}"
    return "another order"
