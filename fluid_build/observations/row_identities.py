"""What identifies a row in business terms where its key only numbers the rows.

A table of monthly figures often has a number of its own for each row, next to the month and to what
the figures are of. These together identify a row just as well, and say what it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.observations.observed_tables import ObservedTable, is_dated, unless_unreadable
from fluid_build.profiling.profile import ForeignKey, TableProfile

_FEWEST_COLUMNS, _MOST_COLUMNS = 3, 8
"""Columns that are counted together: the profile finds pairs itself, and more than eight identify
rows of nearly any table."""

_MOST_ROWS = 20_000_000
"""Rows whose values are counted: the query holds those of each row in memory."""


@dataclass(frozen=True, slots=True)
class RowIdentity:
    """Columns of a table, one of them a date, of which no two rows have the same values."""

    table: str
    columns: tuple[str, ...]


def row_identities(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[RowIdentity]:
    """Return what identifies rows besides their number; one query for each table numbered so."""
    for table in tables.values():
        columns = _columns(table.profile, foreign_keys)
        if columns and table.profile.rows <= _MOST_ROWS:
            with unless_unreadable():
                values = ", ".join(table.value(column) for column in columns)
                sql = f"SELECT count(DISTINCT ({values})) FROM {table.relation}"
                row = connection.execute(sql).fetchone()
                if row is not None and row[0] == table.profile.rows:
                    yield RowIdentity(table.profile.name, columns)


def _columns(table: TableProfile, foreign_keys: Sequence[ForeignKey]) -> tuple[str, ...]:
    """Return the references and dates of a table that numbers its rows; () for any other table.

    Sales by month, shop and product are known by these three, whatever ``id`` says. What others
    refer to by its number is known by that.
    """
    if table.primary_key is None or len(table.primary_key) != 1:
        return ()
    if any(key.to_table == table.name for key in foreign_keys):
        return ()
    referring = {
        column
        for key in foreign_keys
        if key.from_table == table.name
        for column in key.from_columns
    }
    dates = [column for column in table.columns if is_dated(column)]
    in_key = {date.name for date in dates} & referring or {date.name for date in dates[:1]}
    names = (referring | in_key) - set(table.primary_key)
    columns = tuple(
        column.name for column in table.columns if column.name in names and not column.nulls
    )
    has_date = any(name in columns for name in in_key)
    return columns if has_date and _FEWEST_COLUMNS <= len(columns) <= _MOST_COLUMNS else ()
