"""Keys of different sources that have values in common, and whether these mean the same.

Numbers that are assigned in order agree by accident, so how close they lie is measured too, and
whether other columns agree in rows with the same key.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, islice

import duckdb

from fluid_build.observations.named_columns import (
    NamedColumn,
    are_columns_alike,
    are_tables_alike,
    dense_sql,
    is_dense_by_bounds,
    mean_the_same,
    named_columns,
    vault_type,
)
from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable
from fluid_build.profiling.profile import ColumnProfile
from fluid_build.sources.sql import quote

_SKETCH = 512
"""Hashes kept of a column: the least ones. Two columns that share a tenth of their values share
some fifty of them."""
_MOST_PAIRS = 200
"""Pairs of keys that are compared value by value, those with the most hashes in common first."""
_MOST_KEYS = 12
"""Unique columns of a table that are looked at: a wide table of few rows has many by accident."""
_MOST_ROWS = 20_000_000
"""Rows of a table whose keys are compared: a join holds those of one side in memory, with the text
of the attributes."""
_MOST_ATTRIBUTES = 4
"""Pairs of other columns that are compared in rows with the same key."""
_TELLING = 0.5
"""Distinct values per row from which on a column tells rows apart: names do, statuses don't."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two columns compared in the rows that have the same key and a value in both."""

    left_column: str
    right_column: str
    rows: int
    agreeing: int


@dataclass(frozen=True, slots=True)
class KeyOverlap:
    """Two unique columns of different sources, and how many of their values are in both.

    ``left_keys`` and ``right_keys`` count the values of each. ``is_dense`` says that they're
    numbers, or codes with numbers, that lie so close together that many would be in both by
    accident. ``average_length`` is that of their text. ``are_tables_alike`` and
    ``are_columns_alike`` compare names. ``sql`` counts the shared values.
    """

    left: str
    left_column: str
    right: str
    right_column: str
    left_keys: int
    right_keys: int
    shared: int
    is_dense: bool
    average_length: float
    are_tables_alike: bool
    are_columns_alike: bool
    agreements: tuple[Agreement, ...] = ()
    sql: str = ""

    @property
    def share(self) -> float:
        """The share of the shorter list of keys that's in the longer one."""
        return self.shared / min(self.left_keys, self.right_keys)


def key_overlaps(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[ObservedTable]
) -> Iterator[KeyOverlap]:
    """Return the overlaps of unique columns of different sources; none where there's one source.

    One query for each unique column makes a sketch of its values, and one each compares the pairs
    whose sketches meet or whose names are alike.
    """
    if len({table.profile.source for table in tables}) < 2:
        return
    keys = list(_keys(tables))
    hits = _meeting(connection, keys)
    pairs = [
        (left, right)
        for left, right in combinations(range(len(keys)), 2)
        if _are_comparable(keys[left], keys[right])
        and (hits[left, right] or _may_mean_the_same(keys[left], keys[right]))
    ]
    pairs.sort(key=lambda pair: (-hits[pair], pair))
    for left, right in pairs[:_MOST_PAIRS]:
        with unless_unreadable():
            overlap = _measure(connection, keys[left], keys[right])
            if overlap.shared:
                yield overlap


def _keys(tables: Sequence[ObservedTable]) -> Iterator[NamedColumn]:
    compared = [table for table in tables if table.profile.rows <= _MOST_ROWS]
    columns = (column for column in named_columns(compared) if column.is_unique)
    for _, of_table in groupby(columns, key=lambda column: column.table.profile.name):
        yield from islice(of_table, _MOST_KEYS)


def _meeting(
    connection: duckdb.DuckDBPyConnection, keys: Sequence[NamedColumn]
) -> Counter[tuple[int, int]]:
    """Return how many hashes two keys have in common, by their positions."""
    by_hash: dict[tuple[str, int], list[int]] = defaultdict(list)
    for position, key in enumerate(keys):
        with unless_unreadable():
            for value in _sketch(connection, key):
                by_hash[key.kind, value].append(position)
    hits: Counter[tuple[int, int]] = Counter()
    for positions in by_hash.values():
        hits.update(combinations(positions, 2))
    return hits


