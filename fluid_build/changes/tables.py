"""Which tables came, went, were renamed or split, and which lost many of their rows."""

from collections.abc import Iterator, Mapping, Sequence

from fluid_build.changes.change import (
    ChangeEvidence,
    ChangeKind,
    Effect,
    OtherName,
    SourceChange,
)
from fluid_build.changes.likeness import table_likeness
from fluid_build.changes.pairing import paired
from fluid_build.changes.renames import Renames
from fluid_build.changes.types import type_change
from fluid_build.profiling import checks
from fluid_build.profiling.profile import Profile, TableProfile
from fluid_build.sources.addresses.periods import period_of
from fluid_build.text import counted, listed

MOST_LOST = 0.2
"""The share of a table's keys that a full delivery loses at most, before somebody should look: rows
are deleted by the handful, and deliveries are cut off by the half."""


def kept_tables(
    earlier: Profile, present: Profile, renames: Renames
) -> Iterator[tuple[TableProfile, TableProfile]]:
    """Return the tables that are there in both profiles, each then and now.

    A table is the same under another name only where somebody decided that.
    """
    now = {renames.earlier_table(table.name): table for table in present.tables}
    for table in earlier.tables:
        if table.name in now:
            yield table, now[table.name]


def table_changes(earlier: Profile, present: Profile, renames: Renames) -> Iterator[SourceChange]:
    """Return the changes of tables as wholes: what is gone first, then what is new.

    Tables that somebody leaves out, or that couldn't be read before, are neither.
    """
    unseen = {*earlier.ignored, *present.ignored, *(table.name for table in earlier.skipped)}
    then = {table.name: table for table in earlier.tables if table.name not in unseen}
    now = {table.name: table for table in present.tables if table.name not in unseen}
    decided = {
        renames.earlier_table(name): name
        for name in now
        if renames.earlier_table(name) != name and name not in then
    }
    added = [name for name in now if name not in then]
    reasons = {table.name: table.reason for table in present.skipped}
    splits = _splits(then, now, [name for name in added if name not in decided.values()])
    in_parts = {part for parts in splits.values() for part in parts}
    dropped = [name for name in then if name not in now and name not in reasons]
    pairs = paired(
        [name for name in dropped if name not in splits],
        [name for name in added if name not in in_parts],
        lambda old, new: None if renames.are_two(old, new) else table_likeness(then[old], now[new]),
        decided,
    )
    for name, table in then.items():
        if name in splits:
            yield _split(table, [now[part] for part in splits[name]], is_gone=name not in now)
        elif name in reasons:
            yield _unreadable(table, reasons[name])
        elif name in pairs:
            yield _renamed(table, pairs[name], is_decided=name in decided)
        elif name not in now:
            yield _dropped(table)
    known = {*in_parts, *(names[0].name for names in pairs.values())}
    yield from (_added(now[name]) for name in added if name not in known)


def row_changes(before: TableProfile, after: TableProfile) -> Iterator[SourceChange]:
    """Return whether a table lost all of its rows, or more of its keys than deletions explain.

    A profile keeps no keys, so rows are counted: each has one. Samples don't count.
    """
    lost = before.rows - after.rows
    if before.sample or after.sample or lost <= MOST_LOST * before.rows:
        return
    rows = counted(before.rows, "row")
    yield SourceChange(
        kind=ChangeKind.TABLE_SHRUNK if after.rows else ChangeKind.TABLE_EMPTIED,
        table=before.name,
        before=str(before.rows),
        after=str(after.rows),
        effect=Effect.NEEDS_DECISION,
        sentence=(
            f"{before.name} lost {lost:,} of its {rows}, {lost / before.rows:.0%}"
            if after.rows
            else f"{before.name} is empty, and had {rows}"
        ),
        evidence=ChangeEvidence(
            rows_before=before.rows,
            rows=after.rows,
            violations=lost,
            sql=checks.count_rows(after.sql),
        ),
    )


