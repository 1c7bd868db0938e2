"""Which columns of a table may be groups of which columns of a more detailed one.

A table of totals is grouped by columns that the detailed table has, that the tables have to which
it refers, or that are parts of its dates (a month of days). Only names and figures of the profile
are compared here, so that few pairs of tables are left to be summed.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Literal

from fluid_build.lexicon import terms
from fluid_build.observations.observed_tables import ObservedTable, value_type
from fluid_build.profiling.names.words import Words, words
from fluid_build.profiling.profile import ColumnProfile, ForeignKey, Profile, TableProfile

DatePart = Literal[
    "",
    "day",
    "week",
    "month",
    "quarter",
    "year",
    "month_number",
    "quarter_number",
    "year_number",
]
"""A part of a date: the day, the first day of a longer period, or its number. "" is all of it."""
_MOST_HOPS = 2
"""References from a detail to a column that it's grouped by: a line's product, its category."""
_MOST_REACHED = 10_000
"""Columns that a row leads to which are looked at, near ones first: ten references to tables of ten
lead to some two thousand. Fifty tables that all refer to each other lead to six million."""
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
class Reach:
    """A table with all columns that its rows lead to, and what its references lead to."""

    table: TableProfile
    columns: tuple[tuple[DetailColumn, ColumnProfile], ...]
    by_name: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Places in ``columns`` by the last word of a name."""
    targets: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """What a column of the table refers to, where it does so alone."""


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


def is_number(column: ColumnProfile) -> bool:
    """Return whether a column's values are numbers, as measured."""
    return value_type(column).startswith(_NUMBERS)


def is_whole_number(column: ColumnProfile) -> bool:
    """Return whether a column's values are whole numbers, by their type."""
    return value_type(column).startswith(_WHOLE_NUMBERS)


def is_dated(column: ColumnProfile) -> bool:
    """Return whether a column's values are dates or timestamps, as measured."""
    return value_type(column).startswith(("DATE", "TIMESTAMP"))


def number_of(value: str | None) -> float:
    """Return a bound of the profile as a number; NaN where it isn't one."""
    try:
        return float(value) if value is not None else float("nan")
    except ValueError:
        return float("nan")


def group_options(coarse: Reach, column: ColumnProfile, detail: Reach) -> list[DetailColumn]:
    """Return what a column of totals may group the detail by, the likeliest first."""
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
    """Return whether one name ends with the other, and says more than that it's a key."""
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
        # The detail may not use every row of what it refers to.
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
    figures, of_detail = ((c.distinct, c.min, c.max, bool(c.nulls)) for c in (column, profiled))
    return column.distinct >= _FEWEST_VALUES and column.min is not None and figures == of_detail


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
