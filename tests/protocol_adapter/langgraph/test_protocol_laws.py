"""Laws that hold for the events of every log in the agent streaming protocol."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_protocol import protocol
from langgraph_sdk.stream.subscription import matches_subscription
from pydantic import TypeAdapter

from langgraph_durable.model import Event
from langgraph_durable.serde import encode
from protocol_adapter.langgraph.protocol_events import CHANNELS, place, ticket_of
from tests.property.laws import law
from tests.property.random_logs import logs
from tests.protocol_adapter.langgraph.protocol import told, wire

EXACT = 2**53
"""What JavaScript still counts one by one."""

SHAPES = {
    "event": TypeAdapter(protocol.Event),
    "lifecycle": TypeAdapter(protocol.LifecycleData),
    "messages": TypeAdapter(protocol.MessagesData),
    "tools": TypeAdapter(protocol.ToolsData),
    "input.requested": TypeAdapter(protocol.InputRequestedData),
    "updates": TypeAdapter(protocol.UpdatesData),
    "custom": TypeAdapter(protocol.CustomData),
    "checkpoints": TypeAdapter(protocol.Checkpoint),
}


NAMES = ("child", "child:7", "leaf", "leaf:8", "tools:9", "x")
namespaces = st.lists(st.lists(st.sampled_from(NAMES), max_size=2), max_size=2)
subscriptions = st.fixed_dictionaries(
    {
        "channels": st.lists(
            st.sampled_from([*CHANNELS, "custom:progress"]), min_size=1, max_size=4, unique=True
        )
    },
    optional={"namespaces": namespaces, "depth": st.integers(0, 2)},
)


@st.composite
def whole_logs(draw: st.DrawFn) -> list[Event]:
    """Logs with named custom events, checkpoints, tools and nested tasks in them as well."""
    log = draw(logs())
    odd: list[tuple[str, Any, str | None]] = [
        ("custom", {"name": "progress", "share": 1}, None),
        ("custom", {"name": ""}, None),
        ("custom|child:7", {"name": 7}, None),
        ("checkpoint", {"id": "c", "parent_id": None, "step": -1, "source": "input"}, None),
        ("tasks", {"id": "7", "name": "child", "triggers": [], "input": {}}, None),
        ("tasks", {"id": "7", "name": "child", "error": None, "result": {}}, "7"),
        ("tasks|child:7", {"id": "8", "error": "no", "result": {}, "interrupts": []}, "8"),
        ("tools", {"event": "tool-started", "tool_call_id": "c1", "tool_name": "add"}, None),
        ("values", {"x": "__interrupt__"}, None),
        ("values", ["__interrupt__"], None),
    ]
    rows = [row for row in log if row.mode not in ("tasks", "checkpoint", "checkpoints")]
    for name, data, task in draw(st.lists(st.sampled_from(odd), max_size=6)):
        at = draw(st.integers(1, len(rows) - 1))
        row = rows[at]._replace(name=name, data=encode(data), task_id=task)
        rows.insert(at, row._replace(attempt=rows[at - 1].attempt))
    return [row._replace(seq=seq) for seq, row in enumerate(rows)]


@law
@given(whole_logs(), st.integers(0, 2**16))
def test_every_event_has_a_place_and_a_name_of_its_own(log: list[Event], ticket: int) -> None:
    events = told(log, ticket)
    places = [event.seq for event in events]
    assert all(a < b for a, b in pairwise(places))
    assert len({event.event_id for event in events}) == len(events)
    assert all(0 <= seq < EXACT and ticket_of(seq) == ticket for seq in places)
    assert all(place(ticket, -1) < seq < place(ticket + 1, -1) for seq in places)


@law
@given(whole_logs(), st.data())
def test_behind_any_event_comes_exactly_the_rest(log: list[Event], data: st.DataObject) -> None:
    asked = data.draw(subscriptions)
    events = told(log, 3, **asked)
    for at, event in enumerate(events):
        assert wire(told(log, 3, **asked, since=event.seq)) == wire(events[at + 1 :])
    assert wire(told(log, 3, **asked, since=place(3, -1))) == wire(events)
    assert told(log, 3, **asked, since=place(4, -1)) == []


@law
@given(whole_logs(), subscriptions)
def test_a_subscription_shows_what_the_client_itself_would_pick(
    log: list[Event], asked: dict[str, Any]
) -> None:
    everything = wire(told(log))
    definition: Any = asked
    assert wire(told(log, **asked)) == [
        event for event in everything if matches_subscription(event, definition)
    ]


@law
@given(whole_logs())
def test_every_event_has_the_shape_of_the_protocol(log: list[Event]) -> None:
    for event in wire(told(log)):
        SHAPES["event"].validate_python(event, strict=True)
        data = event["params"]["data"]
        # The protocol has no shape for what a node gives that is no object.
        if event["method"] in SHAPES and isinstance(data.get("values", {}), dict):
            SHAPES[event["method"]].validate_python(data, strict=True)
        assert isinstance(event["params"]["namespace"], list)
        assert isinstance(event["params"]["timestamp"], int)


@law
@given(whole_logs())
def test_what_begins_also_ends(log: list[Event]) -> None:
    events = wire(told(log))
    data = [(e["params"]["namespace"], e["method"], e["params"]["data"]) for e in events]
    phases = [(tuple(n), d["event"]) for n, method, d in data if method == "lifecycle"]
    entered = [namespace for namespace, phase in phases if phase == "started"]
    left = [namespace for namespace, phase in phases if phase not in ("started", "running")]
    assert sorted(left) == sorted([*entered, ()])
    assert left[-1] == ()
    said = [d["event"] for _, method, d in data if method == "messages"]
    assert said.count("message-start") == said.count("message-finish")
