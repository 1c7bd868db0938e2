"""Which columns of a table may be groups, or totals, of which columns of a more detailed one.

A table of totals is grouped by columns that the detailed table has, that the tables have to which
it refers, or that are parts of its dates (a month of days). Only names and figures of the profile
are compared here, so that few pairs of tables are left to be summed.
"""

import re
from collections import defaultdict
from collections.abc import Container, Hashable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from math import isnan
from typing import Literal

from fluid_build.lexicon import terms
from fluid_build.observations.observed_tables import ObservedTable, is_dated, value_type
from fluid_build.profiling.names.words import Words, words
from fluid_build.profiling.profile import ColumnProfile, ForeignKey, Profile, TableProfile
from fluid_build.sources.addresses.periods import period_of
from fluid_build.sources.sql import literal, quote

DatePart = Literal[
    "", "day", "week", "month", "quarter", "year", "month_number", "quarter_number", "year_number"
]
"""A part of a date: the day, the first day of a longer period, or its number. "" is all of it."""
_MOST_HOPS = 2
"""References from a detail to a column that it's grouped by: a line's product, its category."""
_MOST_REACHED = 10_000
"""Columns that a row leads to which are looked at, near ones first: ten references to tables of ten
lead to some two thousand. Fifty tables that all refer to each other lead to six million."""
_MOST_PARTS = 4
"""Parts of a detail that totals are compared with; the one that their name says comes first."""
_FEWEST_VALUES = 3
"""Distinct values from which on equal figures (distinct values, least, greatest) aren't chance."""
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")
_WHOLE_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMBERED_PARTS: Mapping[DatePart, tuple[str, float, float]] = {
    "year_number": ("year", 1000, 2999),
    "quarter_number": ("quarter", 1, 4),
    "month_number": ("month", 1, 12),
}
"""A word in the names of columns that hold the number of a part, and the bounds of its values."""
_DATED_PARTS: tuple[DatePart, ...] = ("day", "month", "week", "quarter", "year")


@dataclass(frozen=True, slots=True)
class Hop:
    """A reference that is followed from the detail to a table with more about it."""

    from_table: str
    from_columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DetailColumn:
    """A column of the detailed table, or of one that ``path`` leads to, or a ``part`` of a date."""

    column: str
    path: tuple[Hop, ...] = ()
    part: DatePart = ""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of a table that have one value in a column, such as those of one period."""

    column: str
    value: str

    @property
    def condition(self) -> str:
        """SQL that is true of these rows, where they're ``d``."""
        return f"CAST(d.{quote(self.column)} AS VARCHAR) = {literal(self.value)}"


