"""From when rows of histories hold, where the stamps of a source say when it changed them.

Such a history has the applied date beside the load date. It's decided with the load, and stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fluid_build.modeling.sql_names import SqlNames, free_identifier
from fluid_build.transform.plan.built_columns import technical
from fluid_build.transform.plan.elements import PlanColumn, Sql
from fluid_build.transform.plan.hashing import stable
from fluid_build.transform.plan.present_source import PresentSource

APPLIED = "applied-date"
"""The tag of the column, which may have another name where the source has a column of its own."""
_NAME = "applied_date"


@dataclass(frozen=True, slots=True)
class AppliedDate:
    """The column of a history that says from when a row holds, and what its load has to know."""

    column: PlanColumn
    arguments: Mapping[str, object]


def applied_date(
    table: str, types: Mapping[str, str], names: SqlNames, present: PresentSource
) -> AppliedDate | None:
    """Return the applied date of a table's histories; None where the load dates say it.

    ``types`` are those of the columns of its staging, by their names there.
    """
    stamp = present.stamp(table)
    if stamp is None:
        return None
    taken = set(names.columns[table].values())
    name, since = free_identifier(_NAME, taken), free_identifier("since", taken)
    sql = ""
    if stamp:
        column = names.column(table, stamp)
        sql = f"CAST({stable(column, types[column])} AS TIMESTAMP)"
    return AppliedDate(
        technical(
            name,
            "TIMESTAMP",
            "From when the row holds: when the source changed it, or else when it was loaded.",
            tags=("technical", APPLIED),
        ),
        {
            "applied": name,
            "stamp": Sql(sql) if sql else "",
            "since": "" if since == "since" else since,
        },
    )
