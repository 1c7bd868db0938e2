"""ISO 8601 durations as FLUID writes them (``P1D``, ``PT15M``), counted back from a moment."""

import calendar
import re
from datetime import datetime, timedelta

from fluid_build.text import counted

_DURATION = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?"
)


def moment_before(moment: datetime, duration: str) -> datetime | None:
    """Return the moment that is a duration before another; None where no calendar has it.

    Months and years are those of the calendar. ValueError for what isn't a duration.
    """
    match = _DURATION.fullmatch(duration)
    if match is None:
        raise ValueError(duration)
    try:
        years, months, weeks, days, hours, minutes, seconds = (
            int(part or 0) for part in match.groups()
        )
        earlier = _months_before(moment, 12 * years + months)
        return earlier - timedelta(
            weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds
        )
    except (OverflowError, ValueError):
        return None


def _months_before(moment: datetime, months: int) -> datetime:
    year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))


def age_text(age: timedelta) -> str:
    """Return an age in its largest unit, rounded down: ``3 days old``."""
    seconds = max(0, int(age.total_seconds()))
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            number = seconds // size
            return f"{counted(number, unit)} old"
    return "less than a minute old"
