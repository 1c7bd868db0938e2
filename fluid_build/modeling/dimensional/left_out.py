"""Tables that a star leaves out, since all that they hold is computed from another.

A table of totals answers the same questions as the fact that it sums up, only fewer, and two
relations with the same figures soon differ. It's left out only if each of its rows was computed
from the details, so that nothing is lost: the way back computes it again.
"""

from collections.abc import Collection, Sequence

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.dimensional.elements import LeftOut
from fluid_build.modeling.element import source_columns
from fluid_build.observations.aggregates import Aggregate
from fluid_build.observations.observed import Observations
from fluid_build.text import listed

_MOST_NAMES = 6


def tables_left_out(
    observations: Observations, classified: Collection[str] = ()
) -> tuple[LeftOut, ...]:
    """Return the tables of totals that are exact in every row.

    Those that a decision classified are built all the same.
    """
    totals = [
        aggregate
        for aggregate in observations.aggregates
        if aggregate.is_exact and aggregate.table not in classified
    ]
    names = {aggregate.table for aggregate in totals}
    return tuple(_left_out(total) for total in totals if not names & _read_by(total))


def without(conceptual: ConceptualModel, left_out: Sequence[LeftOut]) -> ConceptualModel:
    """Return a conceptual model without these tables and what they refer to."""
    names = {table.name for table in left_out}
    return conceptual.model_copy(
        update={
            "entities": tuple(e for e in conceptual.entities if e.name not in names),
            "relationships": tuple(
                r for r in conceptual.relationships if not names & {r.from_entity, r.to_entity}
            ),
        }
    )


def _read_by(aggregate: Aggregate) -> set[str]:
    """Return the tables that totals are computed from."""
    hops = [hop for column in aggregate.columns if column.of for hop in column.of.path]
    return {aggregate.detail, *(hop.to_table for hop in hops)}


def _left_out(aggregate: Aggregate) -> LeftOut:
    groups = [column.column for column in aggregate.columns if column.function == "group"]
    totals = [column.column for column in aggregate.columns if column.function != "group"]
    return LeftOut(
        name=aggregate.table,
        detail=aggregate.detail,
        columns=aggregate.columns,
        query=aggregate.query,
        mapped_source_tables=(aggregate.table,),
        source_columns=source_columns(
            aggregate.table, tuple(column.column for column in aggregate.columns)
        ),
        reason=(
            f"An aggregate of {aggregate.detail} by {_listed(groups)}: all {aggregate.rows:,} rows"
            f" have the computed {_listed(totals)}, so it isn't built. The proof computes it again."
        ),
    )


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
    return listed(list(names))
