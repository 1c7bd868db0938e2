"""What identifies a document: a declared key, a column that names it, or its number."""

import re
from collections.abc import Iterator, Sequence

import duckdb

from fluid_build.lexicon import terms
from fluid_build.sources.base import Table
from fluid_build.sources.nested.levels import ValueColumn
from fluid_build.sources.nested.nodes import Scalar

NUMBER = "row_number"
"""The column that numbers documents without a key, from 1, in the order that they were read."""

_MOST_MEASURED = 8
"""Columns whose values are counted for a key: names put the likely ones first."""

# A number with a fraction, a truth value or a time is no identifier, even where none repeats.
_KEY_TYPES = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|VARCHAR|UUID|DECIMAL\(\d+,0\)")

_PLAIN = ("id", "uuid", "guid", "key", "pk", "oid")
_ENDINGS = (*terms("key_word"), "reference", "sku")


def document_key(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    rows: str,
    name: str,
    columns: Sequence[ValueColumn],
) -> tuple[ValueColumn, ...]:
    """Return the columns that identify a document, measured on all of them; () if there are none.

    ``rows`` are the documents as SQL, ``name`` is what one table of them is called by itself.
    """
    scalars = {
        column.name: column
        for column in columns
        if isinstance(column.node, Scalar) and _KEY_TYPES.fullmatch(column.node.type)
    }
    declared = [key for key in (table.primary_key, *table.unique_keys) if key]
    keys = [
        tuple(scalars[column] for column in key)
        for key in declared
        if all(column in scalars for column in key)
    ]
    named = sorted(
        (rank, position, column)
        for position, (column, value) in enumerate(scalars.items())
        if (rank := _rank(value, name)) is not None
    )
    keys += [(scalars[column],) for _, _, column in named[:_MOST_MEASURED]]
    return next(_holding(connection, rows, keys), ())


def _rank(column: ValueColumn, table: str) -> int | None:
    """Return how likely a column is the documents' own key by its name, 0 first; None if not."""
    words = [_plain(part) for part in column.node.path]
    name = "".join(words)
    owners = {_plain(table), _plain(table).removesuffix("s"), _plain(table).removesuffix("es")}
    if name in _PLAIN or words == ["id", "oid"]:
        return 0
    if any(name == f"{owner}{ending}" for owner in owners for ending in _ENDINGS):
        return 1
    if len(words) == 1 and name.endswith(_ENDINGS):
        return 2
    return None


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _holding(
    connection: duckdb.DuckDBPyConnection, rows: str, keys: Sequence[tuple[ValueColumn, ...]]
) -> Iterator[tuple[ValueColumn, ...]]:
    """Return the keys that are unique and without a null."""
    for key in keys:
        columns = [column.sql for column in key]
        filled = " AND ".join(f"{column} IS NOT NULL" for column in columns)
        row = connection.execute(
            f"SELECT count(*) = count(*) FILTER ({filled})"
            f" AND count(*) = count(DISTINCT ({', '.join(columns)})) FROM {rows}"
        ).fetchone()
        if row is not None and row[0]:
            yield key
