"""What is sent after a cursor is the rest of what is sent from the beginning, at every door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import BEGINNING, Cursor, Event, Run
from protocol_adapter.langgraph.stream import Projection, View
from protocol_adapter.responses import delivery
from tests.contract.frames import read_frames
from tests.property.laws import law
from tests.property.random_logs import logs
from tests.protocol_adapter.responses import goldens
from tests.protocol_adapter.responses.logs import a_run

MODES = ("values", "updates", "custom", "messages", "messages-tuple", "tasks", "checkpoints")

views = st.builds(
    View,
    modes=st.frozensets(st.sampled_from(MODES), max_size=4),
    subgraphs=st.booleans(),
    narrowed=st.booleans(),
)
doors: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"background": True}, {"tool_items": "function_call"}, {"dialect": "mlflow"}]
)


def sent(log: list[Event], view: View, after: int) -> list[bytes]:
    """What each event gives to a follower who asks for what is behind ``after``."""
    projection = Projection(view, Cursor(after))
    return [projection.frames(event) for event in log if event.seq > projection.start]


@settings(law, max_examples=100)
@given(logs(), views)
def test_langgraph_sends_the_rest_after_every_cursor(log: list[Event], view: View) -> None:
    whole = sent(log, view, BEGINNING)

    for cursor in range(BEGINNING, len(log)):
        assert b"".join(sent(log, view, cursor)) == b"".join(whole[cursor + 1 :])


@settings(law, max_examples=100)
@given(logs(), views)
def test_only_the_last_frame_of_an_event_is_a_place_to_come_back_to(
    log: list[Event], view: View
) -> None:
    for event, shown in zip(log, sent(log, view, BEGINNING), strict=True):
        if shown:
            ids = [frame.id for frame in read_frames(shown)]
            assert ids == [None] * (len(ids) - 1) + [event.seq]


@settings(law, max_examples=60)
@given(logs(), views)
def test_a_client_cut_off_anywhere_comes_back_and_has_missed_nothing(
    log: list[Event], view: View
) -> None:
    frames = read_frames(b"".join(sent(log, view, BEGINNING)))

    for cut in range(len(frames) + 1):
        whole_events = [i for i in range(cut) if frames[i].id is not None]
        kept = frames[: whole_events[-1] + 1] if whole_events else []
        cursor = kept[-1].id if kept else BEGINNING
        assert cursor is not None
        assert kept + read_frames(b"".join(sent(log, view, cursor))) == frames


@settings(law, max_examples=100)
@given(logs(), views)
def test_a_finished_log_ends_every_view_and_nothing_else_does(log: list[Event], view: View) -> None:
    projection = Projection(view)
    ended = []
    for event in log:
        projection.frames(event)
        ended.append(projection.ended)

    assert ended == [False] * (len(log) - 1) + [True]


class Told:
    """As much of an engine as a stream needs: a log that arrives in batches."""

    def __init__(self, log: list[Event], run: Run, cuts: list[int]) -> None:
        self._log = log
        self._run = run
        self._cuts = cuts

    async def batches(self, run_id: str) -> AsyncIterator[list[Event]]:
        for begin, end in zip([0, *self._cuts], [*self._cuts, len(self._log)], strict=True):
            if begin < end:
                yield self._log[begin:end]

    async def run(self, run_id: str) -> Run:
        return self._run

    async def stored_response(self, response_id: str) -> None:
        return None

    async def save_response(self, response_id: str, *, terminal: str, **_: Any) -> str:
        return terminal


def streamed(told: Told, run: Run, after: int) -> list[bytes]:
    """The frames of a response's stream."""

    async def gather() -> bytes:
        stream = delivery.stream(cast(DurableEngine, told), run, after=after)
        return b"".join([chunk async for chunk in stream])

    return asyncio.run(gather()).split(b"\n\n")


@settings(law, max_examples=60)
@given(logs(), doors, st.lists(st.integers(0, 30), max_size=4), st.data())
def test_responses_sends_the_rest_after_every_cursor(
    log: list[Event], door: dict[str, Any], cuts: list[int], data: st.DataObject
) -> None:
    run = a_run(door=door, output=data.draw(st.sampled_from([None, '{"x":1}', '{"messages":[]}'])))
    live = Told(log, run, [*range(1, len(log))])
    whole = streamed(live, run, -1)

    for cursor in range(-1, len(whole)):
        later = Told(log, run, sorted(min(cut, len(log)) for cut in cuts))
        assert streamed(later, run, cursor) == whole[min(cursor + 1, len(whole) - 2) :]


# -- recorded runs --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", goldens.KINDS)
def test_responses_sends_the_rest_of_a_recorded_run_after_every_cursor(kind: str) -> None:
    golden = goldens.read(kind)
    told = Told(golden.log, golden.run, [*range(1, len(golden.log))])
    whole = streamed(told, golden.run, -1)

    assert len(whole) == len(golden.frames) + 2
    for cursor in range(-1, len(whole)):
        later = Told(golden.log, golden.run, [])
        rest = whole[min(cursor + 1, len(whole) - 2) :]
        assert streamed(later, golden.run, cursor) == rest


@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize("kind", goldens.KINDS)
def test_langgraph_sends_the_rest_of_a_recorded_run_after_every_cursor(
    kind: str, subgraphs: bool
) -> None:
    log = goldens.read(kind).log
    view = View(modes=frozenset(MODES), subgraphs=subgraphs, narrowed=False)
    whole = sent(log, view, BEGINNING)

    for cursor in range(BEGINNING, len(log)):
        assert b"".join(sent(log, view, cursor)) == b"".join(whole[cursor + 1 :])