@dataclass(frozen=True, slots=True)
class Reach:
    """A table with all columns that its rows lead to, and what its references lead to."""

    table: TableProfile
    columns: tuple[tuple[DetailColumn, ColumnProfile], ...]
    by_name: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Places in ``columns`` by the last word of a name."""
    targets: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """What a column of the table refers to, where it does so alone."""
    part: Part | None = None
    """The rows that count; None for all of them."""


def reaches(
    profile: Profile, tables: Mapping[str, ObservedTable], totals: Set[str]
) -> dict[str, Reach]:
    """Return for each table what its rows lead to, over references to unique keys.

    ``totals`` are tables that no reference is followed to.
    """
    hops: dict[str, list[Hop]] = {}
    for reference in profile.foreign_keys:
        if reference.implied or reference.to_table in totals:
            continue
        if _is_followed(profile, reference, tables):
            hops.setdefault(reference.from_table, []).append(_hop(reference))
    return {name: _reach(name, tables, hops) for name in tables}


class DetailIndex:
    """Tables by what a table of totals must find in its details, whatever it computes.

    A column that refers to something is grouped by what refers to the same, and a text is among the
    texts of a column with its name or its figures.
    """

    def __init__(self, reached: Mapping[str, Reach]) -> None:
        self._having: dict[Hashable, set[str]] = defaultdict(set)
        for name, reach in reached.items():
            for target in reach.targets.values():
                self._having["target", target].add(name)
            for word in reach.by_name:
                self._having["name", word].add(name)
            for column in reach.table.columns:
                self._having["figures", _figures(column)].add(name)

    def details(self, coarse: Reach) -> Container[str]:
        """Return the tables that a table may sum up by its references and texts."""
        needed: list[tuple[set[str], set[str]]] = []
        for column in coarse.table.columns:
            target = coarse.targets.get(column.name)
            if target is not None:
                needed.append((self._having.get(("target", target), set()), set()))
            elif not is_number(column) and not is_dated(column):
                word, figures = _last_word(column.name), _figures(column)
                named = self._having.get(("name", word), set())
                needed.append((named, self._having.get(("figures", figures), set())))
        if not needed:
            return set().union(*self._having.values())
        fewest = min(needed, key=lambda found: len(found[0]) + len(found[1]))
        return {
            name
            for name in chain(*fewest)
            if all(name in named or name in equal for named, equal in needed)
        }


def parts(coarse: Reach, detail: Reach) -> list[Reach]:
    """Return the parts of a detail that totals may be of, those that their own name says first.

    ``sales_1997_by_month`` adds up those sales that have 1997 in ``period``, or in ``year``. Totals
    that don't say it may be of any one period, where a column holds nothing but a few.
    """
    found = []
    for column in detail.table.columns:
        counts = column.top_values
        is_counted = column.sample is None and len(counts) == column.distinct > 1
        if not is_counted or not (is_whole_number(column) or value_type(column) == "VARCHAR"):
            continue
        of_periods = all(_is_period(count.value) for count in counts)
        for count in counts:
            is_named = _says(coarse.table.name, count.value)
            if is_named or of_periods:
                part = Part(column.name, count.value)
                found.append((not is_named, _of_part(detail, part, count.count)))
    ranked = sorted(found, key=lambda pair: pair[0])
    return [reach for _, reach in ranked[:_MOST_PARTS]]


@lru_cache(maxsize=65_536)
def _is_period(value: str) -> bool:
    period = period_of(value)
    return period is not None and not period.table


def _says(name: str, value: str) -> bool:
    """Return whether a value is in a name, as one of the words that ``_`` parts, or several."""
    around = rf"(?<![^\W_]){re.escape(value)}(?![^\W_])"
    return value.lower() in name.lower() and bool(re.search(around, name, re.IGNORECASE))


def _of_part(detail: Reach, part: Part, rows: int) -> Reach:
    """Return what some rows of a table lead to; nothing is known of how far their values go."""
    loose = {"min": None, "max": None, "distinct_exact": False}
    columns = tuple(
        (found, profiled if found.path else profiled.model_copy(update=loose))
        for found, profiled in detail.columns
    )
    table = detail.table.model_copy(update={"rows": rows})
    return replace(detail, table=table, columns=columns, part=part)


def is_number(column: ColumnProfile) -> bool:
    """Return whether a column's values are numbers, as measured."""
    return value_type(column).startswith(_NUMBERS)


def is_whole_number(column: ColumnProfile) -> bool:
    """Return whether a column's values are whole numbers, by their type."""
    return value_type(column).startswith(_WHOLE_NUMBERS)


def number_of(value: str | None) -> float:
    """Return a bound of the profile as a number; NaN where it isn't one."""
    try:
        return float(value) if value is not None else float("nan")
    except ValueError:
        return float("nan")


def group_options(coarse: Reach, column: ColumnProfile, detail: Reach) -> list[DetailColumn]:
    """Return what a column of totals may group the detail by, the likeliest first.

    Sales by product and month: ``product_id`` groups by what refers to the same product, whatever
    it's called there, ``category`` by the product's column of that name, and only what has no
    column anywhere is a part of a date.
    """
    target = coarse.targets.get(column.name)
    if target is not None:
        return [DetailColumn(name) for name, other in detail.targets.items() if other == target]
    own_name = words(column.name)
    options: dict[DetailColumn, tuple[bool, ...]] = {}
    for place in detail.by_name.get(_last_word(column.name), ()):
        found, profiled = detail.columns[place]
        if _are_alike(own_name, words(found.column)) and _may_be_group(column, profiled, found):
            options[found] = (words(found.column) != own_name, bool(found.path))
    for found, profiled in detail.columns:
        if not found.path and found not in options and _has_equal_figures(column, profiled):
            options[found] = (True, True)
    ranked = sorted(options, key=lambda option: options[option])
    usable = [found for found in ranked if not _leads_to(found, coarse.table.name)]
    return usable or list(_date_parts(column, detail))


def _reach(name: str, tables: Mapping[str, ObservedTable], hops: Mapping[str, list[Hop]]) -> Reach:
    table = tables[name].profile
    columns = [(DetailColumn(column.name), column) for column in table.columns]
    paths: list[tuple[Hop, ...]] = [(hop,) for hop in hops.get(name, ())]
    for path in paths:
        if len(columns) >= _MOST_REACHED:
            break
        end = path[-1].to_table
        for column in tables[end].profile.columns:
            columns.append((DetailColumn(column.name, path), column))
        if len(path) < _MOST_HOPS:
            paths.extend((*path, hop) for hop in hops.get(end, ()) if hop.to_table != name)
    by_name: dict[str, list[int]] = {}
    for place, (_, column) in enumerate(columns):
        by_name.setdefault(_last_word(column.name), []).append(place)
    return Reach(
        table,
        tuple(columns),
        {word: tuple(places) for word, places in by_name.items()},
        {
            hop.from_columns[0]: (hop.to_table, hop.to_columns)
            for hop in hops.get(name, ())
            if len(hop.from_columns) == 1
        },
    )


