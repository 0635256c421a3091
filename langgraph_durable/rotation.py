"""Back to where a run began: on a new checkpoint thread (EVENT_LOG), or on the same (rollback); and
as if a run had never been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_durable.eventlog.change import Statement
from langgraph_durable.serde import encode
from langgraph_durable.sql import statements

_CHECKPOINTS = statements("checkpoints")
_RUNS = statements("runs")
_THREADS = statements("threads")
_WAITS = statements("waits")


def rollback_statements(
    *,
    run_id: str,
    thread_id: str,
    checkpoint_thread_id: str,
    entry: Mapping[str, Any] | None,
) -> list[Statement]:
    """Undo a run on its checkpoint thread, hide it, and settle its thread as it was before.

    ``entry`` None: the run never touched the thread.
    """
    undone: list[Statement] = []
    if entry is not None:
        place = {
            "thread_id": checkpoint_thread_id,
            "greatest": entry["greatest"],
            "pending": encode(entry["pending"]),
        }
        steps = ("roll_back_writes", "roll_back_checkpoints", "restore_writes")
        undone = [(_CHECKPOINTS[step], place) for step in steps]
    ids = {"run_id": run_id, "thread_id": thread_id}
    settled = [(_RUNS["hide"], ids), (_THREADS["settle_rolled_back"], ids)]
    return [*undone, (_WAITS["release_signals"], ids), *settled]


def retraction_statements(
    checkpoint_thread_id: str, entry: Mapping[str, Any] | None
) -> list[Statement]:
    """Put the answers on the checkpoints a run began on back to what they were then.

    A node that raised, or was cancelled, behind its ``interrupt()`` keeps the stored answer for
    ever: LangGraph would give it to the question again and ignore every later one.
    """
    if entry is None or entry["greatest"] is None:
        return []
    place = {
        "thread_id": checkpoint_thread_id,
        "greatest": entry["greatest"],
        "pending": encode(entry["pending"]),
    }
    return [(_CHECKPOINTS[step], place) for step in ("retract_answers", "restore_answers")]


def forgetting_statements(
    *, run_id: str, ids: Sequence[str], checkpoint_thread_id: str, entry: Mapping[str, Any] | None
) -> list[Statement]:
    """Take a run that has ended out of its thread's checkpoints; those of later runs stay.

    ``ids`` are all checkpoint threads that its thread ever used.
    """
    steps = ("relink_checkpoints", "forget_blobs", "forget_writes", "forget_checkpoints")
    forgotten = [(_CHECKPOINTS[step], {"run_id": run_id, "ids": list(ids)}) for step in steps]
    if entry is None or entry["greatest"] is None:
        return forgotten
    began = {
        "thread_id": checkpoint_thread_id,
        "head": entry["head"],
        "greatest": entry["greatest"],
        "pending": encode(entry["pending"]),
    }
    recalled = [(_CHECKPOINTS[step], began) for step in ("forget_answers", "recall_answers")]
    return [*forgotten, *recalled]


def rotation_statements(
    *, thread_id: str, source: str, name: str, number: int, entry: Mapping[str, Any]
) -> list[Statement]:
    """Copy what the entry names from ``source`` to ``name`` and make it the thread's own.

    Earlier turns, other state and approvals live on; nothing of the crashed run does.
    """
    copied = copy_statements(source=source, name=name, entry=entry)
    rotated = {"thread_id": thread_id, "name": name, "rotation": number}
    return [*copied, (_THREADS["add_alias"], rotated), (_THREADS["rotate"], rotated)]


def copy_statements(*, source: str, name: str, entry: Mapping[str, Any]) -> list[Statement]:
    """Copy the checkpoints of ``source`` that ``entry`` names, all namespaces, to ``name``."""
    if entry["greatest"] is None:
        return []
    copy = {
        "source": source,
        "name": name,
        "greatest": entry["greatest"],
        "pending": encode(entry["pending"]),
    }
    steps = ("copy_checkpoints", "copy_blobs", "copy_writes")
    return [(_CHECKPOINTS[step], copy) for step in steps]
