"""The columns that builds add to what the source has."""

from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.types import type_name
from fluid_build.transform.plan.elements import PlanColumn


def technical(
    name: str,
    type_: str,
    description: str,
    *,
    tags: tuple[str, ...] = ("technical",),
    sources: tuple[SourceColumn, ...] = (),
    required: bool = True,
    reason: str = "",
) -> PlanColumn:
    """Return a column that a build adds; ``sources`` are the source columns it's made of."""
    return PlanColumn(
        name=name,
        type=type_,
        contract_type=type_name(type_),
        required=required,
        description=description,
        tags=tags,
        mapped_source_tables=tuple(dict.fromkeys(source.table for source in sources)),
        source_columns=sources,
        reason=reason or description,
    )


LOAD_DATE_COLUMN = technical("load_date", "TIMESTAMP", "When the row was loaded.")
DELETED_COLUMN = technical(
    "is_deleted", "BOOLEAN", "Whether the row had been deleted at the source by the load date."
)
