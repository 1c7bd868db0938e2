"""What is unusual in the figures of a night, table by table.

Six figures are watched: the rows of a table, how old its newest date is, and of each column the
share of nulls, how many values differ, and the bounds of numbers; of each reference the share of
rows that refer to nothing. Each is held against the nights before (``usual``), on a scale on which
a step of one size means the same for small and large tables.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from fluid_build.monitoring.figures import ColumnFigures, SourceFigures, TableFigures
from fluid_build.monitoring.usual import (
    FIRST_NIGHTS,
    Expected,
    Point,
    Tolerance,
    expected_steps,
    last_usual,
)
from fluid_build.text import as_sentence, counted


class Figure(StrEnum):
    """What is watched of a table."""

    ROWS = "rows"
    LATENESS = "lateness"
    NULLS = "nulls"
    DISTINCT = "distinct"
    LOW = "low"
    HIGH = "high"
    ORPHANS = "orphans"


class Alarm(BaseModel):
    """A figure that isn't as usual.

    ``of`` is the column, or the reference; "" for a figure of the whole table. ``value`` was
    expected between ``low`` and ``high``: rows and values are counted, lateness is in days, and
    nulls and orphans are shares of the rows.
    """

    model_config = ConfigDict(frozen=True)

    table: str
    figure: Figure
    of: str = ""
    value: float
    low: float
    high: float

    @property
    def watched(self) -> "Watched":
        """Return what it is about."""
        return Watched(self.table, self.figure, self.of)

    def __str__(self) -> str:
        """Return it in a sentence, with what was expected."""
        place = f"{self.table}.{self.of}" if self.of else self.table
        return as_sentence(f"{place}: {_WORDS[self.figure](self)}")


@dataclass(frozen=True, slots=True)
class Watched:
    """What is watched: a figure of a table, and of which column or reference."""

    table: str
    figure: Figure
    of: str = ""


@dataclass(frozen=True, slots=True)
class NightFigures:
    """The figures of one night, and what was unusual in them."""

    moment: datetime
    source: SourceFigures
    unusual: frozenset[Watched] = frozenset()


def unusual_figures(history: Sequence[NightFigures], tonight: NightFigures) -> tuple[Alarm, ...]:
    """Return what is unusual tonight, after the nights before, oldest first."""
    return tuple(
        alarm for name in tonight.source.tables for alarm in _of_table(name, history, tonight)
    )


def _of_table(name: str, history: Sequence[NightFigures], tonight: NightFigures) -> Iterator[Alarm]:
    nights = [
        (number, night.source.tables[name], night)
        for number, night in enumerate(history)
        if name in night.source.tables
    ]
    if len(nights) < FIRST_NIGHTS:
        return
    table = tonight.source.tables[name]
    for watched in _watched(name, table):
        value = _value(watched, table, tonight.moment)
        before = [
            (Point(number, night.moment.date(), known), watched in night.unusual)
            for number, figures, night in nights
            if (known := _value(watched, figures, night.moment)) is not None
        ]
        if value is None or not before:
            continue
        ranges = _expected(watched, before, tonight.moment, len(history), nights[-1][1], table)
        is_good = watched.figure in _ONLY_HIGH and any(value < range_.high for range_ in ranges)
        if ranges and not is_good and not any(range_.has(value) for range_ in ranges):
            yield _alarm(watched, value, ranges[0])


def _expected(
    watched: Watched,
    before: Sequence[tuple[Point, bool]],
    moment: datetime,
    tonight: int,
    last: TableFigures,
    table: TableFigures,
) -> list[Expected]:
    """Return the ranges that a figure may be in tonight; none while few nights are known."""
    points = [point for point, _ in before]
    steps = expected_steps(points, moment.date(), _tolerance(watched, last, table))
    known = [last_usual(before)]
    if watched.figure is Figure.ROWS:
        # Rows that came twice stay in the table, and tell nothing of those that come tonight.
        known += [points[-1]]
    return [step.after(point, tonight) for point in known for step in steps]


def _watched(name: str, table: TableFigures) -> Iterator[Watched]:
    yield Watched(name, Figure.ROWS)
    yield Watched(name, Figure.LATENESS)
    for column in table.columns:
        for figure in (Figure.NULLS, Figure.DISTINCT, Figure.LOW, Figure.HIGH):
            yield Watched(name, figure, column)
    for reference in table.orphans:
        yield Watched(name, Figure.ORPHANS, reference)


def _value(watched: Watched, table: TableFigures, moment: datetime) -> float | None:
    return _VALUES[watched.figure](table, watched.of, moment)


# The scale of each figure, and what it may always differ by.


def _rows(table: TableFigures, _of: str, _moment: datetime) -> float:
    return float(table.rows)


def _lateness(table: TableFigures, _of: str, moment: datetime) -> float | None:
    if table.newest is None:
        return None
    return (moment - table.newest).total_seconds() / 86_400


def _nulls(table: TableFigures, of: str, _moment: datetime) -> float | None:
    column = table.columns.get(of)
    return None if column is None or not table.rows else column.nulls / table.rows


def _distinct(table: TableFigures, of: str, _moment: datetime) -> float | None:
    """Return how many values differ, on a scale of ratios."""
    column = table.columns.get(of)
    return None if column is None else math.log1p(column.distinct)


def _low(table: TableFigures, of: str, _moment: datetime) -> float | None:
    return _bound(table.columns.get(of), lambda column: column.low)


def _high(table: TableFigures, of: str, _moment: datetime) -> float | None:
    return _bound(table.columns.get(of), lambda column: column.high)


def _bound(
    column: ColumnFigures | None, bound: Callable[[ColumnFigures], float | None]
) -> float | None:
    """Return a bound on a scale of ratios, which passes zero."""
    value = None if column is None else bound(column)
    return None if value is None else math.asinh(value)


def _orphans(table: TableFigures, of: str, _moment: datetime) -> float | None:
    orphans = table.orphans.get(of)
    return None if orphans is None or not table.rows else orphans / table.rows


_VALUES: Mapping[Figure, Callable[[TableFigures, str, datetime], float | None]] = {
    Figure.ROWS: _rows,
    Figure.LATENESS: _lateness,
    Figure.NULLS: _nulls,
    Figure.DISTINCT: _distinct,
    Figure.LOW: _low,
    Figure.HIGH: _high,
    Figure.ORPHANS: _orphans,
}

_ONLY_HIGH = frozenset({Figure.LATENESS, Figure.NULLS, Figure.ORPHANS})
"""Figures of which less is better."""
_FEW_ROWS = 5.0
"""Any table may get or lose some: a new country, a shop that closed."""
_SHARE_OF_ROWS = 0.02
"""Of a table that most nights leave as it is, so many rows may come or go at once."""
_SHARE_OF_STEP = 0.5
"""Half or one and a half of a usual night's rows is a quiet or a busy night."""
_LATE_DAYS = 0.5
_VALUES_RATIO = 0.3
"""On the scale of ratios: a third more values, or a quarter fewer."""
_BOUND_RATIO = 1.6
"""On the scale of ratios: five times as high. A wrong unit or point moves a bound further."""
_SHARE = 0.001
_SHARE_OF_NEW = 0.15
"""Of the rows that came, so many more may be null, or refer to nothing, than before."""
_DEVIATIONS = 4.0
"""Standard deviations of the count of such rows, if each has its chance by itself."""


