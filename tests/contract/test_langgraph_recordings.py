"""The recorded calls of the official server, made again here: same answers, differences listed."""

from __future__ import annotations

from importlib import import_module

import httpx
import pytest

from tests.contract.recordings import DIFFERENCES, SCENARIOS
from tests.contract.recordings.coverage import SHOWN_BY_TESTS, exchanges, recorded
from tests.contract.replaying import play

HOLDS_FOR_EVERY_STREAM = {"end-frame", "event-ids"}
SHOWN_ELSEWHERE = {"asked-channels", "thread-modes", "disconnect-grace", "relative-webhook"}
for by_itself in ("live", "protocol", "webhooks"):
    import_module(f"tests.contract.test_recorded_{by_itself}")


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_server_answers_as_recorded(http: httpx.AsyncClient, scenario: str) -> None:
    kept = await play(http, SCENARIOS[scenario], scenario)
    assert kept["unique"]


def test_every_recorded_exchange_is_made_again_or_listed_as_not_served() -> None:
    calls = {each for made in SCENARIOS.values() for call in made for each in exchanges(call.seen)}
    left = {each for row in DIFFERENCES.values() for each in exchanges(row.unserved)}
    assert calls | SHOWN_BY_TESTS | left == recorded()


def test_every_difference_has_a_reason_and_is_shown_by_a_call() -> None:
    shown = {call.differs for calls in SCENARIOS.values() for call in calls if call.differs}
    rest = HOLDS_FOR_EVERY_STREAM | SHOWN_ELSEWHERE
    unserved = {name for name, row in DIFFERENCES.items() if row.unserved}
    assert shown | rest | unserved == DIFFERENCES.keys()
