"""Tables that seem to have only what changed: far fewer rows than before, and all of them later."""

from collections.abc import Iterator, Set

from fluid_build.changes.tables import MOST_LOST
from fluid_build.modeling.element import SourceColumn
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile

_MOMENTS = ("DATE", "TIMESTAMP")


def seeming_partial(
    earlier: Profile, present: Profile, decided: Set[str]
) -> tuple[SourceColumn, ...]:
    """Return such tables, each with a column of which every value is later than any before.

    Of the tables that are ``decided``, somebody said what they deliver.
    """
    now = {table.name: table for table in present.tables}
    return tuple(
        SourceColumn(table=table.name, column=column)
        for table in earlier.tables
        if table.name in now and table.name not in decided
        for column in _later(table, now[table.name])
    )


def _later(before: TableProfile, now: TableProfile) -> Iterator[str]:
    """Yield the first column of moments that tells later rows from all earlier ones, if any."""
    is_less = 0 < now.rows < (1 - MOST_LOST) * before.rows
    if not is_less or before.sample or now.sample:
        return
    columns = {column.name: column for column in now.columns}
    later = (
        column.name
        for column in before.columns
        if column.name in columns and _is_later(column, columns[column.name])
    )
    yield from list(later)[:1]


def _is_later(before: ColumnProfile, now: ColumnProfile) -> bool:
    # The text of moments of one type is ordered as they are.
    return (
        before.type == now.type
        and now.type.startswith(_MOMENTS)
        and not now.nulls
        and before.max is not None
        and now.min is not None
        and now.min > before.max
    )
