"""Columns that are computed from others of the same row: a product or a sum of two of them.

A product shows which of three numbers is an amount: a line's total is a price times a quantity,
perhaps less a discount. Formulas are found on some rows of a table, and then counted over all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import duckdb

from fluid_build.observations.numeric_columns import NumericColumn, numeric_columns
from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable
from fluid_build.profiling.profile import ForeignKey

Operation = Literal["product", "sum"]
Row: TypeAlias = Mapping[str, float | None]
"""The numbers of a row, by column."""

_MOST_COLUMNS = 24
"""Numbers of a table that are tried with each other; wider tables are mostly questionnaires."""
_TRIED_ROWS = 200
"""Rows that formulas are tried on: those with the least hash of their numbers, since a server may
return its rows in another order each time."""
_MOST_MISSES = 2
"""Of the tried rows, those that may contradict: one in a hundred."""
_FEWEST_ROWS = 10
"""Rows that must tell a formula from chance."""
_FEWEST_VALUES = {"product": 10, "sum": 5}
"""Distinct results; small whole numbers are products of others by accident."""
_MOST_FORMULAS = 16
"""Formulas of a table that one query counts."""
_MATCHING = 0.99
"""Share of rows that must follow a formula; somebody may have corrected a few by hand."""
_RELATIVE_ERROR = 1e-6
"""Part of a value that floating point or a conversion may have changed."""
_LARGEST_ERROR = 0.02
"""Part of a value that rounding may be; where it's more, any small result would match."""
_SMALLEST_PART = 1e-3
"""Part of a sum that each operand must be, for it to make a difference."""


@dataclass(frozen=True, slots=True)
class RowFormula:
    """A column that is the product or the sum of two others, in the same row.

    With a ``discount``, a share, it's the product less that share of it. ``matches`` of ``rows``
    follow the formula; rows that don't tell it from chance (an operand is zero) aren't counted.
    """

    table: str
    result: str
    operation: Operation
    operands: tuple[str, str]
    discount: str
    rows: int
    matches: int


@dataclass(frozen=True, slots=True)
class _Operands:
    """Columns to compute a value of."""

    operation: Operation
    left: NumericColumn
    right: NumericColumn
    discount: NumericColumn | None = None