def _tolerance(watched: Watched, before: TableFigures, table: TableFigures) -> Tolerance:
    match watched.figure:
        case Figure.ROWS:
            still = _SHARE_OF_ROWS * before.rows
            return Tolerance(_FEW_ROWS, relative=_SHARE_OF_STEP, still=still)
        case Figure.LATENESS:
            return Tolerance(_LATE_DAYS)
        case Figure.DISTINCT:
            return Tolerance(_VALUES_RATIO, may_stay=True)
        case Figure.LOW | Figure.HIGH:
            return Tolerance(_BOUND_RATIO, may_stay=True)
        case Figure.NULLS:
            known = before.columns.get(watched.of)
            return Tolerance(_by_chance(0 if known is None else known.nulls, before, table))
        case Figure.ORPHANS:
            return Tolerance(_by_chance(before.orphans.get(watched.of, 0), before, table))


def _by_chance(such: int, before: TableFigures, table: TableFigures) -> float:
    """Return by how much the share of ``such`` rows moves where rows come as those before."""
    came = abs(table.rows - before.rows)
    share = such / before.rows if before.rows else 0.0
    deviation = math.sqrt(share * (1 - share) * came + 1)
    most = (_SHARE_OF_NEW * came + _DEVIATIONS * deviation) / max(table.rows, 1)
    return max(_SHARE, most)


# What people are told.


def _count(value: float) -> str:
    return f"{max(value, 0):,.0f}"


def _decimal(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < _WHOLE else f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{100 * min(max(value, 0), 1):.3g}"


def _between(alarm: Alarm, form: Callable[[float], str]) -> str:
    low, high = form(alarm.low), form(alarm.high)
    return low if low == high else f"{low} to {high}"


_WHOLE = 1_000
"""From here on the digits after the point say nothing."""
_WORDS: Mapping[Figure, Callable[[Alarm], str]] = {
    Figure.ROWS: lambda alarm: (
        f"{counted(round(alarm.value), 'row')}, expected {_between(alarm, _count)}"
    ),
    Figure.LATENESS: lambda alarm: (
        f"the newest date is {alarm.value:.1f} days old, expected at most {max(alarm.high, 0):.1f}"
    ),
    Figure.NULLS: lambda alarm: (
        f"{_percent(alarm.value)}% of the rows are null, expected {_between(alarm, _percent)}%"
    ),
    Figure.DISTINCT: lambda alarm: (
        f"{counted(round(alarm.value), 'value')} differ, expected {_between(alarm, _count)}"
    ),
    Figure.LOW: lambda alarm: (
        f"the lowest value is {_decimal(alarm.value)}, expected {_between(alarm, _decimal)}"
    ),
    Figure.HIGH: lambda alarm: (
        f"the highest value is {_decimal(alarm.value)}, expected {_between(alarm, _decimal)}"
    ),
    Figure.ORPHANS: lambda alarm: (
        f"{_percent(alarm.value)}% of the rows refer to no row,"
        f" expected {_between(alarm, _percent)}%"
    ),
}
_BACK: Mapping[Figure, Callable[[float], float]] = {
    Figure.DISTINCT: math.expm1,
    Figure.LOW: math.sinh,
    Figure.HIGH: math.sinh,
}


def _alarm(watched: Watched, value: float, range_: Expected) -> Alarm:
    """Return an alarm, with figures as people know them."""
    back = _BACK.get(watched.figure, float)
    return Alarm(
        table=watched.table,
        figure=watched.figure,
        of=watched.of,
        value=back(value),
        low=back(range_.low),
        high=back(range_.high),
    )
