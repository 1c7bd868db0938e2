"""The figures of changes that no profile has, counted on the source."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.changes.change import ChangeKind, SourceChange
from fluid_build.changes.keys import broken_key
from fluid_build.changes.references import broken_reference
from fluid_build.changes.renames import Renames
from fluid_build.sources.base import Column, Source, Table
from fluid_build.sources.sql import quote

NOTHING_ARRIVED: Mapping[str, Sequence[str]] = {}


def counted_changes(
    changes: Iterable[SourceChange],
    source: Source,
    renames: Renames,
    arrived: Mapping[str, Sequence[str]] = NOTHING_ARRIVED,
) -> Iterator[SourceChange]:
    """Return changes with the repeats of their keys and the orphans of their references counted.

    A profile says of a key of several columns only that it wasn't found again. Where all of it
    holds after all, there is no change. Only keys and references without a figure are queried.
    Changes have earlier names, and ``renames`` lead to those of the source. ``arrived`` are columns
    by table that came before these changes, of which a key may be longer too.
    """
    changes = tuple(changes)
    tables = {renames.earlier_table(table.name): table for table in source.tables}
    added = {table: [*columns] for table, columns in arrived.items()}
    for change in changes:
        if change.kind is ChangeKind.COLUMN_ADDED:
            added.setdefault(change.table, []).extend(change.columns)
    for change in changes:
        table, parent = tables.get(change.table), tables.get(change.to_table or "")
        if table is not None and change.kind in {ChangeKind.KEY_BROKEN, ChangeKind.KEY_WIDENED}:
            of_table = _Renamed(table, renames)
            for counted in _counted_key(change, source, of_table):
                yield _lengthened(counted, source, of_table, added.get(change.table, ()))
        elif table is None or change.evidence.violations is not None:
            yield change
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
    if change.evidence.violations is not None:
        yield change
        return
    repeats = _repeats(source, table, change.columns)
    if repeats or change.evidence.nulls:
        evidence = change.evidence.model_copy(update={"violations": repeats})
        yield broken_key(change.table, change.columns, evidence, change.to_columns)


_MOST_TRIED = 8
"""New columns that are counted together with a broken key: each reads the table once."""


def _lengthened(
    change: SourceChange, source: Source, table: _Renamed, added: Sequence[str]
) -> SourceChange:
    """Return the change of a broken key with the first new column that makes it one again.

    A profile doesn't look for a key of several columns where one of them alone is unique.
    """
    if change.kind is ChangeKind.KEY_WIDENED or change.evidence.nulls:
        return change
    for column in added[:_MOST_TRIED]:
        (alias,) = _aliases(table, (column,))
        nulls = _count(source, f"SELECT count(*) FROM {table.relation} WHERE {alias} IS NULL")
        longer = (*change.columns, column)
        if not nulls and not _repeats(source, table, longer):
            return broken_key(change.table, change.columns, change.evidence, longer)
    return change


def _repeats(source: Source, table: _Renamed, key: Sequence[str]) -> int:
    """Return how many rows repeat a key beyond the first row of each."""
    columns = _aliases(table, key)
    filled = " AND ".join(f"{column} IS NOT NULL" for column in columns)
    return _count(
        source,
        f"SELECT sum(rows_ - 1) FROM (SELECT count(*) AS rows_ FROM {table.relation}"
        f" WHERE {filled} GROUP BY {', '.join(columns)})",
    )


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
