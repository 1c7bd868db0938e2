"""Tables of several files, each for a period: whether their rows say the period themselves.

Where they don't, the period in the file's name is a column. Without it nobody could say which file
a row is from, and of monthly copies of a whole table every row would be there twelve times.
"""

from collections.abc import Sequence

import duckdb

from fluid_build.sources.addresses.periods import PeriodColumn, period_of
from fluid_build.sources.base import Column, Table
from fluid_build.sources.files.layout import TableFiles, stem
from fluid_build.sources.sql import literal, quote

_MOMENTS = ("DATE", "TIMESTAMP")


def joined_note(files: TableFiles, column: str) -> str:
    """Return the note on files that are one table, and on the column that says which is which."""
    names = [path.name for path in files.paths]
    return (
        f"{len(names):,} files whose names differ only in a period ({names[0]} to {names[-1]}) are"
        f" one table. Column `{column}` says which period a row is from. To read each file as a"
        " table, pass a glob, such as 'folder/*'."
    )


def date_of_period(
    connection: duckdb.DuckDBPyConnection, files: TableFiles, table: Table, column: PeriodColumn
) -> Column | None:
    """Return the first date column whose value is in the file's period, in every row.

    Where there is one, the rows say themselves which file they are from. Raises duckdb.Error where
    the files can't be read.
    """
    dates = [each for each in table.columns if each.type.startswith(_MOMENTS)]
    if not dates:
        return None
    tests = ", ".join(
        f"bool_and(coalesce(CAST({quote(date.alias)} AS TIMESTAMP) >= period.first"
        f" AND CAST({quote(date.alias)} AS TIMESTAMP) < period.next, false))"
        for date in dates
    )
    row = connection.execute(
        f"SELECT {tests} FROM {table.relation} AS t LEFT JOIN ({_periods(files, column)}) AS period"
        f" ON t.{quote(column.name)} = period.text"
    ).fetchone()
    return next((date for date, holds in zip(dates, row or (), strict=False) if holds), None)


def _periods(files: TableFiles, column: PeriodColumn) -> str:
    bounds: dict[str, Sequence[str]] = {}
    for path in files.paths:
        period = period_of(stem(path))
        if period is not None:
            bounds[column.text(path)] = (f"{period.start}", f"{period.end}")
    rows = ", ".join(
        f"({literal(text)}, TIMESTAMP {literal(first)}, TIMESTAMP {literal(next_)})"
        for text, (first, next_) in bounds.items()
    )
    return f"SELECT * FROM (VALUES {rows}) AS bounds(text, first, next)"
