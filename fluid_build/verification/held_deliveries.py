"""Deliveries that a load stops: what they lack says nothing of what a table is."""

from collections.abc import Iterable, Set

from fluid_build.changes import ChangeKind, SourceChange
from fluid_build.modeling.earlier_names import by_source_names
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import ForeignKey, Profile, TableProfile
from fluid_build.transform.dbt.guard_macros import LEAST_KEYS

LOST_ROWS = frozenset({ChangeKind.TABLE_EMPTIED, ChangeKind.TABLE_SHRUNK})
"""Changes for which a load may stop a table."""
_OF_TODAY = ("place", "source", "comment")
"""What a table has by today's reading, whatever rows it delivers."""


def held_tables(
    changes: Iterable[SourceChange], model: LogicalModel, may_lose: Set[str] = frozenset()
) -> frozenset[str]:
    """Return the tables whose deliveries a load stops, by their names in the model.

    A flat model holds nothing, so nothing can be lost.
    """
    if model.technique == "flat":
        return frozenset()
    return frozenset(
        change.table
        for change in changes
        if change.kind in LOST_ROWS and (change.evidence.rows_before or 0) >= LEAST_KEYS
    ) - frozenset(may_lose)


def with_earlier_figures(
    present: Profile, earlier: Profile, held: Set[str], model: LogicalModel
) -> Profile:
    """Return today's profile, in which the tables ``held`` have the figures of the earlier one.

    Those are of what the warehouse goes on to hold. A table whose columns aren't the same is as it
    is today.
    """
    if not held:
        return present
    before = by_source_names(earlier, model.evolution)
    then = {table.name: table for table in before.tables}
    pairs = zip(earlier.tables, before.tables, strict=True)
    held_now = {here.name for by_model, here in pairs if by_model.name in held}
    stays = {
        table.name
        for table in present.tables
        if table.name in held_now and _shape(table) == _shape(then[table.name])
    }
    tables = (
        then[table.name].model_copy(update={name: getattr(table, name) for name in _OF_TODAY})
        if table.name in stays
        else table
        for table in present.tables
    )
    there = {table.name: {column.name for column in table.columns} for table in present.tables}

    def is_there(key: ForeignKey) -> bool:
        return there.get(key.from_table, set()).issuperset(key.from_columns) and there.get(
            key.to_table, set()
        ).issuperset(key.to_columns)

    return present.model_copy(
        update={
            "tables": tuple(tables),
            "foreign_keys": (
                *(key for key in before.foreign_keys if _is_of(key, stays) and is_there(key)),
                *(key for key in present.foreign_keys if not _is_of(key, stays)),
            ),
            "candidates": tuple(
                key for key in present.candidates if not {key.from_table, key.to_table} & stays
            ),
        }
    )


def _shape(table: TableProfile) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in table.columns]


def _is_of(key: ForeignKey, tables: Set[str]) -> bool:
    return bool({key.from_table, key.to_table} & tables)
