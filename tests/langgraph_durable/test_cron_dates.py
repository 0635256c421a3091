"""The dates of a schedule, in zones whose clocks are set back and forward."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from langgraph_durable.crons import next_date
from langgraph_durable.errors import InvalidSchedule

ROME = "Europe/Rome"


def dates(schedule: str, timezone: str | None, after: datetime, count: int) -> list[str]:
    found = []
    for _ in range(count):
        following = next_date(schedule, timezone, after)
        assert following is not None
        after = following
        found.append(f"{after:%m-%d %H:%M}")
    return found


def test_a_schedule_is_read_in_utc_unless_it_has_a_zone() -> None:
    after = datetime(2026, 1, 1, 8, 30, tzinfo=UTC)
    assert dates("0 9 * * *", None, after, 2) == ["01-01 09:00", "01-02 09:00"]
    assert dates("0 9 * * *", ROME, after, 1) == ["01-02 08:00"]


def test_a_date_is_never_the_one_it_comes_after() -> None:
    assert dates("*/5 * * * *", None, datetime(2026, 1, 1, tzinfo=UTC), 1) == ["01-01 00:05"]


def test_a_fixed_hour_stays_at_its_wall_clock_time_across_a_change_of_the_clock() -> None:
    after = datetime(2026, 3, 27, 20, tzinfo=UTC)
    assert dates("0 9 * * *", ROME, after, 2) == ["03-28 08:00", "03-29 07:00"]


def test_a_time_that_the_clock_shows_twice_fires_once() -> None:
    after = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert dates("30 2 * * *", ROME, after, 2) == ["10-25 00:30", "10-26 01:30"]


def test_a_time_that_the_clock_leaves_out_fires_at_the_end_of_the_gap() -> None:
    after = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert dates("30 2 * * *", ROME, after, 2) == ["03-29 01:00", "03-30 00:30"]


def test_every_half_hour_is_every_half_hour_whatever_the_clock_shows() -> None:
    after = datetime(2026, 10, 24, 23, 40, tzinfo=UTC)
    expected = ["10-25 00:00", "10-25 00:30", "10-25 01:00", "10-25 01:30", "10-25 02:00"]
    assert dates("*/30 * * * *", ROME, after, 5) == expected


def test_there_is_no_date_behind_the_end() -> None:
    after = datetime(2026, 1, 1, tzinfo=UTC)
    end = datetime(2026, 1, 1, 9, tzinfo=UTC)
    assert next_date("0 9 * * *", None, after, end) == end
    assert next_date("0 9 * * *", None, end, end) is None


@pytest.mark.parametrize(
    "schedule",
    ["", "bad", "* * * *", "* * * * * *", "60 * * * *", "*/0 * * * *", "0 0 30 2 *", "@daily"],
)
def test_a_schedule_that_makes_no_sense_is_refused(schedule: str) -> None:
    with pytest.raises(InvalidSchedule, match="Invalid cron schedule"):
        next_date(schedule, None, datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("zone", ["Mars/Olympus", "Europe", "../etc/passwd", "/UTC", "\0"])
def test_a_zone_that_nobody_knows_is_refused(zone: str) -> None:
    with pytest.raises(InvalidSchedule, match="Invalid timezone"):
        next_date("* * * * *", zone, datetime(2026, 1, 1, tzinfo=UTC))
