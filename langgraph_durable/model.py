"""The vocabulary of the engine: runs, threads, events and what a client may ask.

Everything here is a plain value; nothing reads a clock, a database or a socket.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, NewType

from langgraph_durable.errors import EventsNotKept

Cursor = NewType("Cursor", int)
"""A position in a run's log: "after this ``seq``"."""

BEGINNING = Cursor(-1)
"""The cursor before the first event; 0 is a real cursor."""

TRACE_KEY = "mlflow_trace_id"
"""Where the metadata of a run that is traced names its trace."""


class RunStatus(StrEnum):
    """The life of a run, in the words of ``langgraph_sdk``."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"

    @property
    def terminal(self) -> bool:
        return self not in (RunStatus.PENDING, RunStatus.RUNNING)


class ThreadStatus(StrEnum):
    """What a thread is doing, in the words of ``langgraph_sdk``."""

    IDLE = "idle"
    BUSY = "busy"
    INTERRUPTED = "interrupted"
    ERROR = "error"


class RecoveryStrategy(StrEnum):
    """How a run goes on after a crash.

    ``AGENT_SESSION`` continues from the pending checkpoint on the same checkpoint thread.
    ``EVENT_LOG`` rotates to ``<id>::attempt-N`` and rebuilds the context from the durable events.
    """

    AGENT_SESSION = "agent_session"
    EVENT_LOG = "event_log"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a client asked for, free of any wire protocol.

    ``assistant`` is a graph name or an assistant id. ``thread_id`` None asks for a temporary
    thread. ``input`` None without ``command`` continues from the thread's state.
    ``command`` has the keys ``resume``, ``update``, ``goto``. ``resumes`` are the answers, by
    question id, of a caller that goes on behind a question and repeats an old ``input``: while the
    thread asks something they stand in for it.
    ``multitask`` says what happens to runs that wait or run on the thread: enqueue (behind them),
    reject (this one), interrupt or rollback (those). ``after_seconds`` delays the start.
    ``webhook`` is an address that is told of the run's end.
    ``idempotency_key`` makes the request one that is carried out once, however often it comes;
    ``request_hash`` tells the same request from another one under the same key.
    ``follows`` is the run that this one goes on from: ThreadMoved when another one has done so
    already, or has given the same answer on another fork of its thread.
    ``strict_resume`` fails a run that answers what is not asked, instead of passing over it.
    ``durability`` is sync, async or exit. ``door`` names the protocol that created the run and
    ``door_data`` is that door's own JSON, stored and never read by the engine.
    """

    assistant: str
    thread_id: str | None = None
    run_id: str | None = None
    input: Any = None
    command: Mapping[str, Any] | None = None
    resumes: Mapping[str, Any] | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    context: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    stream_modes: Sequence[str] = ("values",)
    stream_subgraphs: bool = False
    interrupt_before: str | Sequence[str] | None = None
    interrupt_after: str | Sequence[str] | None = None
    checkpoint: Mapping[str, Any] | None = None
    durability: str = "sync"
    multitask: str = "enqueue"
    if_not_exists: str = "reject"
    on_disconnect: str = "continue"
    keep_thread: bool = False
    door: str = "langgraph"
    door_data: Mapping[str, Any] = field(default_factory=dict)
    thread_metadata: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    after_seconds: float = 0.0
    webhook: str | None = None
    strict_resume: bool = False
    follows: str | None = None
    idempotency_key: str | None = None
    request_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One row of ``runs``: what a client asked and how far it came.

    ``thread_id`` is always the public id; ``conversation_id`` is the checkpoint thread in use
    now (``<id>::attempt-N`` after an EVENT_LOG rotation). ``request`` is the stored
    :class:`RunRequest` as a dict. ``output`` is JSON text: the last values, with
    ``__interrupt__`` when the graph waits for a person; of a run that has not ended, what there is
    while it sleeps. ``error`` is ``{"error", "message"}``.
    ``events_deleted_at``: since then only the first and the last event of its log are left.
    ``ticket`` is the run's place in its thread's queue. ``hidden`` runs were rolled back: gone
    for their thread.
    """

    run_id: str
    thread_id: str
    ticket: int = 0
    conversation_id: str
    assistant_id: str
    graph_id: str
    status: RunStatus
    attempt: int
    crashes: int
    multitask: str
    temporary: bool
    strategy: RecoveryStrategy
    metadata: dict[str, Any]
    request: dict[str, Any]
    cancel_action: str | None
    hidden: bool = False
    next_seq: int
    output: str | None
    error: dict[str, str] | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    events_deleted_at: datetime | None = None

    def check_kept(self, after: Cursor) -> None:
        """Raises EventsNotKept when the log has lost events behind ``after``."""
        if self.events_deleted_at is not None and max(after, 0) < self.next_seq - 2:
            raise EventsNotKept


@dataclass(frozen=True, slots=True, kw_only=True)
class Ttl:
    """How long an unused thread lives, in minutes, and whether it is then deleted or pruned.

    ``strategy`` is ``delete`` or ``keep_latest``.
    """

    minutes: float
    strategy: str = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One row of ``threads``, one for ever per public id.

    ``values`` is JSON text or None before the first run; ``interrupts`` maps a task id to
    its open questions ``[{"id", "value"}]``.
    """

    thread_id: str
    checkpoint_thread_id: str
    status: ThreadStatus
    metadata: dict[str, Any]
    config: dict[str, Any]
    values: str | None
    interrupts: dict[str, list[dict[str, Any]]]
    error: dict[str, str] | None
    temporary: bool
    created_at: datetime
    updated_at: datetime
    state_updated_at: datetime
    ttl_minutes: float | None = None
    ttl_strategy: str = "delete"
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """How things stand. Over all servers: ``pending`` runs, sleepers aside, of which ``due`` could
    start if their threads and a worker were free and ``unblocked`` if a worker were; how long those
    have waited, in seconds (None: nobody waits); ``running`` runs; ``workers`` that are alive.

    In this process alone: ``jobs_active`` runs it executes, ``events_written`` since its start,
    and its ``followers``.
    """

    pending: int
    due: int
    unblocked: int
    longest_wait: float | None
    median_wait: float | None
    longest_unblocked_wait: float | None
    running: int
    workers: int
    jobs_active: int
    events_written: int
    followers: int


