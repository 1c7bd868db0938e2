"""Identifiers that several tables share without a key that all of them could refer to.

Two cases, both measured value by value:

- The rows of a table are parts of something that has no table: points of a shape. Its identifier is
  only a part of the key, so no reference leads there, but other tables may hold it all the same.
- A column refers to one table in some rows and to another one in the others: an inventory of a set
  or of a figure. The keys of the two are then keys of one kind, unless some are in both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import duckdb

from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable, value_type
from fluid_build.profiling.profile import ForeignKey

_MOST_PAIRS = 100
"""Pairs of columns that are compared; each is a query, and few are left after names and types."""
_FEWEST_STRAYS = 0.03
"""Share of rows without a parent from which on another one is looked for. Fewer are lost rows."""
_FOUND_SHARE = 0.95
"""Share of these rows that the other parent must have."""


@dataclass(frozen=True, slots=True)
class PartOfKeyReference:
    """A column that holds the values of a part of another table's key.

    Of the ``rows`` that have a value, ``orphans`` have one that the other table lacks.
    """

    table: str
    column: str
    to_table: str
    to_column: str
    rows: int
    orphans: int


@dataclass(frozen=True, slots=True)
class SplitReference:
    """A column that refers to either of two tables, whose keys have no value in common.

    Of the ``rows`` that have a value, ``first_rows`` refer to the first and ``second_rows`` to the
    second table.
    """

    table: str
    column: str
    first_table: str
    first_column: str
    second_table: str
    second_column: str
    rows: int
    first_rows: int
    second_rows: int


def part_of_key_references(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[PartOfKeyReference]:
    """Return the columns named and typed like a part of a key of several columns elsewhere."""
    referring = {(key.from_table, column) for key in foreign_keys for column in key.from_columns}
    pairs = (
        (child, name, parent)
        for parent in tables.values()
        for name in _own_parts(parent, referring)
        for child in tables.values()
        if child is not parent
        and (child.profile.name, name) not in referring
        and _has_alike(child, parent, name)
    )
    for child, name, parent in islice(pairs, _MOST_PAIRS):
        with unless_unreadable():
            rows, found = _matches(connection, _values(child, name), _values(parent, name))
            if rows:
                yield PartOfKeyReference(
                    child.profile.name, name, parent.profile.name, name, rows, rows - found
                )


def split_references(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[SplitReference]:
    """Return the references that many rows lack, with the table that has what these refer to."""
    pairs = (
        (key, other, column)
        for key in foreign_keys
        if _is_split(key) and {key.from_table, key.to_table} <= tables.keys()
        for other in tables.values()
        if other.profile.name not in {key.from_table, key.to_table}
        for column in other.profile.primary_key or ()
        if len(other.profile.primary_key or ()) == 1
        and _type(other, column) == _type(tables[key.to_table], key.to_columns[0])
    )
    for key, other, column in islice(pairs, _MOST_PAIRS):
        with unless_unreadable():
            split = _split(connection, tables, key, other, column)
            if split is not None:
                yield split


def _own_parts(table: ObservedTable, referring: set[tuple[str, str]]) -> Iterator[str]:
    """Return the columns of a key of several columns of which none refers elsewhere."""
    key = table.profile.primary_key or ()
    if len(key) > 1 and not any((table.profile.name, column) in referring for column in key):
        yield from key


def _has_alike(child: ObservedTable, parent: ObservedTable, name: str) -> bool:
    has_it = any(column.name == name for column in child.profile.columns)
    return has_it and _type(child, name) == _type(parent, name)


def _type(table: ObservedTable, column: str) -> str:
    return value_type(table.profile.column(column))


def _is_split(key: ForeignKey) -> bool:
    evidence = key.evidence
    if len(key.from_columns) != 1 or key.from_table == key.to_table:
        return False
    return evidence.orphans >= max(1, _FEWEST_STRAYS * evidence.rows)


def _split(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    key: ForeignKey,
    other: ObservedTable,
    column: str,
) -> SplitReference | None:
    (child_column,), (first_column,) = key.from_columns, key.to_columns
    values = _values(tables[key.from_table], child_column)
    first, second = _values(tables[key.to_table], first_column), _values(other, column)
    orphans = f"SELECT v FROM ({values}) AS c WHERE v NOT IN ({first})"
    rows, found = _matches(connection, orphans, second)
    if not rows or found < _FOUND_SHARE * rows or _matches(connection, first, second)[1]:
        return None
    return SplitReference(
        key.from_table,
        child_column,
        key.to_table,
        first_column,
        other.profile.name,
        column,
        rows=key.evidence.rows,
        first_rows=key.evidence.matched,
        second_rows=found,
    )


def _values(table: ObservedTable, column: str) -> str:
    value = table.value(column)
    return f"SELECT {value} AS v FROM {table.relation} WHERE {value} IS NOT NULL"


def _matches(connection: duckdb.DuckDBPyConnection, values: str, known: str) -> tuple[int, int]:
    """Return how many rows a select of values has, and how many of them the other select has."""
    row = connection.execute(
        f"SELECT count(*), count(*) FILTER (WHERE v IN ({known})) FROM ({values}) AS c"
    ).fetchone()
    rows, found = row or (0, 0)
    return int(rows), int(found)
