"""Every error the engine raises on purpose. A docstring is the default message."""

from __future__ import annotations


class DurableError(Exception):
    """Something went wrong in langgraph-durable."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())

    @property
    def message(self) -> str:
        return str(self.args[0])


class InvalidRequest(DurableError):
    """The request cannot be executed as it stands."""


class InvalidAssistantId(InvalidRequest):
    """Invalid assistant ID: must be a UUID"""


class InvalidSchedule(InvalidRequest):
    """The schedule of a cron cannot be understood."""


class InvalidSignal(InvalidRequest):
    """A signal's name and id have 1 to 255 characters each."""


class WebhookRefused(InvalidRequest):
    """The webhook's address is not one that this server may call."""


class ThreadNotFound(DurableError):
    """Thread or assistant not found."""


class RunNotFound(DurableError):
    """Run not found"""


class EventsNotKept(DurableError):
    """Events behind this place are not kept any more: what the run came to can be read without them."""


class AssistantNotFound(DurableError):
    """Thread or assistant not found."""


class AssistantExists(DurableError):
    """An assistant with this id already exists."""


class AssistantProtected(DurableError):
    """This assistant is its graph's own: it lives as long as the graph is served, and cannot be deleted."""


class UnknownGraph(DurableError):
    """No graph of that name is served here."""


class GraphNotFound(UnknownGraph):
    """No graph of that name is served here for an assistant to use."""


class CronNotFound(DurableError):
    """Cron not found"""


class CheckpointNotFound(DurableError):
    """Checkpoint not found."""


class ThreadExists(DurableError):
    """A thread with this id already exists."""


class ThreadBusy(DurableError):
    """Thread is already running a task. Wait for it to finish or choose a different multitask strategy."""


class ThreadMoved(DurableError):
    """Another run has gone on from where this one was to begin."""


class KeyReused(DurableError):
    """This idempotency key was used for another request."""


class GraphChanged(DurableError):
    """The graph no longer has a node at which the thread stands."""


class StepTimedOut(DurableError):
    """A step of the graph took longer than it may."""


class RunNotCancellable(DurableError):
    """The run has already ended."""


class LeaseLost(DurableError):
    """This attempt no longer owns its run; nothing was written."""


class StoreUnavailable(DurableError):
    """The database cannot be reached at the moment."""


class OutcomeUnknown(StoreUnavailable):
    """The database was lost while it committed: what was asked may have happened."""


class ProjectError(DurableError):
    """langgraph.json or a graph it names cannot be used."""


class SettingsError(DurableError):
    """The configuration is not usable."""
