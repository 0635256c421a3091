"""Who may end a run by hanging up, and when it is not meant that way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from protocol_adapter.app import create_app
from protocol_adapter.langgraph.disconnect import Audience
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, chain, ended
from tests.protocol_adapter.asgi import Conversation
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


# -- two servers ----------------------------------------------------------------------------------


async def over(following: Audience) -> None:
    """Every grace has run out, or was withdrawn."""
    async with asyncio.timeout(5):
        await asyncio.gather(*following._leaving.values(), return_exceptions=True)
    assert not following._leaving


@pytest.fixture
def elsewhere(engine: ScriptedEngine) -> ScriptedEngine:
    """Another server on the same database."""
    other = ScriptedEngine()
    engine.others, other.others = [other], [engine]
    return other


async def test_a_follower_at_another_server_withdraws_the_cancel(
    engine: ScriptedEngine, elsewhere: ScriptedEngine
) -> None:
    here, there = audience(engine, grace_seconds=0.05), audience(elsewhere)
    await hang_up(here)
    with there.follower("r1", cancels=True):
        await over(here)
    assert not engine.cancelled.is_set()


async def test_who_lost_its_client_later_answers_for_it(
    engine: ScriptedEngine, elsewhere: ScriptedEngine
) -> None:
    here, there = audience(engine, grace_seconds=0.05), audience(elsewhere, grace_seconds=60)
    await hang_up(there)
    await hang_up(here)
    await over(here)
    assert not engine.cancelled.is_set()
    await there.close()


@pytest.mark.parametrize("graces", [(0.05, 0.05), (0.05, 0.06), (0.1, 0.05)])
async def test_of_two_that_lost_their_clients_one_ends_the_run(
    engine: ScriptedEngine, elsewhere: ScriptedEngine, graces: tuple[float, float]
) -> None:
    pair = [audience(one, g) for one, g in zip((engine, elsewhere), graces, strict=True)]
    for following in pair:
        await hang_up(following)
    for following in pair:
        await over(following)
    assert engine.cancelled.is_set() or elsewhere.cancelled.is_set()


async def test_silence_counts_only_for_who_hears_at_all(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("protocol_adapter.langgraph.disconnect.ANSWER_SECONDS", 0.01)
    following = audience(engine)
    listening, engine.hearers = engine.hearers, dict.fromkeys(engine.hearers, lambda _: None)
    asked = asyncio.Event()
    engine.hearers["asks"] = lambda _: asked.set()
    await hang_up(following)
    await asyncio.wait_for(asked.wait(), 5)
    assert not engine.cancelled.is_set()
    engine.hearers = listening
    await asyncio.wait_for(engine.cancelled.wait(), 5)


HANGING = (
    b'{"assistant_id": "agent", "input": {"said": []}, "on_disconnect": "cancel",'
    b' "if_not_exists": "create"}'
)


@pytest.mark.parametrize("stays", [True, False])
async def test_a_client_that_comes_back_at_another_server_keeps_its_run(
    make_engine: MakeEngine, stays: bool
) -> None:
    gate = Gate()

    async def waits(state: State) -> State:
        await gate.wait()
        return {"said": ["done"]}

    here, there = [await make_engine(chain(wait=waits)) for _ in range(2)]
    apps = [create_app(each, disconnect_grace_seconds=0.2) for each in (here, there)]
    answered = asyncio.Event()
    answer = here.hearers["follows"]
    here.hearers["follows"] = lambda text: (answer(text), answered.set())
    async with Conversation(apps[0], "POST", "/threads/t/runs/stream", HANGING) as talk:
        assert b"metadata" in (await talk.chunk() or b"")
        [run] = await here.runs("t")
    async with Conversation(apps[1], "GET", talk.headers["location"]) as again:
        assert b"metadata" in (await again.chunk() or b"")
        if stays:
            await asyncio.wait_for(answered.wait(), 5)
            gate.open()
            assert b'"status":"success"' in await again.rest()
    assert (await ended(here, run)).status == ("success" if stays else "interrupted")
