"""Who may end a run by hanging up, and when it is not meant that way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from protocol_adapter.langgraph.disconnect import Audience
from tests.protocol_adapter.engine import ScriptedEngine


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


def audience(engine: ScriptedEngine, grace_seconds: float = 0) -> Audience:
    return Audience(cast(Any, engine), grace_seconds)


@contextmanager
def hung_up() -> Iterator[None]:
    """The error that a follower's generator gets when its client hangs up."""
    with pytest.raises(asyncio.CancelledError):
        yield


async def hang_up(following: Audience, *, cancels: bool = True) -> None:
    with hung_up(), following.follower("r1", cancels=cancels):
        raise asyncio.CancelledError


async def settled() -> None:
    """Every task that is ready has run."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_client_that_hangs_up_ends_its_run_after_the_grace(engine: ScriptedEngine) -> None:
    await hang_up(audience(engine))
    await asyncio.wait_for(engine.cancelled.wait(), 5)


async def test_the_run_is_left_alone_within_the_grace(engine: ScriptedEngine) -> None:
    following = audience(engine, grace_seconds=60)
    await hang_up(following)
    await settled()
    assert not engine.cancelled.is_set()
    await following.close()


async def test_a_follower_that_comes_back_withdraws_the_cancel(engine: ScriptedEngine) -> None:
    following = audience(engine)
    await hang_up(following)
    with following.follower("r1", cancels=True):
        await settled()
    await settled()
    assert not engine.cancelled.is_set()


async def test_a_client_that_may_leave_cancels_nothing(engine: ScriptedEngine) -> None:
    await hang_up(audience(engine), cancels=False)
    await settled()
    assert not engine.cancelled.is_set()


async def test_a_stream_read_to_its_end_cancels_nothing(engine: ScriptedEngine) -> None:
    with audience(engine).follower("r1", cancels=True):
        pass
    await settled()
    assert not engine.cancelled.is_set()


async def test_somebody_else_still_there_keeps_the_run(engine: ScriptedEngine) -> None:
    following = audience(engine)
    with following.follower("r1", cancels=False):
        await hang_up(following)
        await settled()
    assert not engine.cancelled.is_set()


async def test_a_draining_server_is_not_a_client_hanging_up(engine: ScriptedEngine) -> None:
    engine.draining = True
    await hang_up(audience(engine))
    await settled()
    assert not engine.cancelled.is_set()


async def test_a_drain_within_the_grace_forgets_the_cancel(engine: ScriptedEngine) -> None:
    following = audience(engine)
    await hang_up(following)
    engine.draining = True
    await settled()
    assert not engine.cancelled.is_set()


async def test_closing_forgets_every_pending_cancel(engine: ScriptedEngine) -> None:
    following = audience(engine)
    await hang_up(following)
    await following.close()
    await settled()
    assert not engine.cancelled.is_set()
