"""How a column of totals may be computed of detailed rows, by names and figures of the profile."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Literal

from fluid_build.lexicon import terms
from fluid_build.observations.aggregate_candidates import (
    DetailColumn,
    Reach,
    group_options,
    is_dated,
    is_number,
    is_whole_number,
    number_of,
)
from fluid_build.observations.observed_tables import value_type
from fluid_build.profiling.names.words import words
from fluid_build.profiling.profile import ColumnProfile

AggregateFunction = Literal["group", "sum", "avg", "min", "max", "count", "count_distinct"]
_FEWEST_TOTALS = 3
"""Distinct values that a total must have. With fewer, it's a flag or a count by accident."""
_MOST_ADDENDS = 16
"""Columns of the detail that each total is compared with; more make a query of hundreds of sums."""
_FUNCTIONS_OF_NUMBERS: tuple[AggregateFunction, ...] = ("sum", "avg", "min", "max")
_ROUNDED: tuple[AggregateFunction, ...] = ("sum", "avg")
_MOST_OPTIONS = 4
"""Columns that a value which is the same in a whole group is compared with."""


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
    """Return whether the bounds of the totals don't rule out that they're computed so."""
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
    """Return whether a column has the name of a number of the detail, and so is its total."""
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
