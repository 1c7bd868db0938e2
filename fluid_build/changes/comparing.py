"""All changes between two profiles of one source."""

from collections.abc import Iterator, Set

from fluid_build.changes.change import SourceChange
from fluid_build.changes.columns import column_changes
from fluid_build.changes.keys import key_changes
from fluid_build.changes.references import reference_changes
from fluid_build.changes.renames import NO_RENAMES, Renames
from fluid_build.changes.tables import kept_tables, row_changes, table_changes
from fluid_build.profiling.profile import Profile


def source_changes(
    earlier: Profile,
    present: Profile,
    renames: Renames = NO_RENAMES,
    partial: Set[str] = frozenset(),
) -> tuple[SourceChange, ...]:
    """Return what has changed in a source, by an earlier profile of it and today's.

    ``renames`` are the new names that somebody decided; each other one that is likely is a
    question. Rows that come, go and change are no change as long as keys and references hold, and
    not too many go. Of the tables ``partial``, by their present names, the source has only what
    changed, so that what they lack says nothing. Tables come first, then each kept one with its
    columns and keys, then references. Nothing is read from the source, so that some figures are
    None.
    """
    return tuple(_changes(earlier, present, renames, set(map(renames.earlier_table, partial))))


def _changes(
    earlier: Profile, present: Profile, renames: Renames, partial: Set[str]
) -> Iterator[SourceChange]:
    yield from table_changes(earlier, present, renames)
    kept = {
        before.name: (before, after) for before, after in kept_tables(earlier, present, renames)
    }
    lacking = set(partial)
    for before, after in kept.values():
        yield from column_changes(before, after, renames)
        if not (earlier.has_data and present.has_data):
            continue
        if before.name not in partial:
            lost = list(row_changes(before, after))
            lacking.update(change.table for change in lost)
            yield from lost
        yield from key_changes(before, after)
    if earlier.has_data and present.has_data:
        for change in reference_changes(earlier, present, kept, renames):
            # What a row refers to may have been delivered earlier, and where a table lost many rows
            # that's the one cause of all orphans.
            if change.to_table not in lacking:
                yield change