def _is_followed(
    profile: Profile, reference: ForeignKey, tables: Mapping[str, ObservedTable]
) -> bool:
    """Return whether a reference leads to at most one row of another table that has rows."""
    if reference.from_table == reference.to_table or reference.to_table not in tables:
        return False
    target = set(reference.to_columns)
    return any(set(key) == target for key in profile.table(reference.to_table).candidate_keys)


def _hop(reference: ForeignKey) -> Hop:
    return Hop(
        reference.from_table, reference.from_columns, reference.to_table, reference.to_columns
    )


def _last_word(name: str) -> str:
    parts = words(name)
    return parts[-1] if parts else name.casefold()


def _are_alike(name: Words, other: Words) -> bool:
    """Return whether one name ends with the other, and says more than that it's a key.

    ``region`` groups by ``sales_region``; ``id`` ends every other column and says nothing.
    """
    shorter, longer = sorted((name, other), key=len)
    return longer[-len(shorter) :] == shorter and not set(shorter) <= terms("key_word")


def _leads_to(found: DetailColumn, table: str) -> bool:
    return any(hop.to_table == table for hop in found.path)


def _may_be_group(column: ColumnProfile, profiled: ColumnProfile, found: DetailColumn) -> bool:
    """Return whether the values of a column may be those of another that is grouped by."""
    if is_number(column) != is_number(profiled) or is_dated(column) != is_dated(profiled):
        return False
    if not _lies_within(column, profiled):
        return False
    if found.path:
        # The detail may not use every row of what it refers to: some products never sell.
        return column.distinct <= profiled.distinct or not profiled.distinct_exact
    are_exact = column.distinct_exact and profiled.distinct_exact
    return column.distinct == profiled.distinct or not are_exact


def _lies_within(column: ColumnProfile, profiled: ColumnProfile) -> bool:
    """Return whether the bounds allow that each text of a column is among those of another."""
    bounds = (column.min, column.max, profiled.min, profiled.max)
    if {value_type(column), value_type(profiled)} != {"VARCHAR"} or None in bounds:
        return True
    least, greatest, low, high = map(str, bounds)
    return low <= least <= greatest <= high


def _has_equal_figures(column: ColumnProfile, profiled: ColumnProfile) -> bool:
    is_telling = column.distinct >= _FEWEST_VALUES and column.min is not None
    return is_telling and _figures(column) == _figures(profiled)


def _figures(column: ColumnProfile) -> Hashable:
    return column.distinct, column.min, column.max, bool(column.nulls)


def _date_parts(column: ColumnProfile, detail: Reach) -> Iterator[DetailColumn]:
    """Return the parts of the detail's dates that a column may hold."""
    parts = [*_parts_in(column)]
    for found, profiled in detail.columns if parts else ():
        if is_dated(profiled) and len(found.path) < _MOST_HOPS:
            yield from (DetailColumn(found.column, found.path, part) for part in parts)


def _parts_in(column: ColumnProfile) -> Iterator[DatePart]:
    if is_dated(column):
        yield from _DATED_PARTS
    elif is_number(column):
        parts = words(column.name)
        for part, (word, low, high) in _NUMBERED_PARTS.items():
            if word in parts and low <= number_of(column.min) <= number_of(column.max) <= high:
                yield part


AggregateFunction = Literal["group", "sum", "avg", "min", "max", "count", "count_distinct"]
_FEWEST_TOTALS = 3
"""Distinct values that a total must have. With fewer, it's a flag or a count by accident."""
_MOST_ADDENDS = 16
"""Columns of the detail that each total is compared with; more make a query of hundreds of sums."""
_FUNCTIONS_OF_NUMBERS: tuple[AggregateFunction, ...] = ("sum", "avg", "min", "max")
_ROUNDED: tuple[AggregateFunction, ...] = ("sum", "avg")
_MOST_OPTIONS = 4
"""Columns that a value which is the same in a whole group is compared with: the likeliest come
first, and each is a column of the query."""


@dataclass(frozen=True, slots=True)
class AggregateColumn:
    """How a column of totals is made of the details; a count of rows has no ``of``.

    ``decimals`` are the digits behind the point that the total has; None where it isn't rounded.
    """

    column: str
    function: AggregateFunction
    of: DetailColumn | None = None
    decimals: int | None = None


