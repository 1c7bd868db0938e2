"""Numbers of a table that measures its members period by period, which stay about what they were.

What was there at the end of a month is there when the next one begins, and the stock of a day is
about that of the day before. What came in on a day says nothing of the next one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import duckdb

from fluid_build.observations.numeric_columns import NumericColumn, numeric_columns
from fluid_build.observations.observed_tables import ObservedTable, is_dated, unless_unreadable
from fluid_build.profiling.profile import ForeignKey
from fluid_build.sources.sql import quote

_MOST_NUMBERS = 8
"""Numbers of a table that are compared, each with each other: 56 pairs in one query."""
_FEWEST_VALUES = 5
"""Distinct values; a flag or a rank stays the same without being a level."""
_FEWEST_STEPS = 20
"""Steps from one period to the next that must show it; in fewer, numbers agree by accident."""
_MATCHING = 0.95
"""Share of steps in which what ended a period must begin the next; some rows were corrected."""
_MOST_VARIATION = 0.3
"""Squared change from period to period, by the squared distance from the member's mean. It's about
2 where periods have nothing to do with each other (von Neumann 1941), and 0.3 where each explains
nine tenths of the next one's variation."""
_LARGEST_CHANGE = 0.15
"""Average change from period to period, by the average of the number: sales of a season follow
each other too, but double in it."""
_MOST_ROWS = 300_000
"""Rows that are put in order; of a larger table only some members are."""
_FLOAT_ERROR = 1e-6


@dataclass(frozen=True, slots=True)
class PeriodLevel:
    """A number that a period begins with as the one before ended.

    With ``carried_from``, another column's value of the period before is the number, in ``matches``
    of ``steps`` from one ``period`` of a member to the next. Without, it differs little from its
    own value before. ``members`` and the period identify a row.
    """

    table: str
    column: str
    members: tuple[str, ...]
    period: str
    steps: int
    carried_from: str = ""
    matches: int = 0


def period_levels(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[PeriodLevel]:
    """Return the levels of tables with a row for each member and period, a query for each."""
    for table in tables:
        key = _key_with_period(table)
        numbers = [
            number
            for number in numeric_columns(table, foreign_keys)
            if number.distinct >= _FEWEST_VALUES and number.name not in key
        ][:_MOST_NUMBERS]
        if key and numbers and table.profile.rows >= _FEWEST_STEPS:
            with unless_unreadable():
                yield from _levels(connection, table, key, numbers)


def _key_with_period(table: ObservedTable) -> tuple[str, ...]:
    """Return a key of members and one date, the date last; () where there is none."""
    keys = [table.profile.primary_key or (), *table.profile.candidate_keys]
    for key in keys:
        dates = [name for name in key if is_dated(table.profile.column(name))]
        if len(dates) == 1 and len(key) > 1:
            return (*(name for name in key if name not in dates), *dates)
    return ()


def _levels(
    connection: duckdb.DuckDBPyConnection,
    table: ObservedTable,
    key: Sequence[str],
    numbers: Sequence[NumericColumn],
) -> Iterator[PeriodLevel]:
    pairs = list(permutations(range(len(numbers)), 2))
    row = connection.execute(_query(table, key, numbers, pairs)).fetchone() or ()
    carried: set[int] = set()

    def level(index: int, steps: float) -> PeriodLevel:
        return PeriodLevel(
            table.profile.name, numbers[index].name, tuple(key[:-1]), key[-1], int(steps)
        )

    for (opening, closing), (steps, matches) in zip(pairs, _by(2, row), strict=False):
        if steps >= _FEWEST_STEPS and matches >= _MATCHING * steps:
            carried |= {opening, closing}
            yield replace(
                level(opening, steps), carried_from=numbers[closing].name, matches=int(matches)
            )
    figures = _by(5, row[2 * len(pairs) :])
    for index, (steps, squared, variance, change, size) in enumerate(figures):
        if index in carried or steps < _FEWEST_STEPS or not variance:
            continue
        if squared <= _MOST_VARIATION * variance and change <= _LARGEST_CHANGE * size:
            yield level(index, steps)


def _by(size: int, row: Sequence[float]) -> list[Sequence[float]]:
    """Return the figures of a row in groups of a size, as many as are whole."""
    return [row[start : start + size] for start in range(0, len(row) - size + 1, size)]


def _query(
    table: ObservedTable,
    key: Sequence[str],
    numbers: Sequence[NumericColumn],
    pairs: Sequence[tuple[int, int]],
) -> str:
    """Return a query for the figures of each pair, and then of each number."""
    *members, period = key
    member = ", ".join(quote(table.aliases[name]) for name in members)
    parts = 1 + table.profile.rows // _MOST_ROWS
    some = f" WHERE hash({member}) % {parts} = 0" if parts > 1 else ""
    values = ", ".join(
        f"{number.sql} AS n{index}, lag({number.sql}) OVER w AS b{index},"
        f" avg({number.sql}) OVER (PARTITION BY {member}) AS a{index}"
        for index, number in enumerate(numbers)
    )
    # Where nothing moved in the period before, its end is its beginning.
    figures = [
        f"count(*) FILTER (WHERE {moved}), count(*) FILTER (WHERE {moved} AND"
        f" abs(n{opening} - b{closing}) <= {2 * numbers[opening].rounding + _FLOAT_ERROR})"
        for opening, closing in pairs
        for moved in [f"n{opening} IS NOT NULL AND b{closing} <> b{opening}"]
    ]
    figures += [
        f"count(n{i} - b{i}), coalesce(sum((n{i} - b{i}) ** 2), 0),"
        f" coalesce(sum((n{i} - a{i}) ** 2) FILTER (WHERE b{i} IS NOT NULL), 0),"
        f" coalesce(avg(abs(n{i} - b{i})), 0), coalesce(avg(abs(n{i})), 0)"
        for i in range(len(numbers))
    ]
    return (
        f"WITH steps AS (SELECT {values} FROM {table.relation}{some}"
        f" WINDOW w AS (PARTITION BY {member} ORDER BY {table.value(period)}))"
        f" SELECT {', '.join(figures)} FROM steps"
    )
