"""The recorded calls of the official server, made again here: same answers, differences listed."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator
from typing import Any

import httpx
import orjson
import pytest

from tests.contract.frames import Frame, read_frames
from tests.contract.matching import Matches, difference, filled, pick
from tests.contract.recordings import DIFFERENCES, SCENARIOS
from tests.contract.recordings.calls import Call

HOLDS_FOR_EVERY_STREAM = {"end-frame", "event-ids"}


@pytest.fixture
async def client(server: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        yield client


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_server_answers_as_recorded(client: httpx.AsyncClient, scenario: str) -> None:
    kept = {"unique": str(uuid.uuid4())}
    for number, call in enumerate(SCENARIOS[scenario]):
        response = await send(client, call, kept)
        at = f"{scenario}[{number}] {call.method} {response.request.url.path}"
        assert response.status_code == call.status, f"{at}: {response.text}"
        check_headers(response, call, kept, at)
        if call.frames is None:
            check_body(response, call, kept, at)
        else:
            check_frames(read_frames(response.content), call, kept, at)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_difference_that_a_call_names_has_a_reason(scenario: str) -> None:
    named = {call.differs for call in SCENARIOS[scenario] if call.differs}
    assert named <= DIFFERENCES.keys()


def test_every_difference_is_shown_by_a_call() -> None:
    shown = {call.differs for calls in SCENARIOS.values() for call in calls}
    assert DIFFERENCES.keys() - shown == HOLDS_FOR_EVERY_STREAM


async def send(client: httpx.AsyncClient, call: Call, kept: dict[str, str]) -> httpx.Response:
    content = call.raw
    if content is None and call.body is not None:
        content = orjson.dumps(filled(call.body, kept))
    path = filled(call.path, kept)
    return await client.request(call.method, path, content=content, headers=dict(call.sent))


def check_headers(response: httpx.Response, call: Call, kept: dict[str, str], at: str) -> None:
    for name, shape in call.headers.items():
        found = difference(response.headers.get(name), shape, kept, name)
        assert found is None, f"{at}: {found}"


def check_body(response: httpx.Response, call: Call, kept: dict[str, str], at: str) -> None:
    if call.status in (202, 204):
        assert response.content == b"", at
        return
    body = response.json()
    found = difference(body, call.shape, kept)
    assert found is None, f"{at}: {found}"
    kept.update({name: str(pick(body, path)) for name, path in call.keep.items()})


def check_frames(frames: list[Frame], call: Call, kept: dict[str, str], at: str) -> None:
    """Names and shapes in order, then ``end``; ids grow, and only ``error`` comes without one."""
    *shown, end = frames
    expected = list(call.frames or ())
    assert [plain(frame.event) for frame in shown] == [name for name, _ in expected], at
    for frame, (_, shape) in zip(shown, expected, strict=True):
        found = difference(frame.data, shape, kept, f"{at} {frame.event}")
        assert found is None, found
    assert end.event == "end", at
    assert difference(end.data, {"run_id": str, "status": Matches("success|error")}, kept) is None
    ids = [frame.id for frame in frames if frame.id is not None]
    assert ids == sorted(set(ids)), at
    assert ids[-1] == end.id, at


def plain(event: str) -> str:
    """The name without the ids of tasks in it."""
    return re.sub(r":[0-9a-f-]{36}", ":*", event)
