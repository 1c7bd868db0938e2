"""The shop's days: three years of them, counted from the first."""

import datetime as dt

from fluid_build.demo.chance import Chance, weighted

DAYS = 1_092
_FIRST_DAY = dt.date(2022, 1, 3)
_MONTHS = (0.85, 0.75, 0.9, 1.0, 1.05, 0.9, 0.8, 0.8, 0.95, 1.05, 1.6, 1.9)
_WEEKDAYS = (1.15, 1.05, 1.0, 1.0, 0.95, 0.85, 1.2)
_BY_NIGHT = (3, 1, 1, 1, 1, 2)
_BY_DAY = (4, 7, 9, 10, 11, 11, 12, 10, 9, 9, 10, 12)
_IN_THE_EVENING = (15, 18, 20, 19, 13, 7)
_HOURS = weighted(range(24), _BY_NIGHT + _BY_DAY + _IN_THE_EVENING)


def date(day: int) -> str:
    """The day's date, in ISO 8601."""
    return (_FIRST_DAY + dt.timedelta(days=day)).isoformat()


def moment(chance: Chance, day: int) -> str:
    """A time on that day, when people are at their screens."""
    hour = chance.pick_from(_HOURS)
    return f"{date(day)} {hour:02d}:{chance.between(0, 59):02d}:{chance.between(0, 59):02d}"


def date_of_birth(chance: Chance) -> str:
    """When somebody was born who buys today: most are between thirty and sixty, all of age."""
    days = min(chance.around(0, 3_300), 9_000)
    return (dt.date(1979, 3, 12) + dt.timedelta(days=int(days))).isoformat()


def order_times(chance: Chance, count: int) -> list[tuple[int, str]]:
    """Day and time of that many orders: the shop grows, and sells more before Christmas."""
    weights = []
    for day in range(DAYS):
        when = _FIRST_DAY + dt.timedelta(days=day)
        growth = 1 + day / DAYS
        weights.append(growth * _MONTHS[when.month - 1] * _WEEKDAYS[when.weekday()])
    days = weighted(range(DAYS), weights)
    picked = [chance.pick_from(days) for _ in range(count)]
    return sorted((day, moment(chance, day)) for day in picked)