def is_float(column: ColumnProfile) -> bool:
    """Return whether a column's values are floating point numbers, as measured."""
    return value_type(column).startswith(("FLOAT", "DOUBLE"))


def may_be_total(coarse: Reach, column: ColumnProfile) -> bool:
    """Return whether a column may add something up: a number that isn't a key or a reference."""
    return (
        is_number(column)
        and column.name not in coarse.targets
        and coarse.table.primary_key != (column.name,)
        and column.distinct >= _FEWEST_TOTALS
        and not set(words(column.name)[-1:]) & terms("key_word")
    )


def computations(
    column: ColumnProfile, coarse: Reach, detail: Reach, digits: int | None
) -> Iterator[AggregateColumn]:
    """Return the ways in which a column may be computed, the likeliest first."""
    if is_number(column) and column.name not in coarse.targets:
        for of, profiled in _addends(column, detail):
            for function in _FUNCTIONS_OF_NUMBERS:
                # An average of floats that isn't rounded depends on the order of the rows.
                if function == "avg" and digits is None and is_float(profiled):
                    continue
                if _is_within_bounds(function, column, profiled, detail.table.rows):
                    yield AggregateColumn(column.name, function, of, digits)
    if is_whole_number(column) and column.name not in coarse.targets:
        if 1 <= number_of(column.min) <= number_of(column.max) <= detail.table.rows:
            yield AggregateColumn(column.name, "count")
        for name in detail.targets:
            if number_of(column.max) <= detail.table.column(name).distinct:
                yield AggregateColumn(column.name, "count_distinct", DetailColumn(name))
    for of in group_options(coarse, column, detail)[:_MOST_OPTIONS]:
        yield AggregateColumn(column.name, "min", of)
        if is_dated(column):
            yield AggregateColumn(column.name, "max", of)


def _addends(column: ColumnProfile, detail: Reach) -> list[tuple[DetailColumn, ColumnProfile]]:
    """Return the numbers of the details that a column may be a total of, by likeness of names."""
    name = set(words(column.name))
    numbers = [
        (of, profiled)
        for of, profiled in detail.columns
        if not of.path
        and is_number(profiled)
        and of.column not in detail.targets
        and not set(words(of.column)[-1:]) & terms("key_word")
    ]
    return sorted(numbers, key=lambda pair: -len(name & set(words(pair[0].column))))[:_MOST_ADDENDS]


def _is_within_bounds(
    function: AggregateFunction, total: ColumnProfile, addend: ColumnProfile, rows: int
) -> bool:
    """Return whether the bounds of the totals don't rule out that they're computed so.

    No sum of prices from 1 to 20 is -5, and none of 100 rows is 5,000: most pairs of columns end
    here, without a query.
    """
    low, high = number_of(addend.min), number_of(addend.max)
    least, greatest = number_of(total.min), number_of(total.max)
    if any(map(isnan, (low, high, least, greatest))):
        return True
    # Totals may be rounded.
    slack = 1e-6 * max(abs(low), abs(high)) + 1
    if function == "min":
        return abs(least - low) <= slack and greatest <= high + slack
    if function == "max":
        return abs(greatest - high) <= slack and least >= low - slack
    if function == "avg":
        return low - slack <= least and greatest <= high + slack
    if low >= 0:
        return high - slack <= greatest <= high * rows + slack and least >= low - slack
    return True


def is_addend(coarse: Reach, column: ColumnProfile, detail: Reach) -> bool:
    """Return whether a column has the name of a number of the detail, and so is its total.

    ``amount`` of the days isn't what the months are grouped by, though both have such a column. A
    whole number of that name may be: the ``year`` of both.
    """
    if not may_be_total(coarse, column):
        return False
    return any(
        not found.path
        and is_number(profiled)
        and found.column not in detail.targets
        and words(found.column) == words(column.name)
        and not is_whole_number(profiled)
        for found, profiled in detail.columns
    )


def computed_sql(
    function: AggregateFunction, value: str, decimals: int | None, *, is_exact: bool
) -> str:
    """Return SQL for an aggregation of a value, rounded.

    A sum or average of floating point numbers depends on their order, unless they're added without
    rounding errors (``fsum``) and the result is rounded.
    """
    if function == "group":
        return value
    if function == "count":
        return "count(*)"
    if function == "count_distinct":
        return f"count(DISTINCT {value})"
    sql = f"{function}({value})"
    if not is_exact and function == "sum":
        sql = f"fsum({value})"
    if not is_exact and function == "avg":
        sql = f"fsum({value}) / count({value})"
    return f"round({sql}, {decimals})" if decimals is not None and function in _ROUNDED else sql
