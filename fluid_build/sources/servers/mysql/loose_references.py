"""Foreign keys that hold only as the server compares text: without case or last spaces.

A collation may take 'abc', 'ABC' and 'abc ' for equal. DuckDB, and most warehouses, don't.
"""

from collections.abc import Sequence
from dataclasses import replace

import duckdb

from fluid_build.sources.base import DeclaredForeignKey, Table
from fluid_build.sources.servers.mysql.catalog import CatalogTable
from fluid_build.sources.sql import quote


def note_loose_references(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[Table], catalog: Sequence[CatalogTable]
) -> tuple[Table, ...]:
    """Return the tables with a note on each foreign key that holds only loosely."""
    loose = {
        (table.schema, table.name, column.name): column.collation
        for table in catalog
        for column in table.columns
        if column.is_loosely_compared
    }
    own_names = {table.name: table for table in tables}
    noted = []
    for table in tables:
        notes = list(table.notes)
        for key in table.foreign_keys:
            names = ((table.schema, _own_name(table), name) for name in key.columns)
            collations = [loose[name] for name in names if name in loose]
            if collations and (
                count := _count_loose(connection, table, own_names[key.to_table], key)
            ):
                notes.append(_note(key, count, collations[0]))
        noted.append(replace(table, notes=tuple(notes)))
    return tuple(noted)


def _own_name(table: Table) -> str:
    return getattr(table.origin, "table", table.name)


def _note(key: DeclaredForeignKey, count: int, collation: str) -> str:
    values = "1 row refers" if count == 1 else f"{count:,} rows refer"
    return (
        f"{', '.join(key.columns)}: {values} to {key.to_table} only by the server's collation"
        f" ({collation}), which ignores case, accents or last spaces. Compared exactly, as here and"
        " in most warehouses, they have no match."
    )


def _count_loose(
    connection: duckdb.DuckDBPyConnection, table: Table, parent: Table, key: DeclaredForeignKey
) -> int:
    """Count the rows with a reference that matches no key exactly; the server says they match."""
    pairs = [
        (quote(table.column(own).alias), quote(parent.column(theirs).alias))
        for own, theirs in zip(key.columns, key.to_columns, strict=True)
    ]
    match = " AND ".join(f"child.{own} = parent.{theirs}" for own, theirs in pairs)
    present = " AND ".join(f"child.{own} IS NOT NULL" for own, _ in pairs)
    loosely = " AND ".join(
        f"{_fold(f'child.{own}')} = {_fold(f'parent.{theirs}')}" for own, theirs in pairs
    )
    row = connection.execute(
        f"WITH unmatched AS (SELECT * FROM {table.relation} AS child WHERE {present}"
        f" AND NOT EXISTS (SELECT 1 FROM {parent.relation} AS parent WHERE {match}))"
        f" SELECT count(*) FROM unmatched AS child"
        f" WHERE EXISTS (SELECT 1 FROM {parent.relation} AS parent WHERE {loosely})"
    ).fetchone()
    return int(row[0]) if row else 0


def _fold(column: str) -> str:
    return f"lower(strip_accents(rtrim({column}::VARCHAR)))"
