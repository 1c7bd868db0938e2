"""Whether the references between tables still hold, and which are new."""

from collections.abc import Iterator, Mapping

from fluid_build.changes.change import ChangeEvidence, ChangeKind, Effect, SourceChange
from fluid_build.changes.keys import key_holds
from fluid_build.changes.renames import NO_RENAMES, Renames
from fluid_build.changes.tables import MOST_LOST
from fluid_build.profiling import checks
from fluid_build.profiling.profile import Candidate, ForeignKey, Profile, TableProfile
from fluid_build.text import counted

Pairs = frozenset[tuple[str, str]]
Subject = tuple[str, str, Pairs]
"""What a reference is about, in earlier names: both tables, and their columns in pairs."""
Kept = Mapping[str, tuple[TableProfile, TableProfile]]
"""The tables that are there then and now, by their earlier names."""


def reference_changes(
    earlier: Profile, present: Profile, kept: Kept, renames: Renames
) -> Iterator[SourceChange]:
    """Return references of kept tables that had no orphans and have some, and those that are new.

    A reference that is believed today and wasn't before, while its rows say the same, is another
    judgement of ours and no change of the source. One of a new column is told with the column.
    """
    now = {_subject(each, renames): each for each in present.foreign_keys}
    doubted_now = {_subject(each, renames): each for each in present.candidates}
    for reference in earlier.foreign_keys:
        if reference.implied or reference.evidence.orphans or not _is_there(reference, kept):
            continue
        subject = _subject(reference)
        change = _broken(reference, now.get(subject) or doubted_now.get(subject), kept)
        if change is not None:
            yield change
    then = {_subject(each) for each in earlier.foreign_keys}
    doubted = {_subject(each): each for each in earlier.candidates}
    for subject, reference in now.items():
        if subject not in then and not reference.implied and _was_there(subject, kept):
            before = doubted.get(subject)
            if reference.origin == "declared" or _is_new(reference, before):
                yield _new(reference, subject)


def _subject(reference: ForeignKey | Candidate, renames: Renames = NO_RENAMES) -> Subject:
    child, parent = reference.from_table, reference.to_table
    pairs = zip(reference.from_columns, reference.to_columns, strict=True)
    return (
        renames.earlier_table(child),
        renames.earlier_table(parent),
        frozenset(
            (renames.earlier_column(child, column), renames.earlier_column(parent, key))
            for column, key in pairs
        ),
    )


def _is_there(reference: ForeignKey, kept: Kept) -> bool:
    """Return whether both tables and all columns of an earlier reference are still there."""
    ends = (
        (reference.from_table, reference.from_columns),
        (reference.to_table, reference.to_columns),
    )
    return all(
        table in kept and {each.name for each in kept[table][1].columns}.issuperset(columns)
        for table, columns in ends
    )


def _was_there(subject: Subject, kept: Kept) -> bool:
    """Return whether both tables and all columns of a reference were there before."""
    child, parent, pairs = subject
    ends = (child, {column for column, _ in pairs}), (parent, {key for _, key in pairs})
    return all(
        table in kept and {each.name for each in kept[table][0].columns}.issuperset(columns)
        for table, columns in ends
    )


def _is_new(reference: ForeignKey, before: Candidate | None) -> bool:
    """Return whether rows say of a reference what they didn't say before."""
    if reference.evidence.orphans:
        return False
    return before is None or before.evidence.orphans > 0


def _broken(
    reference: ForeignKey, found: ForeignKey | Candidate | None, kept: Kept
) -> SourceChange | None:
    child, parent = kept[reference.from_table][1], kept[reference.to_table][1]
    filled = all(child.column(name).nulls < child.rows for name in reference.from_columns)
    if not filled or (found is not None and not found.evidence.orphans):
        return None
    if found is None and parent.rows and not key_holds(parent, reference.to_columns):
        return None  # It isn't looked for where the parent's key is broken, which is told there.
    columns, keys = reference.from_columns, reference.to_columns
    measured = None if found is None else found.evidence
    sampled = (each.is_sampled for each in (reference.evidence, measured) if each is not None)
    evidence = ChangeEvidence(
        rows_before=reference.evidence.rows,
        rows=child.rows if measured is None else measured.rows,
        nulls=max(child.column(name).nulls for name in columns),
        violations=None if measured is None else measured.orphans,
        is_sampled=any(sampled),
        sql=measured.sql if measured else checks.orphans(child.sql, columns, parent.sql, keys),
    )
    ends = (reference.from_table, columns, reference.to_table, keys)
    return broken_reference(ends, evidence)


def broken_reference(
    ends: tuple[str, tuple[str, ...], str, tuple[str, ...]], evidence: ChangeEvidence
) -> SourceChange:
    """Return the change of a reference that has orphans; it was whole before.

    ``ends`` are the child with its columns, and the parent with its columns.
    ``evidence.violations`` are the orphans, None where nobody counted them.
    """
    table, columns, to_table, to_columns = ends
    orphans, rows = evidence.violations, evidence.rows or 0
    many = orphans is None or orphans > MOST_LOST * rows
    told = "rows" if orphans is None else f"{orphans:,} of {counted(rows, 'row')}"
    return SourceChange(
        kind=ChangeKind.REFERENCE_BROKEN,
        table=table,
        columns=columns,
        to_table=to_table,
        to_columns=to_columns,
        effect=Effect.NEEDS_DECISION if many else Effect.SAFE,
        sentence=f"{_label(table, columns)} has {told} without a row in"
        f" {_label(to_table, to_columns)}, and had none",
        evidence=evidence,
    )


def _new(reference: ForeignKey, subject: Subject) -> SourceChange:
    evidence = reference.evidence
    return SourceChange(
        kind=ChangeKind.REFERENCE_NEW,
        table=subject[0],
        columns=reference.from_columns,
        to_table=subject[1],
        to_columns=reference.to_columns,
        effect=Effect.SAFE,
        sentence=f"{_label(subject[0], reference.from_columns)} refers to"
        f" {_label(subject[1], reference.to_columns)} now, without an orphan in"
        f" {counted(evidence.rows, 'row')}",
        evidence=ChangeEvidence(
            rows=evidence.rows,
            nulls=evidence.nulls,
            distinct=evidence.distinct,
            violations=evidence.orphans,
            is_sampled=evidence.is_sampled,
            sql=evidence.sql,
        ),
    )


def _label(table: str, columns: tuple[str, ...]) -> str:
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table} ({', '.join(columns)})"