class Event(NamedTuple):
    """One row of a run's log. A tuple, since every one that anybody follows is made.

    ``name`` is a LangGraph stream mode, with ``|ns1|ns2`` behind it inside subgraphs, or one
    of the engine's own: ``created``, ``started``, ``recovered``, ``end``, ``asked`` (the run
    sleeps beside these questions to a person), and ``checkpoint`` (the slim ``{"id", "parent_id",
    "step", "source"}`` of a checkpoint, for runs that ask for it).
    ``data`` is JSON text: the very bytes that go on the wire. ``at`` is when the event was
    written, in milliseconds since 1970.
    """

    run_id: str
    seq: int
    attempt: int
    name: str
    data: str
    task_id: str | None = None
    checkpoint_id: str | None = None
    at: int = 0

    @property
    def mode(self) -> str:
        return self.name.partition("|")[0]

    @property
    def namespace(self) -> str:
        """The subgraph it comes from, as ``ns1|ns2``; empty for the graph itself."""
        return self.name.partition("|")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistant:
    """A graph with its defaults; one system assistant per served graph."""

    assistant_id: str
    graph_id: str
    name: str
    description: str | None
    config: dict[str, Any]
    context: dict[str, Any]
    metadata: dict[str, Any]
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CronWish:
    """What a client asks of a cron: a run, and when it is to be made.

    ``schedule`` has the five fields of cron, read in ``timezone`` (an IANA name; None is UTC).
    No run starts behind ``end_time``. ``payload`` is the client's own JSON, stored and never read.
    """

    request: RunRequest
    schedule: str
    timezone: str | None = None
    end_time: datetime | None = None
    enabled: bool = True
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """One row of ``crons``. ``request`` is the stored :class:`RunRequest` as a dict.

    ``thread_id`` None: every run has a thread of its own. ``next_run_date`` None: it has ended.
    """

    cron_id: str
    assistant_id: str
    thread_id: str | None
    schedule: str
    timezone: str | None
    end_time: datetime | None
    enabled: bool
    metadata: dict[str, Any]
    payload: dict[str, Any]
    request: dict[str, Any]
    next_run_date: datetime | None
    created_at: datetime
    updated_at: datetime
