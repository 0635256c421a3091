"""When a cron fires: the dates of a schedule in its time zone. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from croniter import CroniterError, croniter

from langgraph_durable.errors import InvalidSchedule

EXAMPLE = "Five fields: minute, hour, day of month, month, day of week, like '*/5 * * * *'."


def next_date(
    schedule: str, timezone: str | None, after: datetime, until: datetime | None = None
) -> datetime | None:
    """The first date behind ``after``, in UTC; None when there is none up to ``until``.

    A schedule with fixed hours fires once in the hour that a clock set back repeats, and at the
    end of the hour that a clock set forward leaves out.

    Raises:
        InvalidSchedule: the schedule or the time zone cannot be understood, or no date fits.
    """
    zone = _zone(timezone)
    fields = schedule.split()
    if len(fields) != 5:
        raise _invalid(schedule, EXAMPLE)
    try:
        dates = croniter(schedule, after.astimezone(zone))
        found: datetime = dates.get_next(datetime)
        while _repeated(found) and not fields[1].startswith("*"):
            found = dates.get_next(datetime)
    except (CroniterError, ValueError, OverflowError) as error:
        raise _invalid(schedule, f"{error}. {EXAMPLE}") from error
    found = found.astimezone(UTC)
    return None if until is not None and found > until else found


def _zone(name: str | None) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (KeyError, ValueError, OSError) as error:
        raise InvalidSchedule(f"Invalid timezone: {name!r}. It must be an IANA name.") from error


def _repeated(date: datetime) -> bool:
    """Has the clock of its place shown this time before?"""
    return bool(date.fold) or date.utcoffset() != date.replace(fold=0).utcoffset()


def _invalid(schedule: str, reason: str) -> InvalidSchedule:
    return InvalidSchedule(f"Invalid cron schedule: {schedule!r}. {reason}")
