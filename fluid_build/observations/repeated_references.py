"""References by a column that repeats its row's own key.

``store_number`` of a store is its ``store_id`` in every row. Where it's found in a key, of another
table or of its own, it leads to the row that the key leads to anyway, and relates nothing further.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable
from fluid_build.profiling.profile import ForeignKey, Profile

_MOST_REFERENCES = 50
"""References that are checked; each is one query."""
_FEWEST_ROWS = 5
"""Rows that must repeat the key; two or three may by chance."""


@dataclass(frozen=True, slots=True)
class RepeatedReference:
    """A reference by ``column``, which has the value of the row's own ``key`` in all rows."""

    table: str
    column: str
    to_table: str
    key: str
    rows: int


def repeated_references(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[RepeatedReference]:
    """Return the undeclared references that say what the key of their row says already."""
    related = {(k.from_table, k.from_columns, k.to_table, k.to_columns) for k in foreign_keys}
    doubtful = [key for key in foreign_keys if _may_repeat(key, tables, related)]
    for reference in doubtful[:_MOST_REFERENCES]:
        table = tables[reference.from_table]
        (column,), (key,) = reference.from_columns, table.profile.primary_key or ()
        with unless_unreadable():
            row = connection.execute(
                f"SELECT count(*) FILTER (WHERE {table.value(column)} IS DISTINCT FROM"
                f" {table.value(key)}) FROM {table.relation}"
            ).fetchone()
            if row == (0,):
                yield RepeatedReference(
                    table.profile.name, column, reference.to_table, key, table.profile.rows
                )


def without_repeated(profile: Profile, repeated: Sequence[RepeatedReference]) -> Profile:
    """Return a profile in which each of these references follows from others."""
    found = {(each.table, (each.column,), each.to_table) for each in repeated}
    if not found:
        return profile
    return profile.model_copy(
        update={
            "foreign_keys": tuple(
                key.model_copy(update={"implied": True})
                if (key.from_table, key.from_columns, key.to_table) in found
                else key
                for key in profile.foreign_keys
            )
        }
    )


def _may_repeat(
    key: ForeignKey,
    tables: Mapping[str, ObservedTable],
    related: set[tuple[str, tuple[str, ...], str, tuple[str, ...]]],
) -> bool:
    """Return whether a reference is by another unique column than the key, to where that leads.

    The key leads to its own table, to a table whose key it is, and to one that has it as its key.
    """
    if key.origin != "measured" or key.implied or len(key.from_columns) != 1:
        return False
    if not {key.from_table, key.to_table} <= tables.keys():
        return False
    table = tables[key.from_table].profile
    own, column = table.primary_key or (), table.column(key.from_columns[0])
    if len(own) != 1 or own == key.from_columns or table.rows < _FEWEST_ROWS:
        return False
    if column.distinct != table.rows or column.nulls:
        return False
    there, back = (table.name, own, key.to_table), (key.to_table, key.to_columns, table.name)
    return key.to_table == table.name or any(
        each[:3] == there or each == (*back, own) for each in related
    )
