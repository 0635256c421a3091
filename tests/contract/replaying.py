"""Making a recorded call and comparing what comes back."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Self

import httpx
import orjson

from tests.contract.frames import Frame, read_frames
from tests.contract.matching import Matches, difference, filled, pick
from tests.contract.recordings.calls import Call
from tests.servers import PATIENCE_SECONDS


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    headers: httpx.Headers
    content: bytes

    @classmethod
    async def of(cls, response: httpx.Response) -> Self:
        content = await response.aread()
        return cls(response.status_code, response.headers, content)


async def play(
    http: httpx.AsyncClient, calls: Iterable[Call], name: str, **known: str
) -> dict[str, str]:
    """Make the calls one after the other, compare every answer; what was kept is answered."""
    kept = {"unique": str(uuid.uuid4()), **known}
    async with asyncio.TaskGroup() as aside:
        for number, call in enumerate(calls):
            at = f"{name}[{number}] {call.method} {call.path}"
            if call.aside:
                response = await send(http, call, kept)
                aside.create_task(_told_later(response, call, dict(kept), at))
            elif call.eventually:
                await _told_in_the_end(http, call, kept, at)
            else:
                check(await Answer.of(await send(http, call, kept)), call, kept, at)
    return kept


async def _told_later(response: httpx.Response, call: Call, kept: dict[str, str], at: str) -> None:
    check(await Answer.of(response), call, kept, at)


async def _told_in_the_end(
    http: httpx.AsyncClient, call: Call, kept: dict[str, str], at: str
) -> None:
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while True:
        answer = await Answer.of(await send(http, call, kept))
        try:
            return check(answer, call, kept, at)
        except AssertionError:
            if asyncio.get_running_loop().time() > deadline:
                raise
        await asyncio.sleep(0.02)


async def send(client: httpx.AsyncClient, call: Call, kept: dict[str, str]) -> httpx.Response:
    """The answer from its headers on; its body is still to come."""
    content = call.raw
    if content is None and call.body is not None:
        content = orjson.dumps(filled(call.body, kept))
    path = filled(call.path, kept)
    sent = filled(dict(call.sent), kept)
    request = client.build_request(call.method, path, content=content, headers=sent)
    return await client.send(request, stream=True)


def check(answer: Answer, call: Call, kept: dict[str, str], at: str) -> None:
    """Compare an answer with its call, and keep what the call names."""
    assert answer.status == call.status, f"{at}: {answer.content.decode()}"
    for name, shape in call.headers.items():
        found = difference(answer.headers.get(name), shape, kept, name)
        assert found is None, f"{at}: {found}"
    if call.frames is not None:
        body: Any = check_frames(read_frames(answer.content), call, kept, at)
    elif call.status in (202, 204):
        assert answer.content == b"", at
        return
    else:
        body = check_body(answer.content, call, kept, at)
    kept.update({name: str(pick(body, path)) for name, path in call.keep.items()})


def check_body(content: bytes, call: Call, kept: dict[str, str], at: str) -> Any:
    if call.shape is ... and not call.keep:
        return None
    body = orjson.loads(content)
    found = difference(body, call.shape, kept)
    assert found is None, f"{at}: {found}"
    return body


def check_frames(
    frames: list[Frame], call: Call, kept: dict[str, str], at: str
) -> list[dict[str, Any]]:
    """Names and shapes in order, then ``end``; ids grow, and only ``error`` comes without one."""
    *shown, end = frames
    expected = list(call.frames or ())
    assert [plain(frame.event) for frame in shown] == [name for name, _ in expected], at
    for frame, (_, shape) in zip(shown, expected, strict=True):
        found = difference(frame.data, shape, kept, f"{at} {frame.event}")
        assert found is None, found
    assert end.event == "end", at
    ending = {"run_id": str, "status": Matches(call.ends)}
    assert difference(end.data, ending, kept, at) is None, end
    ids = [frame.id for frame in frames if frame.id is not None]
    assert ids == sorted(set(ids)), at
    assert ids[-1] == end.id, at
    return [asdict(frame) for frame in frames]


def plain(event: str) -> str:
    """The name without the ids of tasks in it."""
    return re.sub(r":[0-9a-f-]{36}", ":*", event)
