"""Foreign keys that hold only as the source compares text: without case, accents or last spaces.

A collation may take 'abc', 'ABC' and 'abc ' for equal. DuckDB, and most warehouses, don't.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from fluid_build.sources.base import DeclaredForeignKey, Table
from fluid_build.sources.sql import quote


@dataclass(frozen=True, slots=True)
class Collation:
    """How a source compares the text of a column.

    ``ignores`` says in which differences it sees none. ``fold`` is DuckDB's SQL that makes the
    texts the same that the source takes for equal. MySQL takes ß for s or for ss.
    """

    name: str
    ignores: str = "case, accents or last spaces"
    fold: str = "replace(replace(lower(strip_accents(rtrim({}))), 'ß', 's'), 'ss', 's')"


def note_loose_references(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    collations: Mapping[tuple[str, str, str], Collation],
) -> tuple[Table, ...]:
    """Return the tables with a note on each foreign key that holds only by a collation.

    ``collations`` are those of loosely compared columns, by schema, table and column. The column
    that is referred to decides.
    """
    own_names = {table.name: table for table in tables}
    noted = []
    for table in tables:
        notes, keys = list(table.notes), []
        for key in table.foreign_keys:
            parent = own_names[key.to_table]
            names = [(parent.schema, _own_name(parent), name) for name in key.to_columns]
            loose = [collations.get(name) for name in names]
            collation = next(filter(None, loose), None)
            count = _count_loose(connection, table, parent, key, loose) if collation else 0
            if collation and count:
                notes.append(_note(key, count, collation))
            keys.append(replace(key, by_collation=count))
        noted.append(replace(table, notes=tuple(notes), foreign_keys=tuple(keys)))
    return tuple(noted)


def _own_name(table: Table) -> str:
    return getattr(table.origin, "table", table.name)


def _note(key: DeclaredForeignKey, count: int, collation: Collation) -> str:
    values = "1 row refers" if count == 1 else f"{count:,} rows refer"
    no_match = "it has" if count == 1 else "they have"
    return (
        f"{', '.join(key.columns)}: {values} to {key.to_table} only by the source's collation"
        f" ({collation.name}), which ignores {collation.ignores}. Compared exactly, as here and"
        f" in most warehouses, {no_match} no match."
    )


def _count_loose(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    parent: Table,
    key: DeclaredForeignKey,
    collations: Sequence[Collation | None],
) -> int:
    """Count the rows with a reference that matches a key only by the collations of its columns."""
    # As text: SQLite may have numbers in one table and text in the other.
    pairs = [
        (
            f"child.{quote(table.column(own).alias)}::VARCHAR",
            f"parent.{quote(parent.column(theirs).alias)}::VARCHAR",
        )
        for own, theirs in zip(key.columns, key.to_columns, strict=True)
    ]
    folds = [collation.fold if collation else "{}" for collation in collations]
    match = " AND ".join(f"{own} = {theirs}" for own, theirs in pairs)
    present = " AND ".join(f"{own} IS NOT NULL" for own, _ in pairs)
    loosely = " AND ".join(
        f"{fold.format(own)} = {fold.format(theirs)}"
        for (own, theirs), fold in zip(pairs, folds, strict=True)
    )
    row = connection.execute(
        f"WITH unmatched AS (SELECT * FROM {table.relation} AS child WHERE {present}"
        f" AND NOT EXISTS (SELECT 1 FROM {parent.relation} AS parent WHERE {match}))"
        f" SELECT count(*) FROM unmatched AS child"
        f" WHERE EXISTS (SELECT 1 FROM {parent.relation} AS parent WHERE {loosely})"
    ).fetchone()
    return int(row[0]) if row else 0
