"""How likely a column or a table is an earlier one under another name.

A profile keeps figures of values and no rows, so this is a likelihood between 0 and 1, and its
reason in words; it settles nothing. What counts are the values (by the figures of both), then the
place, then the name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from fluid_build.changes.types import type_change
from fluid_build.profiling.names.similarity import phrase_similarity
from fluid_build.profiling.names.words import singular, words
from fluid_build.profiling.profile import ColumnProfile, TableProfile
from fluid_build.text import listed

WORTH_ASKING = 0.5
"""The likelihood from which a new name is asked about: equal values alone, or two of the three."""
_VALUES, _PLACE, _NAME = 0.55, 0.25, 0.2
"""What values, place and name count. Values are evidence; a place is kept by chance at the end of
a table, where most columns are added; names that differ were chosen to differ."""
_FEWEST_TELLING = 5
"""Different values from which equal figures say something: any two flags have equal bounds."""
_UNTOLD = 0.6
"""What the values of a column with fewer of them count, compared with those of others."""
_SAME_SHARE = 0.8
"""How alike two counts are that a day of loads lies between."""
_SAME_NULLS = 0.05
"""How far two shares of nulls may differ, for the same reason."""
_ALIKE = 0.6
"""From here, a part of a likeness is named as its reason."""
_TABLE_VALUES, _TABLE_COLUMNS, _TABLE_KEY, _TABLE_NAME = 0.45, 0.35, 0.1, 0.1
"""What counts for tables: names of columns are often the same in tables of codes (id, name), so
that their values count more."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How likely two are the same, and the reason in words."""

    likelihood: float
    reason: str


def column_likeness(
    tables: tuple[TableProfile, TableProfile], columns: tuple[ColumnProfile, ColumnProfile]
) -> Likeness:
    """Return how likely a column of the earlier table is one of today's under another name."""
    before, after = columns
    if type_change(before.type, after.type) == "changed":
        return Likeness(0.0, "it has another type")
    values, name = value_likeness(before, after), name_likeness(before.name, after.name)
    place = _place_likeness(tables, columns)
    reason = _reason({"its values": values, "its place": place, "its name": name})
    if values is None:
        # Without a value, place and name have to say it, and together they may.
        return Likeness(round(0.5 * place + 0.5 * name, 2), reason)
    if max(before.distinct, after.distinct) < _FEWEST_TELLING:
        values *= _UNTOLD
    return Likeness(round(_VALUES * values + _PLACE * place + _NAME * name, 2), reason)


def table_likeness(before: TableProfile, after: TableProfile) -> Likeness:
    """Return how likely a table is an earlier one under another name."""
    now = {column.name: column for column in after.columns}
    common = [
        (column, now[column.name])
        for column in before.columns
        if column.name in now and type_change(column.type, now[column.name].type) != "changed"
    ]
    columns = len(common) / (len(before.columns) + len(after.columns) - len(common) or 1)
    known = [value for pair in common if (value := value_likeness(*pair)) is not None]
    values = sum(known) / len(known) if known else None
    key = 1.0 if before.primary_key == after.primary_key else 0.0
    name = name_likeness(before.name, after.name)
    reason = _reason({"its values": values, "its columns": columns, "its name": name})
    if values is None:
        share = (columns, 0.7), (key, 0.15), (name, 0.15)
    else:
        share = (columns, _TABLE_COLUMNS), (key, _TABLE_KEY), (name, _TABLE_NAME)
    likelihood = sum(part * weight for part, weight in share) + _TABLE_VALUES * (values or 0.0)
    # Hardly a column in common is another table, whatever else is alike.
    return Likeness(round(likelihood if columns >= 0.5 else min(likelihood, 0.4), 2), reason)


