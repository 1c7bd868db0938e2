"""The shop's days: three years, counted from the first."""

import datetime as dt

from fluid_build.demo.chance import Chance, weighted

DAYS = 1_092
_FIRST_DAY = dt.date(2022, 1, 3)
_MONTHS = (0.85, 0.75, 0.9, 1.0, 1.05, 0.9, 0.8, 0.8, 0.95, 1.05, 1.6, 1.9)
_WEEKDAYS = (1.15, 1.05, 1.0, 1.0, 0.95, 0.85, 1.2)
_AT_NIGHT = (3, 1, 1, 1, 1, 2)
_BY_DAY = (4, 7, 9, 10, 11, 11, 12, 10, 9, 9, 10, 12)
_IN_THE_EVENING = (15, 18, 20, 19, 13, 7)
_HOURS = weighted(range(24), _AT_NIGHT + _BY_DAY + _IN_THE_EVENING)


def date(day: int) -> str:
    """Return the day's date, in ISO 8601."""
    return (_FIRST_DAY + dt.timedelta(days=day)).isoformat()


def moment(chance: Chance, day: int) -> str:
    """Return a time on that day, most often when people are at their screens."""
    hour = chance.pick_weighted(_HOURS)
    return f"{date(day)} {hour:02d}:{chance.between(0, 59):02d}:{chance.between(0, 59):02d}"


def order_times(chance: Chance, count: int) -> list[tuple[int, str]]:
    """Return day and time of that many orders: the shop grows, and sells most before Christmas."""
    days = weighted(range(DAYS), [_demand(day) for day in range(DAYS)])
    order_days = [chance.pick_weighted(days) for _ in range(count)]
    return sorted((day, moment(chance, day)) for day in order_days)


def _demand(day: int) -> float:
    date = _FIRST_DAY + dt.timedelta(days=day)
    return (1 + day / DAYS) * _MONTHS[date.month - 1] * _WEEKDAYS[date.weekday()]
