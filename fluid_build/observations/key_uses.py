"""Columns that hold keys of a table of another source, by name and by value."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import product

import duckdb

from fluid_build.observations.named_columns import (
    WORLDWIDE,
    NamedColumn,
    are_tables_alike,
    dense_sql,
    is_dense_by_bounds,
    named_columns,
)
from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable
from fluid_build.profiling.profile import ForeignKey

_MOST_PAIRS = 200
"""Pairs of a column and a key that are compared, in the order of the tables."""

_MOST_ROWS = 50_000_000
"""Rows of either table; counting the values of more would take longer than the profile."""


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A column and a key of another source that are named alike, as measured.

    ``rows`` counts the rows with a value, ``matched`` those whose value is a key; ``values`` and
    ``matched_values`` count different ones. ``sql`` returns the rows without a match.
    """

    table: str
    column: str
    to_table: str
    to_column: str
    rows: int
    matched: int
    values: int
    matched_values: int
    sql: str


def key_uses(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[KeyUse]:
    """Return the columns whose name means a key of another source, and some values of which are.

    Columns that refer to a table of their own source are left out, and so are numbers that lie
    close together: they're keys of any table. One query compares each pair.
    """
    referring = {(key.from_table, key.from_columns) for key in foreign_keys}
    columns = list(named_columns([t for t in tables if t.profile.rows <= _MOST_ROWS]))
    keys = [column for column in columns if _may_be_referred_to(column)]
    pairs = [
        (column, key)
        for column, key in product(columns, keys)
        if _may_refer(column, referring) and _means(column, key)
    ]
    for column, key in pairs[:_MOST_PAIRS]:
        with unless_unreadable():
            use = _measure(connection, column, key)
            if use is not None:
                yield use


def _may_be_referred_to(key: NamedColumn) -> bool:
    if not key.is_identifier or key.column.nulls:
        return False
    is_numbered = key.kind == "number" and is_dense_by_bounds(key.column)
    return key.column.semantic_type in WORLDWIDE or not is_numbered


def _may_refer(column: NamedColumn, referring: Set[tuple[str, tuple[str, ...]]]) -> bool:
    table = column.table.profile
    is_own_key = table.primary_key == (column.column.name,)
    return not is_own_key and (table.name, (column.column.name,)) not in referring


def _means(column: NamedColumn, key: NamedColumn) -> bool:
    """Return whether a column is named for a key: by the key's name, or by that of its table.

    ``customer_no`` of a ledger is the ``customer_no`` of the shop, or the ``no`` of its customers.
    An ``email`` is the same address everywhere, so its name is no matter.
    """
    if column.source == key.source or column.kind != key.kind:
        return False
    meaning = key.column.semantic_type
    is_worldwide = meaning in WORLDWIDE and column.column.semantic_type == meaning
    if column.is_unique and (is_worldwide or are_tables_alike(column, key)):
        # Such rows are the same as those of the other table, rather than about them.
        return False
    if is_worldwide:
        return True
    if column.name.full == key.name.full and not key.name.is_generic:
        return True
    names_table = bool(column.name.entity) and column.name.entity == key.names.table.entity
    is_named_as_key = key.name.has_key_word and key.table.profile.primary_key == (key.column.name,)
    return names_table and column.name.has_key_word and is_named_as_key


def _measure(
    connection: duckdb.DuckDBPyConnection, column: NamedColumn, key: NamedColumn
) -> KeyUse | None:
    meanings = frozenset({column.column.semantic_type, key.column.semantic_type})
    row = connection.execute(
        f"WITH fluid_keys AS (SELECT {key.sql} AS v FROM {key.table.relation}),"
        f" fluid_values AS (SELECT {column.sql} AS v, count(*) AS n FROM {column.table.relation}"
        f" WHERE {column.sql} IS NOT NULL GROUP BY ALL)"
        f" SELECT (SELECT {dense_sql(key.kind, meanings)} FROM fluid_keys), sum(n),"
        " sum(n) FILTER (is_key), count(*), count(*) FILTER (is_key)"
        " FROM (SELECT n, v IN (SELECT v FROM fluid_keys) AS is_key FROM fluid_values)"
    ).fetchone()
    if row is None or row[0] or not row[4]:
        return None
    _, rows, matched, values, matched_values = row
    return KeyUse(
        table=column.table.profile.name,
        column=column.column.name,
        to_table=key.table.profile.name,
        to_column=key.column.name,
        rows=int(rows),
        matched=int(matched),
        values=int(values),
        matched_values=int(matched_values),
        sql=(
            f"SELECT c.* FROM {column.table.profile.sql} AS c"
            f" LEFT JOIN {key.table.profile.sql} AS p ON {key.of('p')} = {column.of('c')}"
            f" WHERE {column.of('c')} IS NOT NULL AND {key.of('p')} IS NULL"
        ),
    )
