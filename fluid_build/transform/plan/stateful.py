"""The relations that remember what the source no longer says, and the columns that they hold.

All others are made again with each load. These have rows of earlier loads, which a change of the
model has to fit: a column that joins them has a value there, or none.
"""

from dataclasses import dataclass

from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.modeling.element import SourceColumn
from fluid_build.transform.plan.elements import BEFORE_ANY_LOAD, Build, PlanColumn, TransformPlan
from fluid_build.transform.plan.hashing import BINARY, HASH_TYPE, zero_key
from fluid_build.transform.plan.validity import APPLIED

_UNKNOWN_DAY = "-1"
"""The key of the unknown day and time in a star."""


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column of a relation that remembers, with DuckDB's name of its type.

    ``before`` is the SQL of what rows have in it that were loaded before it was there, "" for null:
    a key leads to nothing then, and what was loaded held from its load. The applied date of a
    history says from when a row holds.
    """

    name: str
    type: str
    before: str
    source_columns: tuple[SourceColumn, ...]
    is_applied_date: bool = False


def stored_columns(
    plan: TransformPlan, strategy: HashKeyStrategy
) -> dict[str, tuple[StoredColumn, ...]]:
    """Return the columns of each relation that remembers, in the order of the plan."""
    return {
        build.name: tuple(
            StoredColumn(
                column.name,
                column.type,
                _before(build, column, strategy, plan.column_names.load_date),
                column.source_columns,
                APPLIED in column.tags,
            )
            for column in build.columns
        )
        for build in plan.builds
        if remembers(build)
    }


def remembers(build: Build) -> bool:
    """Whether a relation keeps rows that the source may no longer have, or follows from such.

    A quarantine has them for reading, and the same columns whatever the source has.
    """
    return build.next_load is not None and build.layer not in ("quarantine", "staging")


def _before(build: Build, column: PlanColumn, strategy: HashKeyStrategy, load_date: str) -> str:
    if APPLIED in column.tags:
        return load_date
    is_key = not {"hash-key", "foreign-key"}.isdisjoint(column.tags)
    if is_key and column.type in (HASH_TYPE, BINARY):
        return zero_key(strategy)
    if is_key and column.type == "BIGINT":
        return _UNKNOWN_DAY
    # A point-in-time table leads to the ghost record where nothing was known.
    is_of_ghost = build.layer == "business_vault" and is_key
    return BEFORE_ANY_LOAD if is_of_ghost else ""
