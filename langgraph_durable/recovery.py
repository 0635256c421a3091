"""What an attempt has to do: a pure decision from the run, its entry and the newest checkpoint.

The same table serves the first attempt and every recovery. LangGraph alone would repeat answers,
skip breakpoints or continue somebody else's run in the cases told apart here.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from langgraph_durable.errors import GraphChanged, InvalidRequest, SettingsError
from langgraph_durable.model import Event, RecoveryStrategy, RunRequest


class Act(StrEnum):
    """How an attempt begins, or ends at once."""

    INPUT = "input"
    COMMAND = "command"
    CONTINUE = "continue"
    COMPLETE = "complete"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``resume`` answers questions by id; ``edit`` says whether update and goto still apply.

    ``fork`` asks for the request's own checkpoint. ``error`` is the failed task's, as stored.
    """

    act: Act
    resume: Mapping[str, Any] = field(default_factory=dict)
    edit: bool = False
    fork: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task of the newest step: has it failed, has it a result, does it ask."""

    name: str
    error: str | None = None
    finished: bool = False
    asks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest checkpoint as the checkpointer shows it.

    ``run_id`` is the run that wrote it, ``null_writes`` counts the writes outside any task,
    ``last_nodes`` are the nodes that ran in the step that led to it. ``forked``: it only copies
    the checkpoint that the run was asked to start from. ``gone`` are nodes that come next in it
    and that the graph does not have any more.
    """

    checkpoint_id: str | None = None
    run_id: str | None = None
    tasks: Sequence[Task] = ()
    next: Sequence[str] = ()
    questions: Collection[str] = ()
    null_writes: int = 0
    last_nodes: Collection[str] = ()
    forked: bool = False
    gone: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the run was asked to do. ``answers`` is None unless it answers questions.

    One that is given nothing ``continues`` where its thread stands.
    """

    run_id: str
    answers: Mapping[str, Any] | None = None
    continues: bool = False
    edits: bool = False
    fork: bool = False
    before: str | Collection[str] = ()
    after: str | Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The entry: what stood on the thread before the run's first call."""

    head: str | None = None
    null_writes: int = 0


def plan(wish: Wish, baseline: Baseline, head: Head, *, first: bool) -> Plan:
    """Decide one attempt. ``first`` is the run's very first call."""
    mine = head.checkpoint_id != baseline.head and head.run_id == wish.run_id
    if head.gone and (mine or wish.continues or wish.answers is not None):
        return Plan(act=Act.FAILED, error=repr(_changed(head.gone)))
    if not mine:
        decided = _not_mine(wish, baseline, head, first=first)
        if decided is not None:
            return decided
    return _pending(wish, head, mine=mine)


def _changed(gone: Sequence[str]) -> GraphChanged:
    names = ", ".join(gone)
    return GraphChanged(
        f"The thread stands at a node that its graph no longer has: {names}."
        " Bring it back, or begin a new turn with an input."
    )


def _not_mine(wish: Wish, baseline: Baseline, head: Head, *, first: bool) -> Plan | None:
    applied = head.checkpoint_id != baseline.head or head.null_writes > baseline.null_writes
    if wish.answers is not None and (wish.answers or head.questions or not wish.edits):
        return _answer(wish, head, edit=wish.edits and not applied, first=first)
    if wish.edits and applied:
        # Not by `tasks`: a snapshot lists them without the writes that the command left.
        return Plan(act=Act.CONTINUE)
    if wish.edits:
        return Plan(act=Act.COMMAND, edit=True, fork=wish.fork)
    return Plan(act=Act.INPUT, fork=wish.fork)


def _answer(wish: Wish, head: Head, *, edit: bool, first: bool) -> Plan | None:
    left = {i: v for i, v in (wish.answers or {}).items() if i in head.questions}
    if left:
        return Plan(act=Act.COMMAND, resume=left, edit=edit, fork=wish.fork)
    if not head.tasks:
        return Plan(act=Act.COMPLETE)
    if not wish.answers and not head.questions and first:
        return Plan(act=Act.CONTINUE, fork=wish.fork)
    if first:
        return Plan(act=Act.INTERRUPTED)
    return None


def _pending(wish: Wish, head: Head, *, mine: bool) -> Plan:
    if not head.tasks:
        return Plan(act=Act.COMPLETE)
    broken = next((t for t in head.tasks if t.error is not None and t.finished), None)
    if broken is not None and mine:
        return Plan(act=Act.FAILED, error=broken.error)
    if head.questions and all(t.finished or t.asks for t in head.tasks):
        return Plan(act=Act.INTERRUPTED)
    if (
        mine
        and not head.forked
        and (_meets(head.next, wish.before) or _meets(head.last_nodes, wish.after))
    ):
        return Plan(act=Act.INTERRUPTED)
    return Plan(act=Act.CONTINUE)


def _meets(nodes: Collection[str], breakpoints: str | Collection[str]) -> bool:
    if breakpoints == "*":
        return any(not n.startswith("__") for n in nodes)
    return bool(set(nodes) & set(breakpoints))


def stored_error(text: str) -> dict[str, str]:
    """``{"error", "message"}`` of an exception's repr, as LangGraph stores it."""
    name, _, rest = text.partition("(")
    try:
        arguments = ast.literal_eval(f"({rest}".removesuffix(")") + ",)")
        message = str(arguments[0]) if arguments else ""
    except (SyntaxError, ValueError):
        message = rest.removesuffix(")")
    return {"error": name, "message": message}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryContext:
    """What a ``build_recovery_request`` hook may know.

    ``events`` are the durable events of all previous attempts of this run, oldest first.
    ``default_request()`` is what would be run without the hook.
    """

    run_id: str
    thread_id: str
    conversation_id: str
    attempt: int
    previous_attempt: int
    strategy: RecoveryStrategy
    events: Sequence[Event]
    default: RunRequest

    def default_request(self) -> RunRequest:
        return self.default


BuildRecoveryRequest = Callable[[RunRequest, RecoveryContext], RunRequest | Awaitable[RunRequest]]
"""``build_recovery_request(request, context) -> request``, also async: asked after a crash."""


def check_hook(hook: object) -> None:
    """Raise SettingsError unless ``hook`` takes a request and a context."""
    try:
        inspect.signature(cast("Callable[..., Any]", hook)).bind(object(), object())
    except TypeError as error:
        raise SettingsError(
            f"build_recovery_request must take (request, context) and return a RunRequest: {error}"
        ) from error


async def built_request(
    hook: BuildRecoveryRequest, request: RunRequest, context: RecoveryContext
) -> RunRequest:
    """What the hook makes of a crashed run's request. Raises InvalidRequest for anything else."""
    built = hook(request, context)
    if inspect.isawaitable(built):
        built = await built
    if not isinstance(built, RunRequest):
        raise InvalidRequest(
            f"build_recovery_request returned {type(built).__name__}, not a RunRequest"
        )
    return built
