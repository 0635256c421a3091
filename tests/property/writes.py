"""Everything that an attempt can write, by name: when it is stale, nothing of it may be heard."""

from __future__ import annotations

from collections.abc import Callable

from langgraph_durable.ending import Ending
from langgraph_durable.eventlog.change import Change, RunLog
from langgraph_durable.model import RunStatus
from tests.property.rig import cancelled, handed_back, says, succeeded


def save(change: Change, name: str) -> Change:
    """Add a row of every kind that a checkpointer writes."""
    thread_id = change.log.thread_id
    place = (thread_id, "", name)
    change.blobs = [(thread_id, "", "channel", name, "type", b"blob")]
    change.checkpoints = [(*place, None, "{}", "{}")]
    change.task_writes = [(*place, "task", "", 0, "channel", "type", b"blob")]
    change.special_writes = [(*place, "task", "", -1, "channel", "type", b"blob")]
    return change


def only(kind: str) -> Callable[[RunLog], Change]:
    """A checkpointer's change without all but one kind of row."""

    def make(log: RunLog) -> Change:
        rows = getattr(save(Change(log=log), "stale"), kind)
        return Change(log=log, fruitful=True, **{kind: rows})

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
