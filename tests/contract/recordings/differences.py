"""Where this server answers otherwise on purpose, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Difference:
    """An answer that is not the official one, and the reason.

    ``unserved`` names recorded exchanges that nothing here answers.
    """

    official: str
    here: str
    reason: str
    unserved: str = ""


DIFFERENCES: dict[str, Difference] = {
    "end-frame": Difference(
        official="a finished stream just closes",
        here="it ends with `event: end`",
        reason="the clients take it as final and save a request for the run's status",
    ),
    "event-ids": Difference(
        official="`id:` only for runs created with stream_resumable, as <ms>-<n>",
        here="every event has a numeric id",
        reason="every client survives a cut without asking for it",
    ),
    "location-filter": Difference(
        official="Location is the bare path",
        here="Location carries the stream modes",
        reason="the Python client sends no query of its own when it reconnects",
    ),
    "replay-always": Difference(
        official="a run that was not created resumable replays nothing",
        here="every run replays",
        reason="the log is durable whatever the client asked for",
    ),
    "late-join": Difference(
        official="an empty stream for a finished run without Last-Event-ID",
        here="the last values, then end",
        reason="a page that comes late shows the result and not nothing",
    ),
    "foreign-cursor": Difference(
        official="a Last-Event-ID of another form gives an empty stream",
        here="the run from its start",
        reason="events twice are repaired by the client, missing events are not",
    ),
    "cursor-zero": Difference(
        official="Last-Event-ID 0 replays all, the metadata frame too",
        here="0 is the id of the metadata frame; what follows it is sent",
        reason="ids are positions in the run's log",
    ),
    "graph-names": Difference(
        official="422 for a graph name where an assistant id is expected",
        here="accepted",
        reason="the client's documentation promises it",
    ),
    "opaque-thread-ids": Difference(
        official="422 for a thread id that is no UUID",
        here="accepted",
        reason="ids of other protocols and of rotated conversations name threads too",
    ),
    "unknown-run": Difference(
        official="200 with an error object or an error frame",
        here="404",
        reason="clients raise a typed error instead of taking it for the run's result",
    ),
    "before-checkpoint": Difference(
        official="500 for before = a checkpoint object",
        here="the history before it",
        reason="the official answer is a bug",
    ),
    "values-search": Difference(
        official="500 for a search by values when a thread has none",
        here="the threads that match",
        reason="the official answer is a bug",
    ),
    "readable-nothing": Difference(
        official="metadata null, and checkpoint null when only the thread was named",
        here="metadata {} and the checkpoint echoed wherever one was asked for",
        reason="RemoteGraph.get_state raises on null",
    ),
    "state-select": Difference(
        official="`select` on a state or a history is ignored",
        here="only the selected fields are answered",
        reason="a key with a meaning acts or is refused",
    ),
    "set-latest": Difference(
        official="an older version holds again, all but its context",
        here="its context too",
        reason="the official answer is a bug",
    ),
    "system-assistants": Difference(
        official="a graph's own assistant can be deleted; its name then gives 404 until a restart",
        here="409",
        reason="a graph that is served can be run",
    ),
    "durability-default": Difference(
        official='"async"',
        here='"sync"',
        reason="a crash must not lose a finished step",
    ),
    "update-status": Difference(
        official="a thread is interrupted after any state update",
        here="interrupted only when something is left to run",
        reason="the status tells a client whether the thread can go on",
    ),
    "text": Difference(
        official="another wording of the error",
        here="our own wording",
        reason="clients show the text and read the status",
    ),
    "newest-items": Difference(
        official="items of a search without a query come in the order they were first stored",
        here="newest first",
        reason="it is the order of LangGraph's Postgres store, which nodes see too",
    ),
    "json-500": Difference(
        official='{"ok": true, "services": {}}',
        here='{"ok": true}',
        reason="there are no services to list",
    ),
    "metadata-at-once": Difference(
        official="the metadata frame is sent when the run starts",
        here="as soon as the run exists",
        reason="a client has a cursor before anything can be lost",
    ),
    "cancel-accepted": Difference(
        official="a working run is interrupted the moment its cancel is asked for",
        here="once it has stopped; `wait=1` waits for that",
        reason="a status says what is, and a step may have to be cut off on another machine",
    ),
    "no-cancel-error": Difference(
        official="a cancel leaves an error UserInterrupt or UserRollback on the thread",
        here="none",
        reason="a wish of the client is no failure of the thread",
    ),
    "waiting-rollback": Difference(
        official="a pending run that is rolled back stays as interrupted, or its thread stays busy",
        here="it is gone and the thread idle, as with a working run",
        reason="the official answer is a bug",
    ),
    "busy-delete": Difference(
        official="an unfinished run, or a thread with one, is deleted under the worker's hands",
        here="409",
        reason="a run is cancelled first: its webhooks and followers are told its end",
    ),
    "bad-action": Difference(
        official="an unknown action of a cancel is ignored",
        here="422",
        reason="a key with a meaning acts or is refused",
    ),
    "copy-status": Difference(
        official="a copy is idle whatever it holds",
        here="it has the status that its state calls for",
        reason="the status tells a client whether the thread can go on",
    ),
    "copy-404": Difference(
        official="409 for a copy of an unknown thread",
        here="404",
        reason="it is not there, as in every other call",
    ),
    "prune-works": Difference(
        official="keep_latest is refused by the development server",
        here="all but the latest checkpoint are deleted",
        reason="the client has it",
    ),
    "ttl-told": Difference(
        official="a life time is taken and forgotten; include=ttl adds nothing",
        here="it is told and kept",
        reason="the client's documentation promises it",
    ),
    "no-feedback": Difference(
        official="feedback_keys without LangSmith end the stream with an error",
        here="they do nothing",
        reason="there is no LangSmith to ask for feedback addresses",
    ),
    "thread-modes": Difference(
        official="the stream of a thread ignores its modes, and is empty for an unknown thread",
        here="the modes choose what is sent; 404",
        reason="a key with a meaning acts or is refused",
    ),
    "disconnect-grace": Difference(
        official="on_disconnect=cancel cancels at once",
        here="after ten seconds in which nobody came back",
        reason="a page that reloads keeps its run",
    ),
    "relative-webhook": Difference(
        official="a relative webhook calls the server itself where the project allows loopback",
        here="422 everywhere",
        reason="no client can make the server call its own routes",
    ),
    "not-served": Difference(
        official="GET /threads/{id}/storage counts the bytes of a thread",
        here="404",
        reason="no client calls it",
    ),
    "other-protocols": Difference(
        official="A2A, its agent card, and MCP under /a2a, /.well-known and /mcp",
        here="not served: 404",
        reason="no call of the clients uses them; they are protocols of their own",
        unserved="misc 8 10, misc2 2 4 6 8 10",
    ),
    "asked-channels": Difference(
        official="the event protocol tells the channels that the run itself streams",
        here="every channel that the reader asked for",
        reason="a reader that comes by another door sees what it asks for",
    ),
}
