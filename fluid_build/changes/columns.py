"""What has changed in the columns of a table that is still there."""

from collections.abc import Iterator, Sequence

from fluid_build.changes.change import (
    ChangeEvidence,
    ChangeKind,
    Effect,
    OtherName,
    SourceChange,
)
from fluid_build.changes.keys import identified_by, other_key
from fluid_build.changes.likeness import column_likeness
from fluid_build.changes.pairing import paired
from fluid_build.changes.renames import Renames
from fluid_build.changes.tables import MOST_LOST
from fluid_build.changes.types import TypeChange, type_change, wider_type
from fluid_build.profiling import checks
from fluid_build.profiling.profile import ColumnProfile, TableProfile
from fluid_build.text import counted, listed

_BY_CHANCE = 0.01
"""How unlikely it must be that no row has a null by chance, before the nulls are called gone."""
_TYPE_KINDS: dict[TypeChange, tuple[ChangeKind, Effect]] = {
    "widened": (ChangeKind.TYPE_WIDENED, Effect.SAFE),
    "narrowed": (ChangeKind.TYPE_NARROWED, Effect.SAFE),
    "changed": (ChangeKind.TYPE_CHANGED, Effect.BREAKS),
}


def column_changes(
    before: TableProfile, after: TableProfile, renames: Renames
) -> Iterator[SourceChange]:
    """Return the changes of the columns of a table: those that are gone first, then by place."""
    then = {column.name: column for column in before.columns}
    now = {column.name: column for column in after.columns}
    dropped = [column for column in before.columns if column.name not in now]
    added = [column for column in after.columns if column.name not in then]
    decided = {
        renames.earlier_column(after.name, column.name): column.name
        for column in added
        if renames.earlier_column(after.name, column.name) != column.name
    }
    pairs = paired(
        [column.name for column in dropped],
        [column.name for column in added],
        lambda old, new: (
            None
            if renames.are_two(old, after.name, new)
            else column_likeness((before, after), (then[old], now[new]))
        ),
        decided,
    )
    for column in dropped:
        names = pairs.get(column.name)
        if names is None:
            yield _dropped(before, column, after)
        else:
            yield _renamed(before, column, names, is_decided=column.name in decided)
    known = {names[0].name: old for old, names in pairs.items()}
    for column in after.columns:
        if column.name in then:
            yield from _changes_inside(before, after, then[column.name], column)
        elif column.name in known:
            yield from _changes_inside(before, after, then[known[column.name]], column)
        else:
            yield _added(after, column)


def _dropped(table: TableProfile, column: ColumnProfile, now: TableProfile) -> SourceChange:
    in_key = column.name in (table.primary_key or ())
    other = other_key(table, now, table.primary_key or ()) if in_key else ()
    more = ", which was part of its key" if in_key else ""
    return SourceChange(
        kind=ChangeKind.COLUMN_DROPPED,
        table=table.name,
        columns=(column.name,),
        to_columns=other,
        before=column.type,
        effect=Effect.NEEDS_DECISION if in_key else Effect.SAFE,
        sentence=f"{table.name} no longer has the column {column.name}{more}{identified_by(other)}",
        evidence=_evidence(column, None),
    )


def _added(table: TableProfile, column: ColumnProfile) -> SourceChange:
    personal = f", which holds personal data ({column.semantic_type})" if column.pii else ""
    return SourceChange(
        kind=ChangeKind.COLUMN_ADDED,
        table=table.name,
        columns=(column.name,),
        after=column.type,
        effect=Effect.SAFE,
        sentence=f"{table.name} has a new column {column.name} ({column.type}){personal}",
        evidence=_evidence(None, column, sql=checks.filled_rows(table.sql, (column.name,))),
    )


def _renamed(
    table: TableProfile, column: ColumnProfile, names: Sequence[OtherName], *, is_decided: bool
) -> SourceChange:
    best = names[0]
    if is_decided:
        sentence = f"{table.name}.{column.name} is called {best.name} now, as somebody decided"
    else:
        told = [f"{each.name} ({each.likelihood:.0%}: {each.reason})" for each in names]
        sentence = (
            f"{table.name} no longer has the column {column.name}, which may be called"
            f" {listed(told, 'or')} now"
        )
    return SourceChange(
        kind=ChangeKind.COLUMN_RENAMED,
        table=table.name,
        columns=(column.name,),
        before=column.name,
        after=best.name,
        other_names=tuple(names),
        effect=Effect.SAFE if is_decided else Effect.NEEDS_DECISION,
        sentence=sentence,
        evidence=_evidence(column, None),
    )


def _changes_inside(
    before: TableProfile, after: TableProfile, then: ColumnProfile, now: ColumnProfile
) -> Iterator[SourceChange]:
    """Return the changes of one column: its type, its nulls, and whether it's personal."""
    yield from _type_changes(before, then, now)
    yield from _null_changes(before, after, then, now)
    if now.pii and not then.pii:
        meaning = f" ({now.semantic_type})" if now.semantic_type else ""
        yield SourceChange(
            kind=ChangeKind.NEWLY_PERSONAL,
            table=before.name,
            columns=(then.name,),
            before=then.semantic_type,
            after=now.semantic_type,
            effect=Effect.NEEDS_DECISION,
            sentence=f"{before.name}.{then.name} holds personal data now{meaning}",
            evidence=_evidence(then, now),
        )


