"""The figures of changes that no profile has, counted on the source."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fluid_build.changes.change import ChangeKind, SourceChange
from fluid_build.changes.keys import broken_key
from fluid_build.changes.references import broken_reference
from fluid_build.changes.renames import Renames
from fluid_build.sources.base import Column, Source, Table
from fluid_build.sources.sql import quote


def counted_changes(
    changes: Iterable[SourceChange], source: Source, renames: Renames
) -> Iterator[SourceChange]:
    """Return changes with the repeats of their keys and the orphans of their references counted.

    A profile says of a key of several columns only that it wasn't found again. Where all of it
    holds after all, there is no change. Only keys and references without a figure are queried.
    Changes have earlier names, and ``renames`` lead to those of the source.
    """
    tables = {renames.earlier_table(table.name): table for table in source.tables}
    for change in changes:
        table, parent = tables.get(change.table), tables.get(change.to_table or "")
        if table is None or change.evidence.violations is not None:
            yield change
        elif change.kind in {ChangeKind.KEY_BROKEN, ChangeKind.KEY_WIDENED}:
            yield from _counted_key(change, source, _Renamed(table, renames))
        elif change.kind is ChangeKind.REFERENCE_BROKEN and parent is not None:
            ends = _Renamed(table, renames), _Renamed(parent, renames)
            yield from _counted_reference(change, source, *ends)
        else:
            yield change


@dataclass(frozen=True, slots=True)
class _Renamed:
    """A table of the source, whose columns are found by their earlier names."""

    table: Table
    renames: Renames

    @property
    def relation(self) -> str:
        return self.table.relation

    def column(self, name: str) -> Column:
        """Return a column; KeyError where it's gone."""
        table = self.table
        earlier = {self.renames.earlier_column(table.name, c.name): c for c in table.columns}
        # A name that a column has now means that one, also where it's another's earlier name.
        return {**earlier, **{c.name: c for c in table.columns}}[name]


def _counted_key(change: SourceChange, source: Source, table: _Renamed) -> Iterator[SourceChange]:
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
    change: SourceChange, source: Source, table: _Renamed, parent: _Renamed
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
        ends = (change.table, change.columns, change.to_table or "", change.to_columns)
        yield broken_reference(ends, evidence)


def _aliases(table: _Renamed, columns: Iterable[str]) -> list[str]:
    return [quote(table.column(name).alias) for name in columns]


def _count(source: Source, sql: str) -> int:
    row = source.connection.execute(sql).fetchone()
    return 0 if row is None or row[0] is None else int(row[0])