def not_delivered(table: str) -> SourceChange:
    """Return that nothing was delivered of a table that delivers what changed."""
    return SourceChange(
        kind=ChangeKind.TABLE_UNDELIVERED,
        table=table,
        effect=Effect.SAFE,
        sentence=f"{table} has no file: nothing of it was delivered, and it stays as it was",
    )


def _splits(
    then: Mapping[str, TableProfile], now: Mapping[str, TableProfile], added: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return tables that go on in new ones for a period each, which have their columns."""
    parts: dict[str, list[tuple[str, str]]] = {}
    for name in added:
        period = period_of(name.rpartition(".")[2])
        if period is None:
            continue
        schema = name[: len(name) - len(name.rpartition(".")[2])]
        whole = f"{schema}{period.table}".casefold()
        for old, table in then.items():
            if old.casefold() == whole and _has_columns(now[name], table):
                parts.setdefault(old, []).append((period.text, name))
    return {old: tuple(name for _, name in sorted(found)) for old, found in parts.items()}


def _has_columns(part: TableProfile, whole: TableProfile) -> bool:
    types = {column.name.casefold(): column.type for column in part.columns}
    return all(
        column.name.casefold() in types
        and type_change(column.type, types[column.name.casefold()]) != "changed"
        for column in whole.columns
    )


def _split(table: TableProfile, parts: Sequence[TableProfile], *, is_gone: bool) -> SourceChange:
    names = tuple(part.name for part in parts)
    verb = "is gone, and its columns are in" if is_gone else "goes on in"
    return SourceChange(
        kind=ChangeKind.TABLE_SPLIT,
        table=table.name,
        parts=names,
        before=table.name,
        after=", ".join(names),
        effect=Effect.NEEDS_DECISION,
        sentence=f"{table.name} {verb} {listed(names)}, one for each period",
        evidence=_evidence(table, sum(part.rows for part in parts)),
    )


def _unreadable(table: TableProfile, reason: str) -> SourceChange:
    return SourceChange(
        kind=ChangeKind.TABLE_UNREADABLE,
        table=table.name,
        effect=Effect.BREAKS,
        sentence=f"{table.name} can't be read any more ({reason.rstrip('.')})",
        evidence=_evidence(table, None),
    )


def _renamed(table: TableProfile, names: Sequence[OtherName], *, is_decided: bool) -> SourceChange:
    best = names[0]
    if is_decided:
        sentence = f"{table.name} is called {best.name} now, as somebody decided"
    else:
        told = [f"{each.name} ({each.likelihood:.0%}: {each.reason})" for each in names]
        sentence = f"{table.name} is gone, or may be called {listed(told, 'or')} now"
    return SourceChange(
        kind=ChangeKind.TABLE_RENAMED,
        table=table.name,
        before=table.name,
        after=best.name,
        other_names=tuple(names),
        effect=Effect.SAFE if is_decided else Effect.NEEDS_DECISION,
        sentence=sentence,
        evidence=_evidence(table, None),
    )


def _dropped(table: TableProfile) -> SourceChange:
    return SourceChange(
        kind=ChangeKind.TABLE_DROPPED,
        table=table.name,
        effect=Effect.NEEDS_DECISION,
        sentence=f"{table.name} is gone, and had {counted(table.rows, 'row')}",
        evidence=_evidence(table, None),
    )


def _added(table: TableProfile) -> SourceChange:
    return SourceChange(
        kind=ChangeKind.TABLE_ADDED,
        table=table.name,
        effect=Effect.SAFE,
        sentence=f"{table.name} is a new table with {counted(table.rows, 'row')}",
        evidence=ChangeEvidence(rows=table.rows, sql=checks.count_rows(table.sql)),
    )


def _evidence(before: TableProfile, rows: int | None) -> ChangeEvidence:
    return ChangeEvidence(rows_before=before.rows, rows=rows, is_sampled=before.sample is not None)
