"""Facts of the wide variant: each carries the columns of its dimensions."""

from collections.abc import Mapping

from fluid_build.modeling.dimensional.calendars.calendar import WIDE_CALENDAR_COLUMNS
from fluid_build.modeling.dimensional.elements import Dimension, DimensionReference, Fact
from fluid_build.modeling.dimensional.star_names import free_column, prefixed


def widened(fact: Fact, dimensions: Mapping[str, Dimension]) -> Fact:
    """Return the fact with the columns of its dimensions, which are given by name."""
    used_columns = {reference.key for reference in fact.dimensions}
    used_columns |= {attribute.name for attribute in fact.attributes}
    used_columns |= {measure.name for measure in fact.measures}
    return fact.model_copy(
        update={
            "dimensions": tuple(
                _with_carried_columns(
                    reference,
                    dimensions[reference.dimension],
                    _columns_in_fact(fact, reference),
                    used_columns,
                )
                for reference in fact.dimensions
            )
        }
    )


def _columns_in_fact(fact: Fact, reference: DimensionReference) -> set[str]:
    """Return the columns of a dimension whose values the fact has as its own attributes."""
    if reference.source:
        return set()
    attributes = {attribute.attribute for attribute in fact.attributes}
    pairs = zip(reference.columns, reference.to_columns, strict=True)
    return {to_column for column, to_column in pairs if column in attributes}


def _with_carried_columns(
    reference: DimensionReference,
    dimension: Dimension,
    skipped: set[str],
    used_columns: set[str],
) -> DimensionReference:
    is_generated_calendar = dimension.dimension_type == "date" and not dimension.entity_name
    names = [
        attribute.name
        for attribute in dimension.attributes
        if attribute.name not in skipped
        and (not is_generated_calendar or attribute.name in WIDE_CALENDAR_COLUMNS)
    ]
    # The key without its last word is the member in its role: ship_customer of ship_customer_key.
    stem = reference.key.rsplit("_", 1)[0]
    carried = tuple((name, free_column(prefixed(stem, name), used_columns)) for name in names)
    return reference.model_copy(update={"carried": carried})