def value_likeness(before: ColumnProfile, after: ColumnProfile) -> float | None:
    """Return how alike the values of two columns are by their figures; None without any value."""
    if before.rows == before.nulls or after.rows == after.nulls:
        return None if before.rows == before.nulls and after.rows == after.nulls else 0.0
    nulls = abs(before.nulls / before.rows - after.nulls / after.rows)
    compared: list[tuple[float, float]] = [
        (2.0, 1.0 if _ratio(before.distinct, after.distinct) >= _SAME_SHARE else 0.0),
        (1.0, 1.0 if nulls <= _SAME_NULLS else 0.0),
    ]
    if before.semantic_type and before.semantic_type == after.semantic_type:
        # That they differ says little: what a column means is read from its name too.
        compared.append((1.0, 1.0))
    if before.min is not None and after.min is not None:
        compared.append((4.0, _common_spread(before, after)))
    if _repeats(before) and _repeats(after):
        compared.append((2.0, _common_values(before, after)))
    if before.avg_length and after.avg_length:
        is_same = _ratio(before.avg_length, after.avg_length) >= 0.9
        compared.append((1.0, 1.0 if is_same else 0.0))
    weight = sum(weight for weight, _ in compared)
    return sum(weight * score for weight, score in compared) / weight


def name_likeness(before: str, after: str) -> float:
    """Return how alike two names are: by their words, the words in common, or their letters."""
    then, now = words(before), words(after)
    known = {singular(word) for word in then}, {singular(word) for word in now}
    shared = len(known[0] & known[1]) / (len(known[0] | known[1]) or 1)
    letters = SequenceMatcher(None, before.casefold(), after.casefold()).ratio()
    # A few letters in common are chance.
    return max(phrase_similarity(then, now), shared, letters if letters >= 0.75 else 0.0)


def _place_likeness(
    tables: tuple[TableProfile, TableProfile], columns: tuple[ColumnProfile, ColumnProfile]
) -> float:
    """Return whether a column follows and precedes the same columns, of those that both have."""
    in_both = {column.name for column in tables[0].columns} & {
        column.name for column in tables[1].columns
    }
    then, now = (
        _neighbours(table.columns, column.name, in_both)
        for table, column in zip(tables, columns, strict=True)
    )
    return sum(0.5 for before, after in zip(then, now, strict=True) if before == after)


def _neighbours(
    columns: Sequence[ColumnProfile], name: str, counted: set[str]
) -> tuple[str | None, str | None]:
    names = [column.name for column in columns if column.name == name or column.name in counted]
    place = names.index(name)
    previous = names[place - 1] if place else None
    return previous, names[place + 1] if place + 1 < len(names) else None


def _common_values(before: ColumnProfile, after: ColumnProfile) -> float:
    then = {value.value for value in before.top_values}
    now = {value.value for value in after.top_values}
    return len(then & now) / min(len(then), len(now))


def _common_spread(before: ColumnProfile, after: ColumnProfile) -> float:
    """Return the share of bounds and quantiles that are alike: numbers, within a tenth."""
    pairs = list(zip(_spread(before), _spread(after), strict=False))
    try:
        numbers = [(float(then), float(now)) for then, now in pairs]
    except ValueError:
        return sum(then == now for then, now in pairs) / len(pairs)
    tenth = (max(then for then, _ in numbers) - min(then for then, _ in numbers)) / 10
    return sum(abs(then - now) <= tenth for then, now in numbers) / len(numbers)


def _spread(column: ColumnProfile) -> list[str]:
    quantiles = column.quantiles
    between = (quantiles.p05, quantiles.p50, quantiles.p95) if quantiles else ()
    return [str(column.min), str(column.max), *between]


def _repeats(column: ColumnProfile) -> bool:
    """Return whether the most frequent values are any: those of an id are a few of many."""
    return bool(column.top_values) and column.distinct <= (column.rows - column.nulls) / 2


def _ratio(one: float, other: float) -> float:
    return min(one, other) / (max(one, other) or 1)


def _reason(parts: dict[str, float | None]) -> str:
    alike = [what for what, value in parts.items() if value is not None and value >= _ALIKE]
    if not alike:
        return "little is alike"
    return f"{listed(alike)} {'are' if len(alike) > 1 or alike[0].endswith('s') else 'is'} alike"
