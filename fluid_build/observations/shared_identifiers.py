"""Identifiers that several tables share without a key that all of them could refer to.

Three cases, all measured value by value:

- The rows of a table are parts of something that has no table: points of a shape. Its identifier is
  only a part of the key, so no reference leads there, but other tables may hold it all the same.
- A column refers to one table in some rows and to another one in the others: an inventory of a set
  or of a figure. The keys of the two are then keys of one kind, unless some are in both.
- Several tables identify something that no table lists: the users who rate and tag films.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import duckdb

from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable, value_type
from fluid_build.profiling.names.words import Words, has_key_word, words
from fluid_build.profiling.profile import ForeignKey

_INTEGERS = frozenset("TINYINT SMALLINT INTEGER BIGINT HUGEINT".split())
_MOST_PAIRS = 100
"""Pairs of columns that are compared; each is a query, and few are left after names and types."""
_MOST_ROWS = 20_000_000
"""Rows of a table whose values are compared: each query holds those of one side in memory."""
_FEWEST_STRAYS = 0.03
"""Share of rows without a parent from which on another one is looked for. Fewer are lost rows."""
_FOUND_SHARE = 0.95
"""Share of these rows that the other parent must have."""


_Group = tuple[str | None, Words, str]  # Two sources may call different things by one name.
"""The source, the name and the type that columns have in common."""


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


@dataclass(frozen=True, slots=True)
class IdentifierUse:
    """A column with values of a shared identifier; ``known`` of its values are in the home."""

    table: str
    column: str
    values: int
    known: int


@dataclass(frozen=True, slots=True)
class UnlistedIdentifier:
    """An identifier in the keys of tables, of which none has it as its key.

    ``home`` is the column with most of its values; ``uses`` are the others of that name.
    """

    home: IdentifierUse
    uses: tuple[IdentifierUse, ...]


def unlisted_identifiers(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[UnlistedIdentifier]:
    """Return the columns of one name that are in a key of several columns, and refer to nothing."""
    referring = {(key.from_table, column) for key in foreign_keys for column in key.from_columns}
    for columns in islice(_alike_columns(tables, referring), _MOST_PAIRS):
        (home, home_column), *others = sorted(
            columns, key=lambda use: (-use[0].profile.column(use[1]).distinct, use[0].profile.name)
        )
        known = _values(home, home_column)
        uses = []
        for table, column in others:
            with unless_unreadable():
                distinct = f"SELECT DISTINCT v FROM ({_values(table, column)}) AS all_values"
                uses.append(
                    IdentifierUse(
                        table.profile.name, column, *_matches(connection, distinct, known)
                    )
                )
        if uses:
            count = home.profile.column(home_column).distinct
            yield UnlistedIdentifier(
                IdentifierUse(home.profile.name, home_column, count, count), tuple(uses)
            )


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
        and _may_be_compared(child, parent)
        and child.profile.source == parent.profile.source
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
        and _may_be_compared(tables[key.from_table], tables[key.to_table], other)
        and other.profile.source == tables[key.to_table].profile.source
        for column in other.profile.primary_key or ()
        if len(other.profile.primary_key or ()) == 1
        and _type(other, column) == _type(tables[key.to_table], key.to_columns[0])
    )
    for key, other, column in islice(pairs, _MOST_PAIRS):
        with unless_unreadable():
            split = _split(connection, tables, key, other, column)
            if split is not None:
                yield split


def _alike_columns(
    tables: Mapping[str, ObservedTable], referring: set[tuple[str, str]]
) -> Iterator[list[tuple[ObservedTable, str]]]:
    """Return the columns of several tables with one name and type, where a key contains one.

    Ratings (user, film) and tags (user, film, tag) know the same users; with a table of users, the
    two would refer to that.
    """
    groups: dict[_Group, list[tuple[ObservedTable, str]]] = defaultdict(list)
    in_keys, listed = set(), set()
    for table in tables.values():
        keys = {*table.profile.candidate_keys, table.profile.primary_key}
        for column in table.profile.columns:
            is_own_key = (column.name,) in keys
            type_ = value_type(column)
            name = words(column.name)
            family = "integer" if type_ in _INTEGERS else type_
            group = (table.profile.source, name, family)
            if not is_own_key and has_key_word(name) and column.distinct > 1:
                is_free = (table.profile.name, column.name) not in referring
                if is_free and _may_be_compared(table):
                    groups[group].append((table, column.name))
                if column.name in (table.profile.primary_key or ()):
                    in_keys.add(group)
            elif is_own_key:
                # A table lists what its key identifies.
                listed.add(group)
    unlisted = in_keys - listed
    return (columns for group, columns in groups.items() if group in unlisted and len(columns) > 1)


def _own_parts(table: ObservedTable, referring: set[tuple[str, str]]) -> Iterator[str]:
    """Return the columns of a key of several columns of which none refers elsewhere."""
    key = table.profile.primary_key or ()
    if len(key) > 1 and not any((table.profile.name, column) in referring for column in key):
        yield from key


def _may_be_compared(*tables: ObservedTable) -> bool:
    return all(table.profile.rows <= _MOST_ROWS for table in tables)


def _has_alike(child: ObservedTable, parent: ObservedTable, name: str) -> bool:
    has_it = any(column.name == name for column in child.profile.columns)
    return has_it and _type(child, name) == _type(parent, name)


def _type(table: ObservedTable, column: str) -> str:
    return value_type(table.profile.column(column))


def _is_split(key: ForeignKey) -> bool:
    """Return whether so many rows lack a parent that they may have another one, elsewhere."""
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