def _type_changes(
    table: TableProfile, then: ColumnProfile, now: ColumnProfile
) -> Iterator[SourceChange]:
    change = type_change(then.type, now.type)
    if change is not None:
        kind, effect = _TYPE_KINDS[change]
        yield SourceChange(
            kind=kind,
            table=table.name,
            columns=(then.name,),
            before=then.type,
            after=now.type,
            effect=effect,
            sentence=f"{table.name}.{then.name} is {now.type} now, and was {then.type}"
            + _held_by(then.type, now.type),
            evidence=_evidence(then, now),
        )
    elif _misfits(then, now):
        yield SourceChange(
            kind=ChangeKind.VALUES_MISFIT,
            table=table.name,
            columns=(then.name,),
            before=then.measured_type,
            after=now.measured_type or now.type,
            effect=Effect.NEEDS_DECISION,
            sentence=f"{table.name}.{then.name} has a value that isn't {then.measured_type}, as all"
            " of them were",
            evidence=_evidence(then, now),
        )


def _held_by(before: str, after: str) -> str:
    """Return what says which type holds two; "" where one of them does."""
    both = wider_type(before, after)
    return "" if both in (before, after) else f"; {both} holds both"


def _misfits(then: ColumnProfile, now: ColumnProfile) -> bool:
    """Return whether values no longer have the type that all of them really had.

    That they happen to fit a narrower one is no change, and neither is a column without a value.
    """
    if then.measured_type is None or now.rows == now.nulls or then.rows == then.nulls:
        return False
    change = type_change(then.measured_type, now.measured_type or now.type)
    return change is not None and change != "narrowed"


def _null_changes(
    before: TableProfile, after: TableProfile, then: ColumnProfile, now: ColumnProfile
) -> Iterator[SourceChange]:
    """Return whether a column that was always filled isn't any more, or the other way round.

    Of a key, that breaks it and is told there. A table without a row says nothing.
    """
    keys = {before.primary_key, *(claim.columns for claim in before.declared_keys if claim.holds)}
    if any(then.name in (key or ()) for key in keys):
        return
    held = then.nulls == 0 and (then.rows > 0 or not then.nullable)
    # A measured share can come out as none by chance; what is declared or filled can't.
    by_chance = (1 - then.nulls / then.rows) ** now.rows if then.rows else 1.0
    name = f"{before.name}.{then.name}"
    if held and now.nulls:
        yield SourceChange(
            kind=ChangeKind.NULLS_NEW,
            table=before.name,
            columns=(then.name,),
            before="never null",
            after=f"{now.nulls} of {now.rows} null",
            # A column that is emptied overnight is as odd as a table that is.
            effect=Effect.NEEDS_DECISION if now.nulls > MOST_LOST * now.rows else Effect.SAFE,
            sentence=f"{name} is null in {now.nulls:,} of {counted(now.rows, 'row')}, and was"
            " never null",
            evidence=_evidence(then, now, sql=checks.null_rows(after.sql, (now.name,))),
        )
    elif now.nullable and not then.nullable:
        yield SourceChange(
            kind=ChangeKind.NULLS_NEW,
            table=before.name,
            columns=(then.name,),
            before="never null",
            after="may be null",
            effect=Effect.SAFE,
            sentence=f"{name} isn't declared as never null any more",
            evidence=_evidence(then, now),
        )
    elif then.nulls and not now.nullable and now.nulls == 0:
        yield _nulls_gone(before, then, now, f"{name} is declared as never null now")
    elif then.nulls and now.rows and now.nulls == 0 and by_chance < _BY_CHANCE:
        was = f"{then.nulls:,} of {counted(then.rows, 'row')}"
        yield _nulls_gone(before, then, now, f"{name} is never null now, and was in {was}")


def _nulls_gone(
    table: TableProfile, then: ColumnProfile, now: ColumnProfile, sentence: str
) -> SourceChange:
    return SourceChange(
        kind=ChangeKind.NULLS_GONE,
        table=table.name,
        columns=(then.name,),
        before=f"{then.nulls} of {then.rows} null",
        after="never null",
        effect=Effect.SAFE,
        sentence=sentence,
        evidence=_evidence(then, now),
    )


def _evidence(
    then: ColumnProfile | None, now: ColumnProfile | None, sql: str = ""
) -> ChangeEvidence:
    shown = now or then
    assert shown is not None, "a change is of a column that is or was there"
    return ChangeEvidence(
        rows_before=None if then is None else then.rows,
        rows=None if now is None else now.rows,
        nulls=shown.nulls,
        distinct=shown.distinct,
        sql=sql,
    )
