"""One owner writes one dense log with one end, whatever happens to the run and its owners."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.property.expected_run import MAX_ATTEMPTS
from tests.property.laws import race
from tests.property.rig import Rig
from tests.property.run_life import ForgetfulWriter, RunLife


@pytest.fixture(scope="module")
def rig(module_database: str) -> Iterator[Rig]:
    with Rig(module_database, writer=ForgetfulWriter, max_attempts=MAX_ATTEMPTS).started() as made:
        yield made


def test_a_long_life_keeps_the_laws(rig: Rig) -> None:
    class OnThisRig(RunLife):
        def __init__(self) -> None:
            super().__init__(rig)

    run_state_machine_as_test(
        OnThisRig, settings=settings(race, max_examples=100, stateful_step_count=30)
    )


def cancel_before_a_hand_back(life: RunLife) -> None:
    life.cancel()
    life.leave("hand back", False)


def cancel_before_a_crash(life: RunLife) -> None:
    life.cancel()
    life.crash()
    life.claim(1, True, False)


def progress_before_a_hand_back(life: RunLife) -> None:
    life.recover(1, "events", True)
    life.write_on([], "a step", False)
    life.leave("hand back", False)


def progress_before_a_crash(life: RunLife) -> None:
    life.recover(1, "events", True)
    life.write_on([], "a step", False)
    life.crash()
    life.claim(1, True, False)


def a_sign_of_life_behind_the_lease(life: RunLife) -> None:
    life.crash()
    life.write_on(["here"], None, False)
    life.claim(1, True, False)


def three_crashes_without_progress(life: RunLife) -> None:
    life.recover(1, "success", False)
    life.recover(0, "hand back", True)
    life.crash()
    life.claim(1, True, True)
    assert life.run.status == "error"


SHORT_LIVES = (
    cancel_before_a_hand_back,
    cancel_before_a_crash,
    progress_before_a_hand_back,
    progress_before_a_crash,
    a_sign_of_life_behind_the_lease,
    three_crashes_without_progress,
)


@pytest.mark.parametrize("graph", ["agent", "log"])
@pytest.mark.parametrize("lives", SHORT_LIVES, ids=lambda lives: lives.__name__)
def test_a_short_life_keeps_the_laws(
    rig: Rig, graph: str, lives: Callable[[RunLife], None]
) -> None:
    life = RunLife(rig)
    life.begin(graph, True)
    lives(life)
    life.check()
    life.teardown()