def _sketch(connection: duckdb.DuckDBPyConnection, key: NamedColumn) -> list[int]:
    if key.kind == "number" and is_dense_by_bounds(key.column):
        # Such numbers meet those of every other table, which says nothing.
        return []
    rows = connection.execute(
        f"SELECT hash(CAST({key.sql} AS VARCHAR)) AS hashed FROM {key.table.relation}"
        f" WHERE {key.sql} IS NOT NULL ORDER BY hashed LIMIT {_SKETCH}"
    ).fetchall()
    return [int(value) for (value,) in rows]


def _are_comparable(left: NamedColumn, right: NamedColumn) -> bool:
    return left.source != right.source and left.kind == right.kind


def _may_mean_the_same(left: NamedColumn, right: NamedColumn) -> bool:
    """Return whether names alone are a reason to compare two keys.

    The least hashes of two long lists seldom meet where only a few customers are in both.
    """
    if not are_tables_alike(left, right):
        return False
    both_identify = left.is_identifier and right.is_identifier
    return both_identify or are_columns_alike(left, right)


def _measure(
    connection: duckdb.DuckDBPyConnection, left: NamedColumn, right: NamedColumn
) -> KeyOverlap:
    pairs = list(_attribute_pairs(left, right))[:_MOST_ATTRIBUTES]
    compared = "".join(
        f", count(l.a{n} || r.a{n}), count(*) FILTER (WHERE l.a{n} = r.a{n})"
        for n in range(len(pairs))
    )
    meanings = frozenset({left.column.semantic_type, right.column.semantic_type})
    dense = dense_sql(left.kind, meanings)
    row = connection.execute(
        f"WITH fluid_left AS ({_rows(left, [pair[0] for pair in pairs])}),"
        f" fluid_right AS ({_rows(right, [pair[1] for pair in pairs])})"
        f" SELECT (SELECT count(*) FROM fluid_left), (SELECT count(*) FROM fluid_right),"
        f" (SELECT {dense} FROM fluid_left), (SELECT {dense} FROM fluid_right),"
        " (SELECT avg(length(CAST(v AS VARCHAR))) FROM fluid_left), count(*)"
        f"{compared} FROM fluid_left AS l JOIN fluid_right AS r ON l.v = r.v"
    ).fetchone()
    left_keys, right_keys, left_dense, right_dense, length, shared, *agreeing = row or (0,) * 6
    agreements = (
        Agreement(a.name, b.name, rows, equal)
        for (a, b), rows, equal in zip(pairs, agreeing[::2], agreeing[1::2], strict=True)
        if rows
    )
    return KeyOverlap(
        left=left.table.profile.name,
        left_column=left.column.name,
        right=right.table.profile.name,
        right_column=right.column.name,
        left_keys=left_keys,
        right_keys=right_keys,
        shared=shared,
        is_dense=bool(left_dense or right_dense),
        average_length=length or 0.0,
        are_tables_alike=are_tables_alike(left, right),
        are_columns_alike=are_columns_alike(left, right),
        agreements=tuple(agreements),
        sql=(
            f"SELECT COUNT(*) AS shared_keys FROM {left.table.profile.sql} AS l"
            f" JOIN {right.table.profile.sql} AS r ON {left.of('l')} = {right.of('r')}"
        ),
    )


def _rows(key: NamedColumn, attributes: Sequence[ColumnProfile]) -> str:
    others = "".join(
        f", lower(trim(CAST({quote(key.table.aliases[column.name])} AS VARCHAR))) AS a{n}"
        for n, column in enumerate(attributes)
    )
    return f"SELECT {key.sql} AS v{others} FROM {key.table.relation} WHERE {key.sql} IS NOT NULL"


def _attribute_pairs(
    left: NamedColumn, right: NamedColumn
) -> Iterator[tuple[ColumnProfile, ColumnProfile]]:
    """Return pairs of columns that mean the same by name, and tell rows apart, except the keys."""
    for column, name in zip(left.table.profile.columns, left.names.columns, strict=True):
        if column == left.column or not _is_telling(column):
            continue
        for other, other_name in zip(right.table.profile.columns, right.names.columns, strict=True):
            if other == right.column or not _is_telling(other):
                continue
            if mean_the_same(column, name, other, other_name):
                yield column, other
                break


def _is_telling(column: ColumnProfile) -> bool:
    return column.distinct > max(_TELLING * (column.rows - column.nulls), 1) and (
        vault_type(column) == "VARCHAR" or column.semantic_type is not None
    )
