"""A writer that dies at a given commit. Nothing in production knows of it.

Everything an attempt makes durable goes through the writer's one commit. Here each change is a
commit of its own, and before (or behind) the n-th of them the attempt's process is gone: not one
more write of it arrives, and its lease is free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from langgraph_durable.errors import LeaseLost
from langgraph_durable.eventlog.batch import Group
from langgraph_durable.eventlog.change import Change
from langgraph_durable.eventlog.writer import Writer

Row = dict[str, Any]


class Died(LeaseLost):
    """This attempt's process is no more."""


@dataclass(frozen=True, kw_only=True)
class Crash:
    """What was durable when an attempt died: its log, and the tasks whose results were there.

    ``running`` is false when it had said its last word. ``change`` says at which commit it died.
    """

    run_id: str
    attempt: int
    change: str
    running: bool
    fruitful: bool
    log: list[Row]
    finished: set[str]


@dataclass(kw_only=True)
class Doom:
    """After how many commits of a thread's attempts they die, each counted from the last death."""

    deaths: list[int] = field(default_factory=list)
    behind: bool = False
    commits: list[str] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)
    _since: int = 0
    _dead: set[tuple[str, int]] = field(default_factory=set)

    def due(self) -> bool:
        return bool(self.deaths) and self._since >= self.deaths[0]

    def committed(self, change: str) -> None:
        self.commits.append(change)
        self._since += 1

    def is_dead(self, key: tuple[str, int]) -> bool:
        return key in self._dead

    def died(self, key: tuple[str, int]) -> None:
        self._dead.add(key)
        self.deaths.pop(0)
        self._since = 0


class MortalWriter(Writer):
    """``dooms`` are by thread; ``kill`` ends a process or, here, tells the others that it ended."""

    dooms: ClassVar[dict[str, Doom]] = {}
    kill: ClassVar[Callable[[Group, str], Crash]]

    def _take(self) -> list[Change]:
        taken, self._queue = self._queue[:1], self._queue[1:]
        return taken

    def _commit(self, groups: list[Group]) -> None:
        [group] = groups
        doom, change = self.dooms.get(group.log.thread_id), described(group)
        if doom is None:
            super()._commit(groups)
            return
        if doom.is_dead(group.log.key):
            raise Died
        if doom.due() and not doom.behind:
            self._die(doom, group, f"before {change}")
        super()._commit(groups)
        doom.committed(change)
        if doom.due() and doom.behind:
            self._die(doom, group, f"behind {change}")

    def _die(self, doom: Doom, group: Group, change: str) -> None:
        doom.died(group.log.key)
        doom.crashes.append(type(self).kill(group, change))
        raise Died


def described(group: Group) -> str:
    """What a commit holds."""
    kinds = ("checkpoints", "task_writes", "special_writes")
    held = [row[1] for row in group.rows("events")]
    held += [kind for kind in kinds if group.rows(kind)]
    if group.entry is not None:
        held.append("entry")
    if any(change.statements for change in group.changes):
        held.append("statements")
    return " + ".join(held) or "nothing"
