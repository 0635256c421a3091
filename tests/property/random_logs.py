"""Logs as the engine writes them, with everything that can be in one."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from langgraph_durable.model import Event
from tests.protocol_adapter.responses.logs import Log, ai, call, call_chunk, chunk, tool

NAMES = ("m1", "m2", "m3")
CALLS = ("c1", "c2")
PLACES = ("", "|child:7", "|child:7|leaf:8", "|tools:9")

names = st.sampled_from(NAMES)
call_ids = st.sampled_from(CALLS)
words = st.sampled_from(["", "a", "bc", "\u2028é\n", "data: x\n\nid: 9"])
places = st.sampled_from(PLACES)
payloads: st.SearchStrategy[Any] = st.sampled_from(
    [None, {"x": 1}, {"messages": []}, [1, "\r\n"], "text", 0]
)

Entry = tuple[str, Any, str | None]
"""One event: its name, its data, its task's id."""


def _asks(question: str) -> dict[str, Any]:
    return {"__interrupt__": [{"id": question * 32, "value": {"sure": "?"}}]}


def _streamed(message: dict[str, Any], place: str, task: str) -> Entry:
    namespace = "|".join([*place.split("|")[1:], f"agent:{task}"])
    return "messages" + place, [message, {"langgraph_checkpoint_ns": namespace}], None


messages: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(chunk, names, words),
    st.builds(lambda name, word: chunk(name, [{"type": "text", "text": word}]), names, words),
    st.builds(lambda name, word: chunk(name, word, chunk_position="last"), names, words),
    st.builds(
        lambda name, call_id, last: call_chunk(name, "{}", call_id=call_id, tool="add", last=last),
        names,
        call_ids,
        st.booleans(),
    ),
    st.builds(lambda name, call_id: ai(name, "abc", tool_calls=[call(call_id)]), names, call_ids),
    st.builds(tool, call_ids, words),
    st.just({"type": "human", "id": "h1", "content": "hello"}),
)
updates = st.one_of(
    payloads.map(lambda payload: {"node": payload}),
    st.lists(messages.filter(lambda m: m["type"] != "AIMessageChunk"), max_size=2).map(
        lambda told: {"agent": {"messages": told}}
    ),
    st.sampled_from("ab").map(_asks),
)
tasks = st.sampled_from(["t1", "t2", None])

parts: st.SearchStrategy[Entry] = st.one_of(
    st.builds(_streamed, messages, places, st.sampled_from(["t1", "t2"])),
    st.builds(_streamed, messages, places, st.sampled_from(["t1", "t2"])),
    st.tuples(places.map("updates".__add__), updates, tasks),
    st.tuples(places.map("values".__add__), payloads, st.none()),
    st.tuples(places.map("custom".__add__), payloads, st.none()),
    st.tuples(st.sampled_from(["tasks", "checkpoints", "debug", "events"]), payloads, tasks),
    st.tuples(st.just("checkpoint"), st.just(""), st.none()),
    st.tuples(
        st.just("asked"),
        st.sampled_from("ab").map(lambda name: {"interrupts": _asks(name)["__interrupt__"]}),
        st.none(),
    ),
)
recoveries = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(["agent_session", "event_log"]),
        "reason": st.sampled_from(["crash", "deploy"]),
        "conversation_id": st.sampled_from(["t1", "t1::attempt-2"]),
        "values": st.sampled_from([None, {"x": 1}, {"messages": [ai("m1", "abc")]}]),
        "open_tool_call_ids": st.lists(call_ids, unique=True),
        "void_message_ids": st.lists(names, unique=True),
    },
    optional={"woken": st.just(True)},
)
failures = st.sampled_from([None, {"error": "ValueError", "message": "no\n"}])
endings = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["success", "error", "timeout", "interrupted"]),
        "error": failures,
        "interrupts": st.sampled_from([[], _asks("a")["__interrupt__"]]),
    }
)


@st.composite
def logs(draw: st.DrawFn) -> list[Event]:
    """A finished run's log: its attempts, each with some parts, and its end."""
    log = Log().start()
    for attempt in range(1, draw(st.integers(1, 3)) + 1):
        if attempt > 1:
            log.recovered(attempt, **draw(recoveries))
        for name, data, task in draw(st.lists(parts, min_size=2, max_size=14)):
            log.add(name, data, task)
    return log.end(**draw(endings)).events