def row_formulas(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[RowFormula]:
    """Return the formulas of all tables; at most two queries for each table."""
    for table in tables:
        columns = numeric_columns(table, foreign_keys)[:_MOST_COLUMNS]
        if len(columns) > 2 and table.profile.rows >= _FEWEST_ROWS:
            with unless_unreadable():
                yield from _formulas(connection, table, columns)


def _formulas(
    connection: duckdb.DuckDBPyConnection, table: ObservedTable, columns: Sequence[NumericColumn]
) -> Iterator[RowFormula]:
    values = ", ".join(column.sql for column in columns)
    query = f"SELECT {values} FROM {table.relation} ORDER BY hash({values}) LIMIT {_TRIED_ROWS}"
    names = [column.name for column in columns]
    rows = [dict(zip(names, row, strict=True)) for row in connection.execute(query).fetchall()]
    tried: list[tuple[NumericColumn, _Operands]] = []
    for operands in _operands(columns):
        # A product that holds without a discount holds with one that is always zero, too.
        plain = {result for result, other in tried if _is_plain(operands, other)}
        results = _matching_results(operands, columns, rows)
        tried += [(result, operands) for result in results if result not in plain]
    if tried:
        yield from _count(connection, table, tried[:_MOST_FORMULAS])


def _operands(columns: Sequence[NumericColumn]) -> Iterator[_Operands]:
    shares = [column for column in columns if column.is_share]
    for left, right in combinations(columns, 2):
        yield _Operands("product", left, right)
        yield _Operands("sum", left, right)
        for share in shares:
            if share not in {left, right}:
                yield _Operands("product", left, right, share)


def _is_plain(operands: _Operands, other: _Operands) -> bool:
    """Return whether the others are the same product without a discount."""
    return operands.discount is not None and other == replace(operands, discount=None)


def _matching_results(
    operands: _Operands, columns: Sequence[NumericColumn], rows: Sequence[Row]
) -> list[NumericColumn]:
    """Return the columns that are what the operands give, but for a few rows.

    Of whole numbers from 1 to 3, any column is the product of two others somewhere: a result must
    have many values, and rows in which a factor is 1 aren't counted.
    """
    least = _FEWEST_VALUES[operands.operation]
    used = {operands.left.name, operands.right.name}
    used |= {operands.discount.name} if operands.discount else set()
    misses = {c: 0 for c in columns if c.name not in used and c.distinct >= least}
    telling = 0
    for row in rows:
        computed = _compute(operands, row)
        if computed is None:
            continue
        value, error = computed
        for result in tuple(misses):
            actual = row[result.name]
            if actual is not None and abs(actual - value) > error + result.rounding:
                misses[result] += 1
                if misses[result] > _MOST_MISSES:
                    del misses[result]
        if not misses:
            return []
        telling += 1
    return list(misses) if telling >= min(_FEWEST_ROWS, len(rows)) else []


def _compute(operands: _Operands, row: Row) -> tuple[float, float] | None:
    """Return the value of the operands and its error; None where it says nothing."""
    left, right = row[operands.left.name], row[operands.right.name]
    if left is None or right is None or not left or not right:
        return None
    left_error, right_error = operands.left.rounding, operands.right.rounding
    if operands.operation == "sum":
        value = left + right
        error = left_error + right_error + _RELATIVE_ERROR * abs(value)
        if min(abs(left), abs(right)) < _SMALLEST_PART * abs(value):
            return None
    else:
        share = row[operands.discount.name] if operands.discount else 0.0
        if left == 1 or right == 1 or share is None or not 0 <= share < 1:
            return None
        value = left * right * (1 - share)
        error = left_error * abs(right) + right_error * abs(left) + _RELATIVE_ERROR * abs(value)
    return (value, error) if error < _LARGEST_ERROR * abs(value) else None


def _count(
    connection: duckdb.DuckDBPyConnection,
    table: ObservedTable,
    formulas: Sequence[tuple[NumericColumn, _Operands]],
) -> Iterator[RowFormula]:
    """Return the formulas that hold in the whole table."""
    counts = ", ".join(
        f"count(*) FILTER (WHERE {telling}), count(*) FILTER (WHERE {telling} AND {matching})"
        for telling, matching in (_conditions(*formula) for formula in formulas)
    )
    row = connection.execute(f"SELECT {counts} FROM {table.relation}").fetchone() or ()
    for (result, operands), rows, matches in zip(formulas, row[::2], row[1::2], strict=True):
        if rows >= _FEWEST_ROWS and matches >= _MATCHING * rows:
            yield RowFormula(
                table=table.profile.name,
                result=result.name,
                operation=operands.operation,
                operands=(operands.left.name, operands.right.name),
                discount=operands.discount.name if operands.discount else "",
                rows=rows,
                matches=matches,
            )


def _conditions(result: NumericColumn, operands: _Operands) -> tuple[str, str]:
    """Return SQL for whether a row tells, and whether it follows the formula, as ``_compute``."""
    left, right = operands.left.sql, operands.right.sql
    left_error, right_error = operands.left.rounding, operands.right.rounding
    telling = f"{left} <> 0 AND {right} <> 0 AND {result.sql} IS NOT NULL"
    if operands.operation == "sum":
        value = f"({left} + {right})"
        error = f"{left_error + right_error}"
        telling += f" AND least(abs({left}), abs({right})) >= {_SMALLEST_PART} * abs({value})"
    else:
        value = f"({left} * {right})"
        error = f"{left_error} * abs({right}) + {right_error} * abs({left})"
        telling += f" AND {left} <> 1 AND {right} <> 1"
    if operands.discount is not None:
        share = operands.discount.sql
        value = f"({value} * (1 - {share}))"
        telling += f" AND {share} >= 0 AND {share} < 1"
    error = f"({error} + {_RELATIVE_ERROR} * abs({value}))"
    telling += f" AND {error} < {_LARGEST_ERROR} * abs({value})"
    return telling, f"abs({value} - {result.sql}) <= {error} + {result.rounding}"
