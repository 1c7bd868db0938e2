"""The figures of changes that no profile has, counted on the source."""

from collections.abc import Iterable, Iterator

from fluid_build.changes.change import ChangeKind, SourceChange
from fluid_build.changes.keys import broken_key
from fluid_build.changes.references import broken_reference
from fluid_build.sources.base import Source, Table
from fluid_build.sources.sql import quote


def counted_changes(changes: Iterable[SourceChange], source: Source) -> Iterator[SourceChange]:
    """Return changes with the repeats of their keys and the orphans of their references counted.

    A profile says of a key of several columns only that it wasn't found again. Where all of it
    holds after all, there is no change. Only keys and references without a figure are queried.
    """
    tables = {table.name: table for table in source.tables}
    for change in changes:
        table, parent = tables.get(change.table), tables.get(change.to_table or "")
        if table is None or change.evidence.violations is not None:
            yield change
        elif change.kind in {ChangeKind.KEY_BROKEN, ChangeKind.KEY_WIDENED}:
            yield from _counted_key(change, source, table)
        elif change.kind is ChangeKind.REFERENCE_BROKEN and parent is not None:
            yield from _counted_reference(change, source, table, parent)
        else:
            yield change


def _counted_key(change: SourceChange, source: Source, table: Table) -> Iterator[SourceChange]:
    columns = _aliases(table, change.columns)
    filled = " AND ".join(f"{column} IS NOT NULL" for column in columns)
    repeats = _count(
        source,
        f"SELECT sum(rows_ - 1) FROM (SELECT count(*) AS rows_ FROM {table.relation}"
        f" WHERE {filled} GROUP BY {', '.join(columns)})",
    )
    if repeats or change.evidence.nulls:
        evidence = change.evidence.model_copy(update={"violations": repeats})
        yield broken_key(change.table, change.columns, evidence, change.to_columns)


def _counted_reference(
    change: SourceChange, source: Source, table: Table, parent: Table
) -> Iterator[SourceChange]:
    pairs = list(zip(change.columns, change.to_columns, strict=True))
    if any(table.column(ours).type != parent.column(theirs).type for ours, theirs in pairs):
        # How values of two types are compared is in the query of a profile that found them alike.
        yield change
        return
    ours, theirs = _aliases(table, change.columns), _aliases(parent, change.to_columns)
    filled = " AND ".join(f"{column} IS NOT NULL" for column in ours)
    equal = " AND ".join(f"p.{key} = c.{column}" for column, key in zip(ours, theirs, strict=True))
    rows = _count(source, f"SELECT count(*) FROM {table.relation} WHERE {filled}")
    orphans = _count(
        source,
        f"SELECT count(*) FROM (SELECT * FROM {table.relation} WHERE {filled}) AS c"
        f" WHERE NOT EXISTS (SELECT 1 FROM {parent.relation} AS p WHERE {equal})",
    )
    if orphans:
        evidence = change.evidence.model_copy(update={"violations": orphans, "rows": rows})
        ends = (change.table, change.columns, parent.name, change.to_columns)
        yield broken_reference(ends, evidence)


def _aliases(table: Table, columns: Iterable[str]) -> list[str]:
    return [quote(table.column(name).alias) for name in columns]


def _count(source: Source, sql: str) -> int:
    row = source.connection.execute(sql).fetchone()
    return 0 if row is None or row[0] is None else int(row[0])
